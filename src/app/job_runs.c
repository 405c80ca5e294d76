// SPDX-License-Identifier: GPL-2.0-or-later
//
// The runs of a sweep over several ranks: each is a process of its own on every
// rank. Rank 0 says when, and gives its process the options; those of the other
// ranks get them from it, as at the start of a program.
#include <assert.h>
#include <signal.h>
#include <string.h>

#include "app/child.h"
#include "app/app.h"
#include "base/clock.h"
#include "base/log.h"
#include "ranks/job_files.h"
#include "ranks/relay.h"

// Time that the processes of the other ranks get after that of rank 0 has
// ended.
#define END_NS (15 * SB_SECOND)
// Messages come in groups: after one, the parent waits for the next without
// naps, then with short ones. Clocks are compared through the parents.
#define SPIN_NS  (SB_SECOND / 2000)
#define BUSY_NS  (SB_SECOND / 200)
#define SHORT_NS (SB_SECOND / 20000)

struct passing {
    struct sb_relay *relay;
    struct sb_app_children *children;
    uint64_t moved; // time of the last message
    bool asked;     // the process was asked to end
};

// Passes on messages while the process runs; returns how long to sleep.
static uint64_t pass_on(void *arg)
{
    struct passing *p = arg;
    bool moved = sb_relay_step(p->relay);
    uint64_t now = sb_clock_monotonic(), over = sb_relay_over(p->relay);

    // It writes its figures if it does not know that rank 0 has ended. That of
    // rank 0 must not wait for a rank that has no process.
    bool ask = (over && now > over + SB_SECOND) || sb_relay_failed(p->relay);
    if (ask && !p->asked) {
        p->asked = true;
        kill(p->children->pid, SIGTERM);
    }
    if (over && now > over + END_NS)
        kill(p->children->pid, SIGKILL);
    if (moved)
        p->moved = now;
    return now < p->moved + SPIN_NS   ? 0
           : now < p->moved + BUSY_NS ? SHORT_NS
                                      : SB_JOB_POLL;
}

// This is the process of a run: its job is that of the processes of all ranks.
// The parent's is not freed, because its library must not be called here. The
// process ends with _exit() for the same reason.
static int become_rank(struct sb_app *a, struct sb_err *err)
{
    struct sb_transport t;
    struct sb_host_facts host;

    a->leave = true;
    sb_relay_child(a->relay, &t);
    sb_host_facts(&host);
    a->job = sb_job_new(&t, host.name);
    a->files = a->job ? sb_job_files_new(a->job) : NULL;
    return a->files ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");
}

// Forks, as sb_app_child(). In the new process, *err says why it is no rank.
static int fork_and_pass_on(struct sb_app *a, struct sb_app_children *c,
    bool quiet, int *status, struct sb_err *err)
{
    struct passing p = { a->relay, c, 0, false };

    assert(!c->idle); // a relay serves one process
    c->idle = pass_on;
    c->idle_arg = &p;
    int rc = sb_app_child(c, quiet, status, err);

    c->idle = NULL;
    if (rc == 1)
        become_rank(a, err);
    return rc ? rc : sb_relay_end(a->relay, *status, END_NS + SB_SECOND, err);
}

int sb_app_job_child(struct sb_app *a, struct sb_app_children *c, bool quiet,
    int *status, struct sb_err *err)
{
    *err = (struct sb_err){ 0 };
    if (!a->job)
        return sb_app_child(c, quiet, status, err);
    if (!a->relay)
        a->relay = sb_relay_new(a->job);
    int rc = a->relay ? sb_relay_begin(a->relay, err)
                      : sb_err_set(err, SB_ENOMEM, "out of memory");

    return rc ? rc : fork_and_pass_on(a, c, quiet, status, err);
}

int sb_app_job_follow_run(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_children children;
    int status;

    *err = (struct sb_err){ 0 };
    if (sb_relay_accept(a->relay, err))
        return err->code;
    sb_app_children_start(&children);
    int rc = fork_and_pass_on(a, &children, false, &status, err);

    if (rc != 1)
        sb_app_children_stop(&children);
    return rc;
}

void sb_app_job_detach(struct sb_app *a)
{
    if (!a->job)
        return;
    sb_job_detach(a->job);
    a->leave = true;
}
