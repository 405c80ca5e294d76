// SPDX-License-Identifier: GPL-2.0-or-later
//
// The beginning of the measured part.
#include "app_private.h"

// The start of the measured part on the wall clock.
static void set_start(struct sb_app *a, int64_t warmup_ns)
{
    struct timespec now;
    int64_t ns;

    clock_gettime(CLOCK_REALTIME, &now);
    ns = now.tv_nsec + warmup_ns % 1000000000;
    a->facts.started.tv_sec = now.tv_sec + (time_t)(warmup_ns / 1000000000) +
                              (time_t)(ns / 1000000000);
    a->facts.started.tv_nsec = (long)(ns % 1000000000);
}

void sb__app_measured(struct sb_app *a, int64_t warmup_ns)
{
    set_start(a, warmup_ns);
    sb_app_server_measured(a, warmup_ns);
    sb__app_beside_measured(a, warmup_ns);
    sb_app_client_start(a);
}

// Called after the init() of the script, so that its output comes first.
