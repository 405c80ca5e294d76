// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs that several processes carry out together: finds the place of this
// process, divides the run, and decides which process carries out the other
// commands.
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "base/clock.h"
#include "base/log.h"
#include "ranks/job.h"
#include "ranks/place.h"
#include "kit/clock.h"
#include "out/division.h"

// A command that a launcher of MPI has started on several hosts: joins the job,
// and gives the other ranks the command line of rank 0.

extern char **environ;

// How long rank 0 waits for the others at the end.
#define LEAVE_NS UINT64_C(10000000000)
// The same if a rank was lost.
#define LEAVE_LOST_NS UINT64_C(500000000)

const char *sb_app_job_setting(const struct sb_app *a)
{
    const char *value = getenv("SYSBENCH_MPI");

    if (!value && getenv("SYSBENCH_RANKS"))
        value = "off";
    for (int i = 1; i < a->argc; i++) {
        if (strncmp(a->argv[i], "--mpi=", 6) == 0)
            value = a->argv[i] + 6;
        // The same division, without MPI.
        else if (strncmp(a->argv[i], "--ranks=", 8) == 0 && !value)
            value = "off";
    }
    return value ? value : "auto";
}

static int no_module(const struct sb_job_family *family, unsigned n,
    const struct sb_err *why, struct sb_err *err)
{
    return sb_err_set(err, why->code,
        "this is one of %u processes that %s started, but they cannot carry "
        "out one run: %.250s; --mpi=off runs them independently",
        n, family->launcher, why->msg);
}

static int join(struct sb_app *a, const struct sb_job_family *family,
    unsigned n, struct sb_err *err)
{
    struct sb_transport t;
    struct sb_paths paths;
    struct sb_host_facts host;
    struct sb_err why = { 0 };
    int rc = sb_paths_find(&paths, err);

    if (rc)
        return rc;
    rc = sb_job_open(&t, paths.mpi, family, &why);
    if (rc && family)
        return no_module(family, n, &why, err);
    if (rc)
        return sb_err_set(err, rc, "--mpi=on: %.400s", why.msg);
    sb_host_facts(&host);
    if (family && t.ranks != n) {
        t.ops->close(&t);
        return sb_err_set(err, SB_EUSAGE,
            "this is one of %u processes of a launcher, but %s reports %u: "
            "start them with its launcher (--mpi=off runs them independently)",
            n, family->name, t.ranks);
    }
    a->job = sb_job_new(&t, host.name);
    a->files = a->job ? sb_job_files_new(a->job) : NULL;
    return a->files ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");
}

// Hides the values of this process's own arguments in the process list: they
// are not used, and may be secrets.
static void hide_arguments(struct sb_app *a)
{
    for (int i = 1; i < a->argc; i++) {
        char *value = strchr(a->argv[i], '=');

        if (value)
            memset(value + 1, '*', strlen(value + 1));
    }
}

struct setup {
    struct sb_app *a;
    bool here;
    struct sb_err err;
};

static void on_setup(void *arg, unsigned from, struct sb_wire *w)
{
    struct setup *s = arg;

    (void)from;
    s->here = true;
    sb_app_setup_take(s->a, w, &s->err);
}

static bool is_here(void *arg)
{
    return ((const struct setup *)arg)->here;
}

// Waits for the settings of rank 0. SB_ECANCELED: rank 0 has left the job. It
// has failed and has logged the error, or it carries out its command alone.
static int follow(struct sb_app *a, struct sb_err *err)
{
    struct setup s = { .a = a };

    hide_arguments(a);
    sb_job_on(a->job, SB_JOB_SETUP, on_setup, &s);
    bool here = sb_job_wait(a->job, is_here, &s, UINT64_MAX);

    sb_job_on(a->job, SB_JOB_SETUP, NULL, NULL);
    if (!here)
        return sb_err_set(err, SB_ECANCELED, "rank 0 has left the job");
    *err = s.err;
    return err->code;
}

// The settings of a process that is alone, or rank 0.
static int lead(struct sb_app *a, struct sb_err *err)
{
    int rc = sb_app_setup_awaited(a) ? sb_app_setup_read(a, err) : 0;

    // Now, because passwords are removed from the arguments later.
    return rc ? rc : sb_app_setup_keep(a, err);
}

int sb_app_job_begin(struct sb_app *a, struct sb_err *err)
{
    const char *value = sb_app_job_setting(a);
    unsigned n = 0;
    const struct sb_job_family *family = sb_job_launched(environ, &n);
    bool on = strcmp(value, "on") == 0;

    // An invalid value is an error when options are read.
    if (!on && (strcmp(value, "auto") != 0 || !family || n <= 1))
        return lead(a, err);
    int rc = join(a, family, n, err);
    if (rc)
        return rc;
    return a->job->rank > 0 ? follow(a, err) : lead(a, err);
}

void sb_app_job_loaded(struct sb_app *a)
{
    struct sb_app_setup s = a->setup;
    struct sb_buf b;

    if (!a->job || a->job->rank > 0)
        return;
    s.seed = a->random.seed;
    s.workloads = a->paths.workloads;
    s.started = NULL;
    sb_buf_init(&b, 0);
    sb_app_setup_put(a, &s, &b);
    sb_job_tell_all(a->job, SB_JOB_SETUP, &b);
    sb_buf_done(&b);
}

bool sb_app_job_follows(const struct sb_app *a)
{
    return a->job && a->job->rank > 0;
}

