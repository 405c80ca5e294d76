// SPDX-License-Identifier: GPL-2.0-or-later
//
// SB_ASAN is defined in a build with the address sanitizer.
#ifndef SB_ASAN_H
#define SB_ASAN_H

// clang's name, and gcc's.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SB_ASAN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SB_ASAN
#endif

#endif
