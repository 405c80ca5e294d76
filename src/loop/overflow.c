// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // _SC_SIGSTKSZ, pthread_getattr_np
#include "loop/overflow.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "kit/asan.h"
#include "kit/tsan.h"
#include "loop/fiber_private.h"

#if !defined(SB_ASAN) && !defined(SB_TSAN)
#define CATCH 1
#else
#define CATCH 0
#endif

// The handler needs less; the kernel saves the registers here, too.
#define STACK_MIN 16384

// Set before any loop runs. `old` is the previous action, usually the default
// one.
static void (*say_overflow)(void *arg);
static struct sigaction old;
static atomic_bool told;

// Of a thread that has called sb_overflow_guard(); {0} otherwise. It identifies
// the user by the thread, because a signal handler has no other way.
struct guarded {
    const char *guard, *end; // addresses that only an overflow accesses
    void *arg;
    void *fault_stack;
};
static _Thread_local struct guarded guarded;

// Faults of other kinds happen again as soon as this returns; signals that
// were sent do not.
static void act_as_before(int sig, const siginfo_t *info)
{
    sigaction(sig, &old, NULL);
    if (info->si_code <= 0)
        raise(sig);
}

// Whether an access to the address overflows the stack of the fiber or thread
// that runs; *arg: for its message.
static bool overflows(const char *address, void **arg)
{
    const struct sb_fiber *f = sb_fiber_current();

    if (f) {
        *arg = f->context.arg;
        return sb_context_guards(&f->context, address);
    }
    *arg = guarded.arg;
    return address >= guarded.guard && address < guarded.end;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    void *arg;

    (void)context;
    if (info->si_code <= 0 || !overflows(info->si_addr, &arg)) {
        act_as_before(sig, info);
        return;
    }
    // Another thread that overflows meanwhile waits for the end.
    while (atomic_exchange(&told, true))
        pause();
    say_overflow(arg);
    _exit(EXIT_FAILURE);
}

void sb_overflow_catch(void (*say)(void *arg))
{
    struct sigaction action = { .sa_sigaction = on_fault,
        .sa_flags = SA_SIGINFO | SA_ONSTACK };

    if (!CATCH)
        return;
    sigemptyset(&action.sa_mask);
    if (!say_overflow && sigaction(SIGSEGV, &action, &old))
        return;
    say_overflow = say;
}

static size_t stack_size(void)
{
#ifdef _SC_SIGSTKSZ
    long size = sysconf(_SC_SIGSTKSZ);

    if (size > STACK_MIN)
        return (size_t)size;
#endif
    return STACK_MIN;
}

// Sets up a stack on which the calling thread runs the handler, and returns it.
// Returns NULL if that fails: an overflow then ends the process without a
// message.
static void *fault_stack_new(void)
{
    stack_t stack = { .ss_size = stack_size() };

    if (!say_overflow)
        return NULL;
    stack.ss_sp = malloc(stack.ss_size);
    if (stack.ss_sp && sigaltstack(&stack, NULL)) {
        free(stack.ss_sp);
        return NULL;
    }
    return stack.ss_sp;
}

static void fault_stack_free(void *stack)
{
    stack_t none = { .ss_flags = SS_DISABLE };

    if (!stack)
        return;
    sigaltstack(&none, NULL);
    free(stack);
}

void sb__overflow_begin(struct sb_loop *l)
{
    l->fault_stack = fault_stack_new();
}

void sb__overflow_end(struct sb_loop *l)
{
    fault_stack_free(l->fault_stack);
    l->fault_stack = NULL;
}

void sb_overflow_guard(void *arg)
{
    pthread_attr_t attr;
    void *base;
    size_t size, guard;

    assert(!guarded.fault_stack);
    if (pthread_getattr_np(pthread_self(), &attr))
        return;
    if (pthread_attr_getstack(&attr, &base, &size) == 0 &&
        pthread_attr_getguardsize(&attr, &guard) == 0) {
        guarded = (struct guarded){ .guard = (char *)base - guard,
            .end = base,
            .arg = arg,
            .fault_stack = fault_stack_new() };
        // The stack of the main thread has no guard. The kernel extends it up
        // to the limit: a fault in what could be stack is a refused extension.
        if (guard == 0) {
            guarded.guard = (char *)base - SB_OVERFLOW_GUARD;
            guarded.end = (char *)base + size;
        }
    }
    pthread_attr_destroy(&attr);
}

void sb_overflow_unguard(void)
{
    fault_stack_free(guarded.fault_stack);
    guarded = (struct guarded){ 0 };
}
