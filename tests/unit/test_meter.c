// SPDX-License-Identifier: GPL-2.0-or-later
//
// A report of counters that were read one after the other.
#include "run/meter.h"

#include "check.h"

static void the_queue_is_not_negative(void)
{
    const struct sb_run_opts o = { .threads = 1 };
    struct sb_run run = {
        .o = &o, .users = 1, .open_loop = true, .deadline = UINT64_MAX
    };
    struct sb_meter m = { .run = &run, .phase = SB_PHASE_MEASURED };
    const struct sb_snap diff = { .ns = 1 };
    struct sb_snap s = { .ns = 5, .scheduled = 20, .c = { .started = 13 } };
    struct sb_report r;

    sb__meter_report_fill(&m, &r, &diff, &s);
    CHECK_INT(r.queue, 7); // of all, not those of the interval
    s.scheduled = 12;
    sb__meter_report_fill(&m, &r, &diff, &s);
    CHECK_INT(r.queue, 0);
}

CHECK_FILE
{
    RUN(the_queue_is_not_negative);
    return check_done();
}
