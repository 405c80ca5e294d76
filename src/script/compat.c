// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "loop/fiber.h"
#include "script/compat.ffi.h"
#include "script/script_private.h"

// An exception to the rule that nothing identifies the caller by OS thread:
// these functions of 1.x have no context parameter. A user on an event loop is
// identified by its fiber.
static _Thread_local void *of_thread;

static void **state_slot(void)
{
    struct sb_fiber *f = sb_fiber_current();

    return f ? sb_fiber_local(f) : &of_thread;
}

void sb__compat_enter(struct sb__state *st)
{
    *state_slot() = st;
}

static const struct sb__state *current(void)
{
    return *state_slot();
}

static struct sb_user *user(void)
{
    return current() ? current()->user : NULL;
}

uint64_t sb_counter_val(int thread_id, sb_counter_type type)
{
    return user() ? sb_user_counted(user(), (int)type) : 0;
}

void sb_counter_add(int thread_id, sb_counter_type type, uint64_t val)
{
    if (user())
        sb_user_count(user(), (int)type, val);
}

void sb_counter_inc(int thread_id, sb_counter_type type)
{
    sb_counter_add(thread_id, type, 1);
}

bool sb_more_events(int thread_id)
{
    struct sb_user *u = user();

    if (!u)
        return false;
    // An event without sb_event_stop() is not counted.
    if (u->in_event)
        sb_user_drop(u);
    return sb_user_begin(u) == 1;
}

void sb_event_start(int thread_id)
{
    // sb_more_events() has started the event: scripts always call both.
}

void sb_event_stop(int thread_id)
{
    if (user() && user()->in_event)
        sb_user_end(user());
}

// sb_rand_uniform(a, b) etc.
#define RAND(name)                                                             \
    uint32_t sb_rand_##name(uint32_t a, uint32_t b)                            \
    {                                                                          \
        return current() ? (uint32_t)sb_random_##name(current()->random, a, b) \
                         : 0;                                                  \
    }

RAND(default)
RAND(uniform)
RAND(gaussian)
RAND(special)
RAND(pareto)
RAND(zipfian)

uint32_t sb_rand_unique(void)
{
    return current() ? sb_random_unique(current()->random) : 0;
}

uint64_t sb_rand_uniform_uint64(void)
{
    return current() ? sb_random_uint64(current()->random) : 0;
}

double sb_rand_uniform_double(void)
{
    return current() ? sb_random_double(current()->random) : 0;
}

void sb_rand_str(const char *fmt, char *buf)
{
    if (current())
        sb_random_string(current()->random, fmt, strlen(fmt), buf);
}

uint32_t sb_rand_varstr(char *buf, uint32_t min_len, uint32_t max_len)
{
    return current() ? (uint32_t)sb_random_varstring(
                           current()->random, min_len, max_len, buf)
                     : 0;
}
