// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // _SC_SIGSTKSZ
#include "loop/overflow.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "kit/asan.h"
#include "kit/tsan.h"
#include "loop/loop_private.h"

#if !defined(SB_ASAN) && !defined(SB_TSAN)
#define CATCH 1
#else
#define CATCH 0
#endif

// The handler needs less; the kernel saves the registers here, too.
#define STACK_MIN 16384

// Set before any loop runs. The action before ours: the default, as a rule.
static void (*say_overflow)(void *arg);
static struct sigaction old;

// Faults of other kinds happen again as soon as this returns; signals that
// were sent do not.
static void act_as_before(int sig, const siginfo_t *info)
{
    sigaction(sig, &old, NULL);
    if (info->si_code <= 0)
        raise(sig);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    struct sb_fiber *f = sb_fiber_current();

    (void)context;
    if (info->si_code <= 0 || !f ||
        !sb_context_guards(&f->context, info->si_addr)) {
        act_as_before(sig, info);
        return;
    }
    say_overflow(f->context.arg);
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

// Without memory for it, an overflow ends the process without a message.
void sb__overflow_begin(struct sb_loop *l)
{
    stack_t stack = { .ss_size = stack_size() };

    if (!say_overflow)
        return;
    stack.ss_sp = malloc(stack.ss_size);
    if (stack.ss_sp && sigaltstack(&stack, NULL)) {
        free(stack.ss_sp);
        stack.ss_sp = NULL;
    }
    l->fault_stack = stack.ss_sp;
}

void sb__overflow_end(struct sb_loop *l)
{
    stack_t none = { .ss_flags = SS_DISABLE };

    if (!l->fault_stack)
        return;
    sigaltstack(&none, NULL);
    free(l->fault_stack);
    l->fault_stack = NULL;
}
