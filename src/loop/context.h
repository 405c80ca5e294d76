// SPDX-License-Identifier: GPL-2.0-or-later
//
// A function that runs on a stack of its own and can be left in the middle:
// the stack of a fiber and the switches to and from it. Boost.Context switches;
// this file adds the stack with its guard, and what the sanitizers need to know
// about a switch.
//
// Threads: a context is resumed by one thread at a time. Loops resume each of
// their contexts in one thread only, because compilers may keep the address of
// a thread-local variable across a call that switches.
#ifndef SB_LOOP_CONTEXT_H
#define SB_LOOP_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

// Size of the guards below stacks, a multiple of every size of pages. It must
// be larger than the variables of any function, which may not touch all of
// them: Lua's functions on strings have 8 KiB, those of client libraries more.
#define SB_OVERFLOW_GUARD ((size_t)65536)

struct sb_context {
    void *at;     // where it continues when it is resumed
    void *caller; // where its caller continues when it is left
    void (*run)(void *arg);
    void *arg;
    char *base;  // lowest address of the mapping: the guard
    size_t size; // of the mapping, with the guard
    bool inside; // the context runs
    bool over;   // run() has returned
    // Of the sanitizers: the fiber of each side, and the stack of the caller.
    void *own_fiber, *caller_fiber;
    void *own_fake, *caller_fake;
    const void *caller_bottom;
    size_t caller_size;
};

// Maps a stack of at least `stack` bytes with a guard below it. run(arg) begins
// with the first sb_context_resume(). 0, or SB_ENOMEM with errno set.
int sb_context_init(
    struct sb_context *c, size_t stack, void (*run)(void *arg), void *arg);
// Frees the stack, with everything that run() has left on it. Must not be
// called while run() executes. {0} is allowed.
void sb_context_done(struct sb_context *c);
// Whether an address is in the guard: an access to it overflows the stack.
// Async-signal-safe.
bool sb_context_guards(const struct sb_context *c, const void *address);
// Continues run() until it calls sb_context_leave() or returns. errno belongs
// to the side that runs: both functions leave it as it was for their caller.
void sb_context_resume(struct sb_context *c);
// Has the processor fetch what the context needs first when it is resumed.
void sb_context_prefetch(const struct sb_context *c);
// Called by run(): returns to the caller of sb_context_resume() until the next
// one.
void sb_context_leave(struct sb_context *c);
// Called by run(): returns the pages of the stack below the caller's frame to
// the system. They are zero when they are used again.
void sb_context_trim(const struct sb_context *c);

#endif
