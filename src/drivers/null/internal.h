// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations shared by the files of the null driver.
#ifndef NULL_INTERNAL_H
#define NULL_INTERNAL_H

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

#endif
