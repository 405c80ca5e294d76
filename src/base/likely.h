// SPDX-License-Identifier: GPL-2.0-or-later
//
// Branch hints for code that runs in every event.
#ifndef SB_LIKELY_H
#define SB_LIKELY_H

#if defined(__GNUC__)
#define SB_LIKELY(x)   __builtin_expect(!!(x), 1)
#define SB_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define SB_LIKELY(x)   (x)
#define SB_UNLIKELY(x) (x)
#endif

#endif
