// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/overflow_message.h"

#include <stdio.h>
#include <unistd.h>

#include "loop/overflow.h"

// Texts are made beforehand, because a signal handler writes them.
static char reason[400];

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
    const struct sb_user *u = user;
    struct text t = { .len = 0 };

    append_text(&t, "\nFATAL: the stack of user ");
    add_number(&t, u->number);
    append_text(&t, reason);
    // There is nothing left to do if this fails.
    ssize_t n = write(STDERR_FILENO, t.data, t.len);
    (void)n;
}

void sb__overflow_message_enable(const struct sb_run *run)
{
    snprintf(reason, sizeof(reason),
        " overflowed (%lld KiB): functions in C called each other too deeply, "
        "for example string.gsub() with a function that calls it again; use "
        "fewer levels or a larger --thread-stack-size\n",
        (long long)run->o->thread_stack_size / 1024);
    sb_overflow_catch(say_overflow);
}
