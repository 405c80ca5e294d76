// SPDX-License-Identifier: GPL-2.0-or-later
//
// A lock with a condition.
#include "run/lock.h"

#include <time.h>

#include "base/err.h"

static int init_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    int rc = pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
    return rc ? SB_ENOMEM : 0;
}

int sb__lock_init(pthread_mutex_t *lock, pthread_cond_t *cond)
{
    if (pthread_mutex_init(lock, NULL))
        return SB_ENOMEM;
    if (init_cond(cond)) {
        pthread_mutex_destroy(lock);
        return SB_ENOMEM;
    }
    return 0;
}
