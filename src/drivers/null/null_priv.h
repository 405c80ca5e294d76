// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the null driver share.
#ifndef NULL_PRIV_H
#define NULL_PRIV_H

#include <stdatomic.h>

#include "db/driver.h"

enum null_failure { FAIL_RESTART, FAIL_FATAL, FAIL_LOST };

struct null_opts {
    const char *latency, *connect_latency;
    double failure_rate;
    int failure; // enum null_failure
    int64_t rows, hang_after;
    bool bulk;
};

extern const struct sb_opt_table null_opt_table;

// A time drawn anew for each call, nanoseconds.
struct null_time {
    int kind; // private to latency.c; 0: constant
    double a, b;
};

// "2ms", "uniform:1ms,3ms", "exp:2ms", "normal:2ms,0.5ms" or
// "pareto:1ms,1.5", as --think-time takes them. SB_EUSAGE, SB_ERANGE.
int null_time_parse(
    const char *text, struct null_time *out, struct sb_err *err);
static inline bool null_time_none(const struct null_time *t)
{
    return t->kind == 0 && t->a <= 0;
}
// state: of a generator, any value.
int64_t null_time_draw(const struct null_time *t, uint64_t *state);

// Uniform in [0, 1); splitmix64.
double null_random(uint64_t *state);

// Sleeps ns, to the microsecond. SB_ECANCELED when *canceled becomes true.
int null_sleep(int64_t ns, const _Atomic bool *canceled);

#endif
