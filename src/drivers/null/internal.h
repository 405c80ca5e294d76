// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations shared by the files of the null driver.
#ifndef NULL_INTERNAL_H
#define NULL_INTERNAL_H

#include <stdatomic.h>

#include "db/driver.h"
#include "kit/timedist.h"

enum null_failure { FAIL_RESTART, FAIL_FATAL, FAIL_LOST };

struct null_opts {
    const char *latency, *connect_latency;
    double failure_rate;
    int failure; // enum null_failure
    int64_t rows, hang_after, counter_step;
    bool bulk;
};

extern const struct sb_opt_table null_opt_table;

// Parses a time in the forms of --think-time, at most a day. Returns SB_EUSAGE
// if it is invalid.
int null_time_parse(
    const char *text, struct sb_timedist *out, struct sb_err *err);
// Draws a time, in nanoseconds; at most a day.
int64_t null_time_draw(const struct sb_timedist *t, struct sb_rng *r);

// Sleeps for ns, precise to a microsecond. Returns SB_ECANCELED when *canceled
// becomes true.
int null_sleep(
    const struct sb_host *host, int64_t ns, const _Atomic bool *canceled);

#endif
