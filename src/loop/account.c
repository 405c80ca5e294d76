// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // RUSAGE_THREAD
#include "loop/account.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

// The kernel's count of ns in which the calling thread was ready and had to
// wait for a processor. Returns false if the kernel does not count it.
static bool read_delay(int fd, uint64_t *ns)
{
    char text[128], *end;
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

    if (n <= 0)
        return false;
    text[n] = '\0'; // "ns with a processor, ns of delay, number of turns"
    strtoull(text, &end, 10);
    *ns = strtoull(end, NULL, 10);
    return true;
}

void sb_account_take(struct sb_account *a, int schedstat, uint64_t now)
{
    struct rusage usage;
    bool known = getrusage(RUSAGE_THREAD, &usage) == 0;

    a->at = now;
    a->cpu = sb_clock_read(CLOCK_THREAD_CPUTIME_ID);
    a->has_delay = read_delay(schedstat, &a->delay);
    a->preempted = known ? usage.ru_nivcsw : -1;
    a->sleeps = known ? usage.ru_nvcsw : -1;
}

long sb_account_sleeps(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : -1;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

uint64_t sb_account_held(const struct sb_account *a, const struct sb_account *b,
    long slept, uint64_t from, uint64_t to)
{
    uint64_t wall = to - from, before = minus(from, a->at);
    uint64_t cpu = minus(b->cpu - a->cpu, before);

    cpu = cpu < wall ? cpu : wall;
    // A thread that did not sleep was held only while it had a processor. The
    // host of a virtual machine may have given the processor to another one,
    // which the kernel does not count as a delay.
    if (slept >= 0 && b->sleeps == slept)
        return cpu;
    if (a->has_delay && b->has_delay)
        return minus(wall, b->delay - a->delay);
    if (a->preempted >= 0 && a->preempted == b->preempted)
        return wall;
    return cpu;
}
