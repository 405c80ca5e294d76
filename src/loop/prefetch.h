// SPDX-License-Identifier: GPL-2.0-or-later
//
// Memory that a fiber uses as soon as it continues. The loop has the processor
// fetch it while the fiber before that one runs. With hundreds of users, none
// of it is in the caches any more, and without this the processor would wait
// for each piece in turn: docs/internals/loop.md, Caches.
//
// The owner of the memory sets its address whenever that changes. The memory
// may be freed later: prefetching an address that is not mapped has no effect.
// Only the thread of the fiber may use these functions.
#ifndef SB_LOOP_PREFETCH_H
#define SB_LOOP_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#define SB_PREFETCH_LINE 64u
#ifndef SB_PREFETCH_FETCH // a test sees the addresses
#define SB_PREFETCH_FETCH(address) __builtin_prefetch((const void *)(address))
#endif

// Numbers of ranges. Modules with several ranges name them themselves.
enum sb_prefetch_slot {
    SB_PREFETCH_REQUEST, // of io.h
    SB_PREFETCH_ANSWER,
    SB_PREFETCH_OWNER,                         // of the fiber's owner
    SB_PREFETCH_CALLS = SB_PREFETCH_OWNER + 3, // of calls that wait
    SB_PREFETCH_SLOTS = SB_PREFETCH_CALLS + 8
};

struct sb_prefetch {
    // The address of the first cache line, plus the number of lines.
    uintptr_t range[SB_PREFETCH_SLOTS];
};

// A range as it is in struct sb_prefetch. size: in bytes; what exceeds 63 cache
// lines is left out.
static inline uintptr_t sb_prefetch_range(const void *start, size_t size)
{
    uintptr_t first = (uintptr_t)start & ~(uintptr_t)(SB_PREFETCH_LINE - 1);
    size_t lines = ((uintptr_t)start + size - first + SB_PREFETCH_LINE - 1) /
                   SB_PREFETCH_LINE;

    return first | (lines < SB_PREFETCH_LINE ? lines : SB_PREFETCH_LINE - 1);
}

static inline void sb_prefetch_set(
    struct sb_prefetch *p, unsigned slot, const void *start, size_t size)
{
    p->range[slot] = sb_prefetch_range(start, size);
}

static inline void sb_prefetch_lines(uintptr_t first, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        SB_PREFETCH_FETCH(first + i * SB_PREFETCH_LINE);
    // Compilers drop calls of functions that only prefetch.
    __asm__ volatile("");
}

static inline void sb_prefetch_all(const struct sb_prefetch *p)
{
    for (int i = 0; i < SB_PREFETCH_SLOTS; i++)
        sb_prefetch_lines(p->range[i] & ~(uintptr_t)(SB_PREFETCH_LINE - 1),
            p->range[i] & (SB_PREFETCH_LINE - 1));
}

#endif