bool sb_app_job_told(struct sb_app *a, const char *why)
{
    if (!sb_app_job_follows(a) || a->job->broken.code || a->job->lost)
        return false;
    if (!a->job->quit)
        sb_job_fail(a->job, why);
    return true;
}

int sb_app_job_end(struct sb_app *a, int status)
{
    bool follows = sb_app_job_follows(a);

    if (!a->job)
        return status;
    uint64_t limit = a->job->lost ? LEAVE_LOST_NS : LEAVE_NS;

    bool together = sb_job_leave(a->job, limit);

    if (!together && !follows) {
        sb_log_flush();
        a->job->t.ops->abandon(&a->job->t, status);
    }
    a->leave |= !together;
    if (a->leave)
        return follows ? SB_EXIT_OK : status;
    sb_job_files_free(a->files);
    sb_job_free(a->job);
    a->job = NULL;
    return follows ? SB_EXIT_OK : status;
}

static bool is_run(const struct sb_app *a)
{
    return a->command && strcmp(a->command, "run") == 0;
}

// Sets a->rank_place: that in the job, or what the options say.
static int find_place(struct sb_app *a, struct sb_err *err)
{
    int rc = sb_ranks_place(&a->rank_place, &a->rank_opts, environ, err);

    if (rc || !a->job)
        return rc;
    if (a->rank_place.ranks)
        return sb_err_set(err, SB_EUSAGE,
            "--ranks and --rank cannot be combined with MPI, which sets both "
            "(--mpi=off)");
    a->rank_place.rank = a->job->rank;
    a->rank_place.ranks = a->job->ranks;
    return 0;
}

// Called before scripts are loaded, which may declare options with these names:
// errors are found by sb_app_ranks_finish().
void sb_app_ranks_begin(struct sb_app *a)
{
    struct sb_err err;

    if (find_place(a, &err))
        a->rank_place = (struct sb_rank_place){ 0 };
    sb_share_whole(&a->run.share, 1);
    if (a->rank_place.ranks <= 1 || !is_run(a))
        return;
    a->run.share.rank = a->rank_place.rank;
    a->run.share.ranks = a->rank_place.ranks;
}

// Over MPI, the ranks share a parallel command if each has a user. A mix
// carries out the commands of its workloads one after the other, on rank 0.
static bool is_divided(const struct sb_app *a)
{
    if (a->rank_place.ranks <= 1)
        return false;
    return is_run(a) || (a->job && a->script && a->command && !a->mix &&
                            sb_script_command(a->script, a->command) ==
                                SB_COMMAND_PARALLEL &&
                            a->run.threads >= a->rank_place.ranks);
}

static int check_test(const struct sb_app *a, struct sb_err *err)
{
    if (a->sweep)
        return sb_err_set(err, SB_EUSAGE,
            "--sweep and --repeat cannot be combined with --ranks: the runs of "
            "the ranks would not begin at the same time; use --launch");
    if (a->builtin)
        return sb_err_set(err, SB_EUSAGE,
            "the built-in test '%s' cannot be divided among ranks",
            a->builtin->name);
    return 0;
}

static int divide(struct sb_app *a, struct sb_err *err)
{
    struct sb_rank_place one = { 0 };
    bool divided = is_divided(a);
    int rc = divided && is_run(a) ? check_test(a, err) : 0;

    if (rc == 0)
        rc = sb_ranks_divide(&a->run, &a->rank_opts,
            divided ? &a->rank_place : &one, a->job != NULL, a->dist.seed != 0,
            err);
    a->run.job = divided ? a->job : NULL;
    a->run.join = sb_ranks_join;
    a->random.rank = a->run.share.rank;
    a->random.ranks = a->run.share.ranks;
    return rc;
}

int sb_app_ranks_threads(struct sb_app *a, struct sb_err *err)
{
    bool given = sb_opts_given(a->opts, "threads", false) ||
                 sb_opts_given(a->opts, "num-threads", false);
    int rc = find_place(a, err);

    return rc ? rc
              : sb_ranks_threads(
                    &a->run, &a->rank_opts, &a->rank_place, given, err);
}

int sb_app_ranks_finish(struct sb_app *a, struct sb_err *err)
{
    int rc = divide(a, err);

    if (rc == 0 && a->rank_opts.start_at[0] && a->sweep)
        rc = sb_err_set(err, SB_EUSAGE,
            "--start-at cannot be combined with --sweep or --repeat: all runs "
            "would start at this time");
    // The same options may be given for all commands.
    if (rc || !is_run(a))
        return rc;
    return sb_ranks_start_at(
        a->rank_opts.start_at, (int64_t)sb_clock_wall(), &a->run.start_at, err);
}

bool sb_app_ranks_idle(const struct sb_app *a)
{
    if (a->rank_place.rank == 0 || is_run(a) || a->run.job || !a->command ||
        (!a->job && strcmp(a->command, "help") == 0))
        return false;
    sb_log(SB_LOG_NOTICE, "rank %u has nothing to do: rank 0 carries out '%s'",
        a->rank_place.rank, a->command);
    return true;
}

// Below the report of rank 0. Erlang's formula is that of a constant load.
static void warn_of_division(struct sb__listening *t, const struct sb_report *r)
{
    (void)t;
    if (r->nstages == 0)
        sb_division_warn(r->ranks, r->nranks);
}

const struct sb__app_listener sb__app_ranks_listener = {
    .after = warn_of_division,
};
