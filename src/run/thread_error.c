// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds out why a thread could not be started. pthread_create() returns EAGAIN
// for any limit, of memory or of threads, so the limits are checked
// afterwards.
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/limits.h"
#include "loop/overflow.h"
#include "run/thread_error.h"

// Process ids that the kernel does not assign to threads, and a margin.
#define IDS_RESERVED 512

// Reads the first number in a file; returns false if there is none.
static bool read_number(const char *path, long long *n)
{
    FILE *f = fopen(path, "re");
    bool is = f && fscanf(f, "%lld", n) == 1;

    if (f)
        fclose(f);
    return is;
}

// Maps a stack as the C library does. Returns 0 or errno.
static int try_stack(size_t stack)
{
    const size_t guard = SB_OVERFLOW_GUARD;
    char *p = mmap(NULL, stack + guard, PROT_NONE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

    if (p == MAP_FAILED)
        return errno;
    int rc = mprotect(p + guard, stack, PROT_READ | PROT_WRITE) ? errno : 0;
    munmap(p, stack + guard);
    return rc;
}

static long long count_maps(void)
{
    FILE *f = fopen("/proc/self/maps", "re");
    long long n = 0;

    for (int c; f && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

void sb__stack_error(size_t stack, char *out, size_t size)
{
    long long limit, maps = count_maps();
    int n = snprintf(
        out, size, "no memory for a stack of %zu KiB", stack / 1024);

    if (n < 0 || (size_t)n >= size)
        return;
    // A stack and its guard page are two mappings.
    if (read_number("/proc/sys/vm/max_map_count", &limit) && maps + 2 >= limit)
        snprintf(out + n, size - (size_t)n,
            " (limit of memory mappings, vm.max_map_count: %lld)", limit);
    else
        sb_limit_of_memory(out + n, size - (size_t)n);
}

// Returns true if this control group or one above it is full. Truncates path.
static bool group_full(const char *base, char *path, long long *limit)
{
    char name[PATH_MAX + 64];
    long long now;

    for (;;) {
        snprintf(name, sizeof(name), "%s%s/pids.current", base, path);
        bool known = read_number(name, &now);
        snprintf(name, sizeof(name), "%s%s/pids.max", base, path);
        if (known && read_number(name, limit) && now >= *limit)
            return true;
        char *slash = strrchr(path, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
}

static bool any_group_full(long long *limit)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX];
    bool full = false;

    while (f && !full && fgets(line, sizeof(line), f)) {
        char *of = strchr(line, ':'), *path = of ? strchr(of + 1, ':') : NULL;

        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if (of[1] == '\0')
            full = group_full("/sys/fs/cgroup", path, limit);
        else if (strcmp(of + 1, "pids") == 0)
            full = group_full("/sys/fs/cgroup/pids", path, limit);
    }
    if (f)
        fclose(f);
    return full;
}

// The number of threads of the machine or container; 0 if unknown.
static long long count_threads(void)
{
    FILE *f = fopen("/proc/loadavg", "re");
    long long n = 0;

    if (f && fscanf(f, "%*s %*s %*s %*d/%lld", &n) != 1)
        n = 0;
    if (f)
        fclose(f);
    return n;
}

static void explain_threads(char *out, size_t size)
{
    long long limit, all = count_threads();
    struct rlimit lim;

    if (any_group_full(&limit))
        snprintf(out, size,
            " (limit of processes and threads of the control group, "
            "pids.max: %lld)",
            limit);
    else if (read_number("/proc/sys/kernel/pid_max", &limit) &&
             all + IDS_RESERVED >= limit)
        snprintf(out, size,
            " (limit of processes and threads of the machine, "
            "kernel.pid_max: %lld)",
            limit);
    else if (read_number("/proc/sys/kernel/threads-max", &limit) &&
             all + 1 >= limit)
        snprintf(out, size,
            " (limit of threads of the machine, kernel.threads-max: %lld)",
            limit);
    else if (getrlimit(RLIMIT_NPROC, &lim) == 0 &&
             lim.rlim_cur != RLIM_INFINITY)
        snprintf(out, size,
            " (limit of processes and threads of the user, ulimit -u: %llu)",
            (unsigned long long)lim.rlim_cur);
}

void sb__thread_error(int rc, size_t stack, char *out, size_t size)
{
    if (rc == EAGAIN && try_stack(stack) != 0) {
        sb__stack_error(stack, out, size);
        return;
    }
    int n = snprintf(out, size, "%s", strerror(rc));
    if (rc == EAGAIN && n > 0 && (size_t)n < size)
        explain_threads(out + n, size - (size_t)n);
}
