// SPDX-License-Identifier: GPL-2.0-or-later
//
// A lock for a few instructions, without a call of the system: ck_spinlock_fas.
// Not for sections that wait for anything. The thread sanitizer sees neither
// into the library's assembler code nor, with its compiler builtins, which
// accesses are atomic, so its build has a lock of C11 atomics.
#ifndef SB_SPIN_H
#define SB_SPIN_H

#include "kit/tsan.h"

#ifdef SB_TSAN

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

struct sb_spin {
    _Atomic bool held; // {0}: free
};

static inline void sb_spin_lock(struct sb_spin *s)
{
    while (atomic_exchange_explicit(&s->held, true, memory_order_acquire))
        sched_yield();
}

static inline void sb_spin_unlock(struct sb_spin *s)
{
    atomic_store_explicit(&s->held, false, memory_order_release);
}

#else

#include <ck_spinlock.h>

struct sb_spin {
    ck_spinlock_fas_t lock; // {0}: free
};

static inline void sb_spin_lock(struct sb_spin *s)
{
    ck_spinlock_fas_lock(&s->lock);
}

static inline void sb_spin_unlock(struct sb_spin *s)
{
    ck_spinlock_fas_unlock(&s->lock);
}

#endif

#endif
