// SPDX-License-Identifier: GPL-2.0-or-later
//
// A lock with a condition.
#ifndef SB_LOCK_H
#define SB_LOCK_H

#include <pthread.h>

// Initializes both, the condition with the monotonic clock. 0 or SB_ENOMEM.
int sb__lock_init(pthread_mutex_t *lock, pthread_cond_t *cond);

#endif
