// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loads of variables that one user writes while others read them.
#ifndef SB_LOADS_PRIVATE_H
#define SB_LOADS_PRIVATE_H

#include <stdatomic.h>
#include <stdint.h>

static inline uint64_t sb__load_count(const _Atomic uint64_t *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

// After this load, everything that the writer did before it changed the count
// is visible.
static inline uint64_t sb__load_first(const _Atomic uint64_t *c)
{
    return atomic_load_explicit(c, memory_order_acquire);
}

static inline double sb__load_value(const _Atomic double *v)
{
    return atomic_load_explicit(v, memory_order_relaxed);
}

#endif
