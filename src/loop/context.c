// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // MAP_NORESERVE
#include "loop/context.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "kit/asan.h"
#include "kit/tsan.h"
#include "loop/prefetch.h"

// Bytes of a stack with the frames between a wait and the loop of the script.
#define PREFETCHED 1024
#define GUARD      SB_OVERFLOW_GUARD

// Boost.Context has a C interface without a header for C. These declarations
// are valid from Boost 1.61 on.
struct transfer {
    void *from; // the context that was left
    void *data;
};
#ifdef SB_FCONTEXT_CXX
#define CXX_NAME(name) __asm__("_ZN5boost7context6detail13" name)
#else
#define CXX_NAME(name)
#endif
extern struct transfer jump_fcontext(void *to, void *data)
    CXX_NAME("jump_fcontextEPvS2_");
extern void *make_fcontext(
    void *stack, size_t size, void (*run)(struct transfer))
    CXX_NAME("make_fcontextEPvmPFvNS1_10transfer_tEE");

#ifdef SB_ASAN
void __sanitizer_start_switch_fiber(
    void **fake_stack_save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(
    void *fake_stack_save, const void **bottom_old, size_t *size_old);
void __asan_unpoison_memory_region(const volatile void *address, size_t size);
#endif

#ifdef SB_TSAN
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#endif

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *stack_bottom(const struct sb_context *c)
{
    return c->base + GUARD;
}

// Called before a switch from the caller's stack. The first call creates the
// sanitizer's fiber, because this must be done in the thread that runs the
// context. The thread sanitizer keeps a stack of calls for each fiber. Between
// its switch of fibers and the switch of stacks, no function may return, so
// going_in() and going_out() are always inlined.
static inline __attribute__((always_inline)) void going_in(struct sb_context *c)
{
#ifdef SB_ASAN
    __sanitizer_start_switch_fiber(
        &c->caller_fake, stack_bottom(c), c->size - GUARD);
#endif
#ifdef SB_TSAN
    if (!c->own_fiber)
        c->own_fiber = __tsan_create_fiber(0);
    c->caller_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(c->own_fiber, 0);
#endif
    assert(!c->inside);
    c->inside = true;
}

// On the context's own stack, after a switch to it.
static void came_in(struct sb_context *c)
{
    (void)c;
#ifdef SB_ASAN
    __sanitizer_finish_switch_fiber(
        c->own_fake, &c->caller_bottom, &c->caller_size);
#endif
}

// On the context's own stack, before it is left.
static inline __attribute__((always_inline)) void going_out(
    struct sb_context *c)
{
#ifdef SB_ASAN
    __sanitizer_start_switch_fiber(
        c->over ? NULL : &c->own_fake, c->caller_bottom, c->caller_size);
#endif
#ifdef SB_TSAN
    __tsan_switch_to_fiber(c->caller_fiber, 0);
#endif
    assert(c->inside);
    c->inside = false;
}

static void came_out(struct sb_context *c)
{
    (void)c;
#ifdef SB_ASAN
    __sanitizer_finish_switch_fiber(c->caller_fake, NULL, NULL);
#endif
}

static void first_run(struct transfer t)
{
    struct sb_context *c = t.data;

    c->caller = t.from;
    came_in(c);
    c->run(c->arg);
    c->over = true;
    going_out(c);
    jump_fcontext(c->caller, NULL);
    assert(!"a context that is over was resumed");
}

int sb_context_init(
    struct sb_context *c, size_t stack, void (*run)(void *arg), void *arg)
{
    size_t page = page_size();
    void *base;

    memset(c, 0, sizeof(*c));
    stack = (stack + page - 1) & ~(page - 1);
    base = mmap(NULL, stack + GUARD, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED)
        return SB_ENOMEM;
    if (mprotect(base, GUARD, PROT_NONE)) {
        int no = errno;

        munmap(base, stack + GUARD);
        errno = no;
        return SB_ENOMEM;
    }
    c->base = base;
    c->size = stack + GUARD;
    c->run = run;
    c->arg = arg;
    c->at = make_fcontext(c->base + c->size, stack, first_run);
    return 0;
}

void sb_context_done(struct sb_context *c)
{
    if (!c->base)
        return;
    assert(!c->inside);
#ifdef SB_TSAN
    if (c->own_fiber)
        __tsan_destroy_fiber(c->own_fiber);
#endif
#ifdef SB_ASAN
    // Functions that did not return leave marks in the shadow memory. liburing
    // maps memory by system calls, which do not clear the marks of an address
    // that is used again.
    __asan_unpoison_memory_region(c->base, c->size);
#endif
    munmap(c->base, c->size);
    c->base = NULL;
}

void sb_context_prefetch(const struct sb_context *c)
{
    sb_prefetch_lines((uintptr_t)c->at, PREFETCHED / SB_PREFETCH_LINE);
}

bool sb_context_guards(const struct sb_context *c, const void *address)
{
    uintptr_t at = (uintptr_t)address, low = (uintptr_t)c->base;

    return at >= low && at < (uintptr_t)stack_bottom(c);
}

void sb_context_resume(struct sb_context *c)
{
    int no = errno;

    assert(c->base && !c->over);
    going_in(c);
    c->at = jump_fcontext(c->at, c).from;
    came_out(c);
    errno = no;
}

void sb_context_leave(struct sb_context *c)
{
    int no = errno;

    going_out(c);
    c->caller = jump_fcontext(c->caller, NULL).from;
    came_in(c);
    errno = no;
}

// The frames of sb_context_trim() and of madvise() together are smaller.
#define FRAME ((uintptr_t)512)

void sb_context_trim(const struct sb_context *c)
{
    size_t page = page_size();
    uintptr_t low = (uintptr_t)stack_bottom(c);
    // The frame of this function is in use. The address of a variable would not
    // do: the address sanitizer moves variables.
    uintptr_t end = ((uintptr_t)__builtin_frame_address(0) - FRAME) &
                    ~(page - 1);

    assert(c->inside);
    if (end > low && end - low < c->size)
        madvise(stack_bottom(c), end - low, MADV_DONTNEED);
}
