// SPDX-License-Identifier: GPL-2.0-or-later
//
// Why a thread or a stack could not be created.
#ifndef SB_THREAD_ERROR_H
#define SB_THREAD_ERROR_H

#include <stddef.h>

// Writes the likely reason why pthread_create() failed: rc is its return value,
// stack the requested stack size in bytes.
void sb__thread_error(int rc, size_t stack, char *out, size_t size);
// The same for a stack of this many bytes, of a thread or a fiber, for which
// the system refused memory.
void sb__stack_error(size_t stack, char *out, size_t size);

#endif
