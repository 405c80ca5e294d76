// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the tests of sweeps: a registry with the sweep options and one
// more, filled from arguments.
#ifndef CHECK_SWEEP_H
#define CHECK_SWEEP_H

#include <stdlib.h>

#include "check.h"
#include "results/sweep_plan.h"

struct fixture {
    struct sb_opts *opts;
    struct sb_sweep_opts o;
    int64_t threads;
    struct sb_sweep_plan plan;
    struct sb_err err;
};

static const struct sb_opt thread_options[] = {
    { "threads", SB_OPT_INT, 0, .def = "1" },
    { "num-threads", SB_OPT_INT, 0, .alias_of = "threads" },
    { "help", SB_OPT_INT, 0, .def = "0", .flags = SB_OPT_NOFILE },
    { .name = NULL },
};
static const struct sb_opt_table thread_table = { .title = "Threads",
    .opts = thread_options };

#define ARGS(...)                             \
    (char *[])                                \
    {                                         \
        (char *)"sysbench", __VA_ARGS__, NULL \
    }

// Reads arguments and makes the plan; returns its result.
static int fill(struct fixture *f, char **args)
{
    static int64_t values[8];
    int argc = 0;

    *f = (struct fixture){ .opts = sb_opts_new() };
    while (args[argc]) {
        args[argc] = strdup(args[argc]); // secrets are overwritten
        argc++;
    }
    int rc = sb_opts_argv(f->opts, argc, args, &f->err);
    if (rc == 0)
        rc = sb_opts_add(f->opts, &thread_table, values, &f->err);
    if (rc == 0)
        rc = sb_opts_add(f->opts, &sb_sweep_opt_table, &f->o, &f->err);
    if (rc == 0)
        rc = sb_sweep_plan_init(&f->plan, &f->o, f->opts, 42, &f->err);
    for (int i = 0; i < argc; i++)
        free(args[i]);
    return rc;
}

static void empty(struct fixture *f)
{
    sb_sweep_plan_done(&f->plan);
    sb_opts_free(f->opts);
}

#endif
