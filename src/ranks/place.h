// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which rank of a run this process is: options, and launchers of MPI.
// docs/distributed.md, docs/internals/ranks.md.
#ifndef SB_PLACE_H
#define SB_PLACE_H

#include "ranks/transport.h"
#include "run/run_opts.h"

// "Options for several clients"
struct sb_rank_opts {
    int mpi;           // read early, by src/app/ranks.c
    int64_t rank;      // -1: not given
    const char *ranks; // text: "", a number or "auto"
    struct sb_opt_list weights;
    int64_t threads_per_rank; // 0: not given
    const char *start_at;     // text, "" for none
};

extern const struct sb_opt_table sb_rank_opt_table;

// Where the number of a rank was found.
struct sb_rank_place {
    unsigned rank, ranks; // ranks 0: the run is not divided
};

// Reads --rank and --ranks; with "auto", the variables of a launcher in env
// (terminated by NULL). SB_EUSAGE.
int sb_ranks_place(struct sb_rank_place *p, const struct sb_rank_opts *o,
    char *const *env, struct sb_err *err);

// Divides the run: sets run->share and, with --threads-per-rank or without
// --threads, run->threads. threads_given, seed_given: the user gave these
// options. job: the ranks exchange messages, over MPI. Called after
// sb_run_opts_finish(). SB_EUSAGE / SB_ERANGE.
int sb_ranks_divide(struct sb_run_opts *run, const struct sb_rank_opts *o,
    const struct sb_rank_place *p, bool job, bool seed_given,
    struct sb_err *err);
// Sets run->threads; called before sb_run_opts_finish(). SB_EUSAGE / SB_ERANGE.
int sb_ranks_threads(struct sb_run_opts *run, const struct sb_rank_opts *o,
    const struct sb_rank_place *p, bool threads_given, struct sb_err *err);

// join.c. For sb_run_opts.join, with the job in sb_run_opts.job: joins the run
// to the other ranks. Sets run->group, also after an error; its leave() frees
// it. 0 or SB_ENOMEM.
int sb_ranks_join(struct sb_run *run);

// Parses --start-at: seconds since 1970 ("1795348800.5"), or a date and time
// with "Z" or an offset from UTC ("2026-11-23T12:00:00+01:00"). *ns: since
// 1970. now_ns: it must be later. SB_EUSAGE.
int sb_ranks_start_at(
    const char *text, int64_t now_ns, int64_t *ns, struct sb_err *err);

// The modules for MPI: finds the one for the launcher that started this
// process, and loads it.

// A family of MPI libraries, whose binaries are compatible, and a launcher that
// starts processes for it.
struct sb_job_family {
    const char *module;   // name of its module, "openmpi"; NULL: not for MPI
    const char *name;     // for users, "Open MPI"
    const char *launcher; // for users, "Slurm"
    const char *size;     // variable with the number of processes
    const char *mark;     // variable that must also be set, or NULL
};

// Returns the family of the launcher that started this process with others,
// and their number; NULL if none did. env: ends with NULL.
const struct sb_job_family *sb_job_launched(
    char *const *env, unsigned *processes);

// Loads the module and joins the job. family: NULL for the first module that
// is there. SB_ENOTFOUND: there is no such module; SB_EDRIVER: it cannot be
// used; SB_ESYS: MPI reports an error.
int sb_job_open(struct sb_transport *t, const char *dir,
    const struct sb_job_family *family, struct sb_err *err);

#endif
