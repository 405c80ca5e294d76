// SPDX-License-Identifier: GPL-2.0-or-later
//
// SB_TSAN is defined in a build with the thread sanitizer.
#ifndef SB_TSAN_H
#define SB_TSAN_H

// clang's name, and gcc's.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SB_TSAN
#endif
#elif defined(__SANITIZE_THREAD__)
#define SB_TSAN
#endif

#endif
