// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations shared by the files of the null driver.
#ifndef NULL_PRIV_H
#define NULL_PRIV_H

#include <stdatomic.h>

#include "db/driver.h"

enum null_failure { FAIL_RESTART, FAIL_FATAL, FAIL_LOST };

struct null_opts {
    const char *latency, *connect_latency;
    double failure_rate;
    int failure; // enum null_failure
    int64_t rows, hang_after, counter_step;
    bool bulk;
};

extern const struct sb_opt_table null_opt_table;

// A distribution of times in nanoseconds. Each call draws one.
struct null_time {
    int kind; // private to latency.c; 0: constant
    double a, b;
};

// Parses "2ms", "uniform:1ms,3ms", "exp:2ms", "normal:2ms,0.5ms" or
// "pareto:1ms,1.5", the forms of --think-time. Returns SB_EUSAGE if it is
// invalid.
int null_time_parse(
    const char *text, struct null_time *out, struct sb_err *err);
static inline bool null_time_none(const struct null_time *t)
{
    return t->kind == 0 && t->a <= 0;
}
// Draws a time. state: the state of the random generator, initially any value.
int64_t null_time_draw(const struct null_time *t, uint64_t *state);

// Returns a random number, uniform in [0, 1), by splitmix64.
double null_random(uint64_t *state);

// Sleeps for ns, precise to a microsecond. Returns SB_ECANCELED when *canceled
// becomes true.
int null_sleep(
    const struct sb_host *host, int64_t ns, const _Atomic bool *canceled);

#endif
