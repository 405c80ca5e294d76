// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parents are in this process; the processes of a run are forked.
//
// Not with tsan: one thread.
#include "ranks/relay.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "check.h"
#include "loopback.h"

#define SECOND UINT64_C(1000000000)
#define RANKS  3
#define LARGE  3000000 // more than a socket holds

struct parents {
    struct sb_job *job[RANKS];
    struct sb_relay *relay[RANKS];
    pid_t pid[RANKS];
};

static void parents_init(struct parents *p)
{
    static const char *const hosts[] = { "alpha", "beta", "gamma" };

    for (unsigned i = 0; i < RANKS; i++) {
        p->job[i] = loopback_job(i, RANKS, hosts[i]);
        p->relay[i] = sb_relay_new(p->job[i]);
    }
}

static void parents_done(struct parents *p)
{
    for (unsigned i = 0; i < RANKS; i++) {
        sb_relay_free(p->relay[i]);
        sb_job_free(p->job[i]);
    }
    loopback_reset();
}

// In the process of a run -----------------------------------------------------

struct heard {
    unsigned numbers;
    uint64_t sum;
    size_t large;
};

static void on_number(void *arg, unsigned from, struct sb_wire *w)
{
    struct heard *h = arg;

    h->numbers++;
    h->sum += sb_wire_get(w) * (from + 1);
}

static void on_large(void *arg, unsigned from, struct sb_wire *w)
{
    struct heard *h = arg;
    size_t len;
    const char *data = sb_wire_get_bytes(w, &len);

    h->large += data[0] == 'x' && data[len - 1] == 'z' && from == 0 ? len : 0;
}

static bool has_numbers(void *arg)
{
    return ((struct heard *)arg)->numbers == RANKS - 1;
}

static bool has_large(void *arg)
{
    return ((struct heard *)arg)->large > 0;
}

// Every rank sends a number to rank 0, and gets many bytes.
static int exchange(struct sb_job *j)
{
    struct heard h = { 0 };
    struct sb_buf b;
    bool good;

    sb_job_on(j, SB_JOB_STATE, on_number, &h);
    sb_job_on(j, SB_JOB_FILE, on_large, &h);
    sb_buf_init(&b, 0);
    if (j->rank == 0) {
        char *data = malloc(LARGE);

        memset(data, 'y', LARGE);
        data[0] = 'x';
        data[LARGE - 1] = 'z';
        good = sb_job_wait(j, has_numbers, &h, UINT64_MAX);
        sb_wire_put_bytes(&b, data, LARGE);
        sb_job_tell_all(j, SB_JOB_FILE, &b);
        good = good && h.sum == 100 * 2 + 200 * 3;
        good = good && strcmp(j->of[2].host, "host-2") == 0;
        free(data);
    } else {
        sb_wire_put(&b, 100 * j->rank);
        sb_job_send(j, 0, SB_JOB_STATE, &b);
        good = sb_job_wait(j, has_large, &h, UINT64_MAX) && h.large == LARGE;
    }
    sb_buf_done(&b);
    return sb_job_leave(j, 10 * SECOND) && good ? 0 : 1;
}

static bool has_failed(void *arg)
{
    unsigned n;

    return sb_job_failed(arg, &n) != NULL;
}

// Rank 2 is killed; rank 0 hears of it.
static int lose_one(struct sb_job *j)
{
    unsigned n = 0;

    if (j->rank == 2)
        raise(SIGKILL);
    if (j->rank == 0) {
        if (!sb_job_wait(j, has_failed, j, UINT64_MAX))
            return 1;
        const struct sb_job_rank *r = sb_job_failed(j, &n);

        if (n != 2 || strcmp(r->why, "its process was ended by signal 9") != 0)
            return 2;
    }
    return sb_job_leave(j, 10 * SECOND) ? 0 : 3;
}

// -----------------------------------------------------------------------------

static void fork_one(
    struct parents *p, unsigned rank, int (*task)(struct sb_job *j))
{
    struct sb_transport t;
    char host[16];

    p->pid[rank] = fork();
    if (p->pid[rank] != 0)
        return;
    alarm(60);
    snprintf(host, sizeof(host), "host-%u", rank);
    sb_relay_child(p->relay[rank], &t);
    _exit(task(sb_job_new(&t, host)));
}

