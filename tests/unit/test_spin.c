// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit/spin.h"

#include <pthread.h>
#include <sched.h>

#include "check.h"

#define THREADS 4
#define TIMES   20000

static struct sb_spin lock;
static uint64_t count;
static volatile int inside, wrong; // under the lock

static void *increment(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        sb_spin_lock(&lock);
        wrong += inside++ != 0;
        if (i % 1000 == 0) // gives the others a chance to be wrong
            sched_yield();
        count++;
        inside--;
        sb_spin_unlock(&lock);
    }
    return arg;
}

static void one_thread_at_a_time(void)
{
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, increment, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(thread[i], NULL), 0);
    CHECK_INT(count, THREADS * TIMES);
    CHECK_INT(wrong, 0);
}

CHECK_FILE
{
    RUN(one_thread_at_a_time);
    return check_done();
}
