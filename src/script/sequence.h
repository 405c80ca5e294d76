// SPDX-License-Identifier: GPL-2.0-or-later
//
// The sequences of one script, see sequence.ffi.h.
#ifndef SB_SEQUENCE_H
#define SB_SEQUENCE_H

#include <pthread.h>

#include "base/wire.h"
#include "script/sequence.ffi.h"

#define SB_SEQUENCE_BUCKETS 256

#define SB_SEQUENCE_BLOCK  1024
#define SB_SEQUENCE_WINDOW 16384 // a power of two

struct sb_sequences {
    pthread_mutex_t lock; // protects the lists; the numbers are atomic
    struct sb_sequence *bucket[SB_SEQUENCE_BUCKETS];
    unsigned rank, ranks;
};

// Called by the owner before the first and after the last use. rank, ranks: of
// this process, which takes blocks of SB_SEQUENCE_BLOCK numbers; ranks <= 1:
// all.
void sb_sequences_init(struct sb_sequences *all, unsigned rank, unsigned ranks);
void sb_sequences_done(struct sb_sequences *all);

// The positions of all sequences of the run, for the other ranks: they only
// return greater numbers then. A failure is in b->failed.
void sb_sequences_write(struct sb_sequences *all, struct sb_buf *b);
// SB_ENOMEM; SB_EINTERNAL: invalid data.
int sb_sequences_read(
    struct sb_sequences *all, struct sb_wire *w, struct sb_err *err);

#endif
