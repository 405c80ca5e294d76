// SPDX-License-Identifier: GPL-2.0-or-later
//
// --start-at: until when the main thread waits.
#include "run/start_at.h"

#include <time.h>

#include "base/clock.h"
#include "check.h"
#include "run/lock.h"

static struct sb_run_opts o;
static struct sb_run run = { .o = &o };

static int64_t wall_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void waits_until_then(void)
{
    o.start_at = wall_ns() + 50000000;
    sb__start_at_wait(&run);
    CHECK(wall_ns() >= o.start_at);
}

static void the_past_is_not_waited_for(void)
{
    uint64_t since = sb_clock_monotonic();

    o.start_at = 1;
    sb__start_at_wait(&run);
    o.start_at = 0; // not given
    sb__start_at_wait(&run);
    CHECK(sb_clock_monotonic() - since < UINT64_C(60000000000));
}

static void a_stop_ends_the_wait(void)
{
    uint64_t since = sb_clock_monotonic();

    atomic_store(&run.stop, true);
    o.start_at = wall_ns() + INT64_C(3600000000000);
    sb__start_at_wait(&run);
    CHECK(sb_clock_monotonic() - since < UINT64_C(60000000000));
}

CHECK_FILE
{
    CHECK_INT(sb__lock_init(&run.lock, &run.changed), 0);
    RUN(waits_until_then);
    RUN(the_past_is_not_waited_for);
    RUN(a_stop_ends_the_wait);
    return check_done();
}
