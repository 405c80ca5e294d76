// SPDX-License-Identifier: GPL-2.0-or-later
//
// A lock for a few instructions, without a call of the system: ck_spinlock_fas,
// and what the thread sanitizer must know of it, because it does not see into
// the library's assembler code. Not for sections that wait for anything.
#ifndef SB_SPIN_H
#define SB_SPIN_H

#include <ck_spinlock.h>

// gcc's name, and clang's.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SB__SPIN_TSAN
#endif
#elif defined(__SANITIZE_THREAD__)
#define SB__SPIN_TSAN
#endif

#ifdef SB__SPIN_TSAN
#include <sanitizer/tsan_interface.h>
#define SB__SPIN_ACQUIRED(s)  __tsan_acquire(s)
#define SB__SPIN_RELEASING(s) __tsan_release(s)
#else
#define SB__SPIN_ACQUIRED(s)  (void)0
#define SB__SPIN_RELEASING(s) (void)0
#endif

struct sb_spin {
    ck_spinlock_fas_t lock; // {0}: free
};

static inline void sb_spin_lock(struct sb_spin *s)
{
    ck_spinlock_fas_lock(&s->lock);
    SB__SPIN_ACQUIRED(s);
}

static inline void sb_spin_unlock(struct sb_spin *s)
{
    SB__SPIN_RELEASING(s);
    ck_spinlock_fas_unlock(&s->lock);
}

#endif
