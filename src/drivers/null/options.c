// SPDX-License-Identifier: GPL-2.0-or-later
//
// The options of the driver. This file is also built as a module of its own, so
// that scripts can read the options of a driver that is not in use.
#include "drivers/null/internal.h"

static const char *const failures[] = { "restart", "fatal", "lost", NULL };

static const struct sb_opt opts[] = {
    { .name = "null-latency",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct null_opts, latency),
        .def = "0",
        .help = "duration of a statement: 2ms, uniform:1ms,3ms, exp:2ms, "
                "normal:2ms,0.5ms, pareto:1ms,1.5" },
    { .name = "null-connect-latency",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct null_opts, connect_latency),
        .def = "0",
        .help = "duration of a connect, in the same form" },
    { .name = "null-failure-rate",
        .type = SB_OPT_DOUBLE,
        .offset = offsetof(struct null_opts, failure_rate),
        .def = "0",
        .min = 0,
        .max = 1,
        .help = "fraction of statements that fail, 0 to 1" },
    { .name = "null-failure",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct null_opts, failure),
        .def = "restart",
        .choices = failures,
        .help = "type of the injected failures" },
    { .name = "null-rows",
        .type = SB_OPT_INT,
        .offset = offsetof(struct null_opts, rows),
        .def = "1",
        .min = 0,
        .max = 1e9,
        .help = "rows that a SELECT returns" },
    { .name = "null-hang-after",
        .type = SB_OPT_INT,
        .offset = offsetof(struct null_opts, hang_after),
        .def = "0",
        .min = 0,
        .max = 1e15,
        .help = "number of statements after which a connection hangs until it "
                "is canceled; 0: never" },
    { .name = "null-counter-step",
        .type = SB_OPT_INT,
        .offset = offsetof(struct null_opts, counter_step),
        .def = "100",
        .min = 0,
        .max = 1e12,
        .help = "by how much the server counter null_total grows from sample "
                "to sample" },
    { .name = "null-bulk",
        .type = SB_OPT_BOOL,
        .offset = offsetof(struct null_opts, bulk),
        .def = "on",
        .help = "accept bulk loads; off: rows are loaded by INSERT "
                "statements" },
    { 0 },
};

const struct sb_opt_table null_opt_table = {
    .title = "null driver options",
    .opts = opts,
};

SB_DRIVER_OPTIONS("null", null_opt_table, struct null_opts);
