// SPDX-License-Identifier: GPL-2.0-or-later
//
// The sequences of one script. sequence.ffi.h tells what they do.
#ifndef SB_SEQUENCE_H
#define SB_SEQUENCE_H

#include <pthread.h>

#include "script/sequence.ffi.h"

#define SB_SEQUENCE_BUCKETS 256

struct sb_sequences {
    pthread_mutex_t lock; // for the lists; the numbers need none
    struct sb_sequence *bucket[SB_SEQUENCE_BUCKETS];
};

// Owner thread, before and after all use.
void sb_sequences_init(struct sb_sequences *all);
void sb_sequences_done(struct sb_sequences *all);

#endif
