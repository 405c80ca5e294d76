// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/waiter.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "check.h"

// The clock of the condition is the monotonic one: with another one, this time
// would be long past or far away.
static void waits_by_the_monotonic_clock(void)
{
    pthread_mutex_t lock;
    pthread_cond_t cond;
    uint64_t until = sb_clock_monotonic() + 20000000;
    struct timespec ts = { .tv_sec = (time_t)(until / 1000000000),
        .tv_nsec = (long)(until % 1000000000) };
    int rc = 0;

    CHECK_INT(sb_lock_init(&lock, &cond), 0);
    pthread_mutex_lock(&lock);
    while (rc == 0)
        rc = pthread_cond_timedwait(&cond, &lock, &ts);
    pthread_mutex_unlock(&lock);
    CHECK_INT(rc, ETIMEDOUT);
    CHECK(sb_clock_monotonic() >= until);
    pthread_cond_destroy(&cond);
    pthread_mutex_destroy(&lock);
}

CHECK_FILE
{
    RUN(waits_by_the_monotonic_clock);
    return check_done();
}
