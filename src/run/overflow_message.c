// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/overflow_message.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "loop/overflow.h"

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

void sb__overflow_message_enable(const struct sb_run *run)
{
    snprintf(reason, sizeof(reason),
        " overflowed (%lld KiB): " TOO_DEEP " --thread-stack-size\n",
        (long long)run->o->thread_stack_size / 1024);
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
