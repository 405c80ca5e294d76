// SPDX-License-Identifier: GPL-2.0-or-later
//
// A hostile server also triggers bugs of client libraries. They must not end
// the search for bugs of the drivers: an input that crashes a library is
// abandoned, and the next one starts.
#define _GNU_SOURCE // dladdr()
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "hostile.h"

#define PUBLIC __attribute__((visibility("default")))
// Number of innermost frames to check for the library: it may have called the C
// library, which a sanitizer may intercept.
#define FRAMES 3

static sigjmp_buf before_call;
static pthread_t thread;
static volatile sig_atomic_t running;
static unsigned abandoned;
static struct sigaction before_segv, before_bus;

// Called by the sanitizers --------------------------------------------------

// A number in an answer may request any amount of memory; beyond this limit,
// malloc() fails.
PUBLIC const char *__asan_default_options(void);
PUBLIC const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=256";
}

// MariaDB's library trusts the lengths in an answer.
PUBLIC const char *__asan_default_suppressions(void);
PUBLIC const char *__asan_default_suppressions(void)
{
    return "interceptor_via_lib:libpq.so\ninterceptor_via_lib:libmariadb.so\n"
           "interceptor_via_lib:libmysqlclient.so\n";
}

// libpq leaks results if messages are out of order.
PUBLIC const char *__lsan_default_suppressions(void);
PUBLIC const char *__lsan_default_suppressions(void)
{
    return "leak:libpq.so\nleak:libmariadb.so\nleak:libmysqlclient.so\n";
}

PUBLIC const char *__lsan_default_options(void);
PUBLIC const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

// The memory of an abandoned input is not freed.
PUBLIC int __lsan_is_turned_off(void);
PUBLIC int __lsan_is_turned_off(void)
{
    return abandoned > 0;
}

// Crashes -------------------------------------------------------------------

static bool in_library(const void *address)
{
    static const char *const names[] = { "libmariadb", "libmysqlclient",
        "libpq" };
    Dl_info info;

    if (!dladdr(address, &info) || !info.dli_fname)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strstr(info.dli_fname, names[i]))
            return true;
    }
    return false;
}

// Returns the caller of a NULL function pointer, which has no frame; otherwise
// NULL.
static void *caller_of_null(const ucontext_t *u)
{
#if defined(__x86_64__)
    void *const *top = (void *const *)u->uc_mcontext.gregs[REG_RSP];

    return u->uc_mcontext.gregs[REG_RIP] == 0 ? *top : NULL;
#elif defined(__aarch64__)
    return u->uc_mcontext.pc == 0 ? (void *)u->uc_mcontext.regs[30] : NULL;
#else
    return NULL;
#endif
}

// Returns whether a client library crashed. The frames of this handler come
// first, then the C library's signal frame.
static bool by_library(const ucontext_t *u)
{
    void *frame[32];
    int n = backtrace(frame, 32), first = 0;
    Dl_info self, other;

    dladdr((void *)(uintptr_t)by_library, &self);
    while (first < n && dladdr(frame[first], &other) &&
           other.dli_fbase == self.dli_fbase)
        first++;
    first++;
    for (int i = first; i < n && i < first + FRAMES; i++) {
        if (in_library(frame[i]))
            return true;
    }
    return in_library(caller_of_null(u));
}

static void crashed(int number, siginfo_t *info, void *context)
{
    struct sigaction *before = number == SIGSEGV ? &before_segv : &before_bus;

    if (running && pthread_equal(pthread_self(), thread) && by_library(context))
        siglongjmp(before_call, 1);
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(number, info, context);
        return;
    }
    signal(number, SIG_DFL); // the instruction runs again and ends the process
}

static void install(void)
{
    struct sigaction a = { .sa_flags = SA_SIGINFO | SA_NODEFER };

    a.sa_sigaction = crashed;
    sigaction(SIGSEGV, &a, &before_segv);
    sigaction(SIGBUS, &a, &before_bus);
}

bool hostile_try(void (*call)(void *arg), void *arg)
{
    static bool installed;

    if (!installed)
        install();
    installed = true;
    thread = pthread_self();
    if (sigsetjmp(before_call, 1)) {
        running = 0;
        if (abandoned++ == 0)
            fprintf(stderr,
                "the client library crashed: such inputs are abandoned\n");
        return false;
    }
    running = 1;
    call(arg);
    running = 0;
    return true;
}
