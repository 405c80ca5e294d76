// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/thread_error.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kit/limits.h"
#include "loop/overflow.h"
#include "run/user.h"

// Why a thread could not be started. pthread_create() returns EAGAIN for any
// limit, of memory or of threads, so the limits are checked afterwards.

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

// Overflows of stacks.

#define TOO_DEEP                                                              \
    "functions in C called each other too deeply, for example string.gsub() " \
    "with a function that calls it again; use fewer levels or a larger"

// Bytes of the stack of the main thread that are there from the start.
#define MAIN_STACK ((size_t)256 * 1024)

// Texts are made beforehand, because a signal handler writes them.
static char reason[400], main_reason[400];
// Stand for the threads that run no user, as arguments of sb_overflow_guard().
static const char main_thread, check_thread;

// A text that is being made, without functions that a signal handler may not
// call.
struct text {
    char data[sizeof(reason) + 60];
    size_t len;
};

static void append_text(struct text *t, const char *s)
{
    while (*s && t->len < sizeof(t->data))
        t->data[t->len++] = *s++;
}

static void add_number(struct text *t, unsigned n)
{
    char digits[12];
    size_t at = sizeof(digits) - 1;

    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    append_text(t, digits + at);
}

// Async-signal-safe.
static void say_overflow(void *user)
{
    struct text t = { .len = 0 };

    append_text(&t, "\nFATAL: the stack of ");
    if (user == &main_thread) {
        append_text(&t, main_reason);
    } else if (user == &check_thread) {
        append_text(&t, "the hook check_tables");
        append_text(&t, reason);
    } else {
        append_text(&t, "user ");
        add_number(&t, ((const struct sb_user *)user)->number);
        append_text(&t, reason);
    }
    // There is nothing left to do if this fails.
    ssize_t n = write(STDERR_FILENO, t.data, t.len);
    (void)n;
}

void sb__overflow_message_enable(size_t stack)
{
    snprintf(reason, sizeof(reason),
        " overflowed (%lld KiB): " TOO_DEEP " --thread-stack-size\n",
        (long long)stack / 1024);
    sb_overflow_catch(say_overflow);
}

// Extends the stack of the main thread, without using its memory, to a size
// that is enough for all but deep recursion. Later, when the users have taken
// the rest of a limited address space, the kernel might refuse that.
__attribute__((noinline)) static void extend_stack(void)
{
    char room[MAIN_STACK];
    volatile char *last = room;

    *last = 0;
}

void sb_run_guard_main(void)
{
    struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
    struct rlimit space = { .rlim_cur = RLIM_INFINITY };
    char size[40] = "";

    getrlimit(RLIMIT_STACK, &limit);
    getrlimit(RLIMIT_AS, &space);
    if (limit.rlim_cur / 4 > MAIN_STACK)
        extend_stack();
    if (limit.rlim_cur != RLIM_INFINITY)
        snprintf(size, sizeof(size), " (%llu KiB)",
            (unsigned long long)limit.rlim_cur / 1024);
    snprintf(main_reason, sizeof(main_reason),
        "the main thread (which runs the body of the script, init(), done(), "
        "commands and report hooks) overflowed%s: " TOO_DEEP " 'ulimit -s'%s\n",
        size, space.rlim_cur == RLIM_INFINITY ? "" : " or 'ulimit -v'");
    sb_overflow_catch(say_overflow);
    sb_overflow_guard((void *)&main_thread);
}

void sb__overflow_guard_check(void)
{
    sb_overflow_guard((void *)&check_thread);
}
