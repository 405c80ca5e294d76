// SPDX-License-Identifier: GPL-2.0-or-later
//
// The beginning of the measured part.
#include "app/private.h"
#include "kit/clock.h"

// The start of the measured part on the wall clock.
static void set_start(struct sb_app *a, int64_t warmup_ns)
{
    a->facts.started = sb_clock_timespec(sb_clock_wall() + (uint64_t)warmup_ns);
}

void sb__app_measured(struct sb_app *a, int64_t warmup_ns)
{
    set_start(a, warmup_ns);
    sb_app_server_measured(a, warmup_ns);
    sb__app_beside_measured(a, warmup_ns);
    sb_app_client_start(a);
}

// Called after the init() of the script, so that its output comes first.
