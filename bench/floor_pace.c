// SPDX-License-Identifier: GPL-2.0-or-later
//
// The minimum lag of sleeping threads on this machine: N bare threads that only
// sleep until the next arrival of a shared Poisson schedule.
// Prints the lag's percentiles in microseconds.
// usage: floor_pace THREADS RATE SECONDS
// build: cc -O2 floor_pace.c -o floor_pace -lm -lpthread
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t *moment, *lag;
static size_t count;
static _Atomic size_t next;

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *run(void *arg)
{
    size_t i;

    (void)arg;
    while ((i = atomic_fetch_add(&next, 1)) < count) {
        struct timespec ts = { .tv_sec = (time_t)(moment[i] / 1000000000u),
            .tv_nsec = (long)(moment[i] % 1000000000u) };

        while (
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
            ;
        lag[i] = now_ns() - moment[i];
    }
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: floor_pace THREADS RATE SECONDS\n");
        return 1;
    }
    int threads = (int)strtol(argv[1], NULL, 10);
    double rate = strtod(argv[2], NULL), seconds = strtod(argv[3], NULL);
    pthread_t *thread = calloc((size_t)threads, sizeof(*thread));
    double t = 0;

    count = (size_t)(rate * seconds);
    moment = calloc(count, sizeof(*moment));
    lag = calloc(count, sizeof(*lag));
    if (!thread || !moment || !lag) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    uint64_t start = now_ns() + 10000000;
    srand48(1);
    for (size_t i = 0; i < count; i++) {
        t += -log(1 - drand48()) / rate * 1e9;
        moment[i] = start + (uint64_t)t;
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    qsort(lag, count, sizeof(*lag), by_value);
    printf("threads=%d arrivals=%zu lag_p50_us=%.1f lag_p99_us=%.1f "
           "lag_max_us=%.1f\n",
        threads, count, (double)lag[count / 2] / 1e3,
        (double)lag[count * 99 / 100] / 1e3, (double)lag[count - 1] / 1e3);
    return 0;
}
