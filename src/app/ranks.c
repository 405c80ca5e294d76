// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs that several processes carry out together: finds the place of this
// process, divides the run, and decides which process carries out the other
// commands.
#include <string.h>

#include "app/app.h"
#include "base/log.h"
#include "kit/clock.h"

extern char **environ;

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
            "--ranks and --rank cannot be combined with MPI, which gives both "
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
    if (a->sweep && !a->job)
        return sb_err_set(err, SB_EUSAGE,
            "--sweep and --repeat cannot be combined with --ranks: the runs of "
            "the ranks would not begin at the same time; use MPI");
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