// Passes on messages until all processes have ended. Returns the sum of their
// exit statuses; -1 if one was lost.
static int watch(struct parents *p)
{
    const struct timespec nap = { .tv_nsec = 100000 };
    int sum = 0;

    for (unsigned left = RANKS; left > 0;) {
        for (unsigned i = RANKS; i-- > 0;) {
            struct sb_err err;
            int raw;

            if (p->pid[i] == 0)
                continue;
            sb_relay_step(p->relay[i]);
            // Rank 0 waits for the others.
            if ((i == 0 && left > 1) || waitpid(p->pid[i], &raw, WNOHANG) == 0)
                continue;
            int status = WIFEXITED(raw) ? WEXITSTATUS(raw)
                                        : 128 + WTERMSIG(raw);

            p->pid[i] = 0;
            left--;
            sum += status;
            if (sb_relay_end(p->relay[i], status, 10 * SECOND, &err))
                return -1;
        }
        nanosleep(&nap, NULL);
    }
    return sum;
}

static void begin(struct parents *p, int (*task)(struct sb_job *j))
{
    struct sb_err err;

    CHECK_INT(sb_relay_begin(p->relay[0], &err), 0);
    fork_one(p, 0, task);
    for (unsigned i = 1; i < RANKS; i++) {
        CHECK(!sb_relay_begun(p->relay[i]));
        sb_job_poll(p->job[i]);
        CHECK(sb_relay_begun(p->relay[i]));
        CHECK_INT(sb_relay_accept(p->relay[i], &err), 0);
        CHECK(!sb_relay_begun(p->relay[i]));
        fork_one(p, i, task);
    }
}

static void processes_form_a_job(void)
{
    struct parents p;

    parents_init(&p);
    for (int run = 0; run < 3; run++) {
        begin(&p, exchange);
        CHECK_INT(watch(&p), 0);
    }
    parents_done(&p);
}

static void a_killed_process_is_told(void)
{
    struct parents p;

    parents_init(&p);
    begin(&p, lose_one);
    CHECK_INT(watch(&p), 128 + SIGKILL);
    // The next run is not concerned.
    begin(&p, exchange);
    CHECK_INT(watch(&p), 0);
    parents_done(&p);
}

// Messages of an earlier run do not reach the next one.
static void late_messages_are_dropped(void)
{
    struct parents p;
    struct sb_buf b;
    const char number[] = { SB_JOB_STATE, 1 };

    parents_init(&p);
    begin(&p, exchange);
    CHECK_INT(watch(&p), 0);
    sb_buf_init(&b, 0);
    sb_wire_put(&b, 1); // the first run
    sb_wire_put_bytes(&b, number, sizeof(number));
    begin(&p, exchange);
    for (int i = 0; i < 5; i++)
        sb_job_send(p.job[1], 0, SB_JOB_RELAY, &b);
    CHECK_INT(watch(&p), 0);
    sb_buf_done(&b);
    parents_done(&p);
}

static void ranks_that_do_not_answer_are_named(void)
{
    struct parents p;
    struct sb_err err;

    parents_init(&p);
    for (unsigned i = 0; i < RANKS; i++)
        sb_job_poll(p.job[i]); // names of hosts
    CHECK_INT(sb_relay_begin(p.relay[0], &err), 0);
    for (unsigned i = 1; i < RANKS; i++)
        sb_job_poll(p.job[i]);
    CHECK_INT(sb_relay_end(p.relay[1], 0, 0, &err), 0);
    CHECK_INT(sb_relay_end(p.relay[0], 0, SECOND / 100, &err), SB_ELOST);
    CHECK_STR(
        err.msg, "rank 2 (gamma) was lost: it does not answer after a run");
    // The others know that the run is over.
    CHECK_INT(sb_relay_over(p.relay[2]), 0);
    sb_job_poll(p.job[2]);
    CHECK(sb_relay_over(p.relay[2]) > 0);
    parents_done(&p);
}

// A process that only looks at the options sends nothing.
static void detached_jobs_are_mute(void)
{
    struct sb_job *zero = loopback_job(0, 2, "a"),
                  *one = loopback_job(1, 2, "b");

    sb_job_poll(zero);
    sb_job_detach(zero);
    sb_job_tell_all(zero, SB_JOB_QUIT, NULL);
    sb_job_send(zero, 1, SB_JOB_QUIT, NULL);
    CHECK(sb_job_leave(zero, SECOND));
    sb_job_poll(one);
    CHECK(!one->quit);
    CHECK_INT(loopback_closed, 0);
    sb_job_free(zero);
    sb_job_free(one);
    loopback_reset();
}

CHECK_FILE
{
    RUN(processes_form_a_job);
    RUN(a_killed_process_is_told);
    RUN(late_messages_are_dropped);
    RUN(ranks_that_do_not_answer_are_named);
    RUN(detached_jobs_are_mute);
    return check_done();
}
