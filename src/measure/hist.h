// SPDX-License-Identifier: GPL-2.0-or-later
//
// Log-linear histogram of nanoseconds: 64-bit counts, buckets at most 0.1 %
// wide from 1 us on (exact below 2 us), values up to 78 hours. Cumulative:
// writers only add, readers take snapshots and subtract them. Pure.
#ifndef SB_HIST_H
#define SB_HIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/likely.h"

#define SB_HIST_SUB_BITS 10
#define SB_HIST_SUB      (1u << SB_HIST_SUB_BITS) // buckets per octave
#define SB_HIST_TOP_BIT  47                       // values below 2^48 ns
#define SB_HIST_BUCKETS  ((SB_HIST_TOP_BIT - SB_HIST_SUB_BITS + 2) * SB_HIST_SUB)
#define SB_HIST_CHUNK    512u // buckets per word of flags: a page
#define SB_HIST_CHUNKS   (SB_HIST_BUCKETS / SB_HIST_CHUNK)
#define SB_HIST_LINE     8u // buckets per flag: a cache line

// Live histogram. With shared = false it has one writer (plain relaxed loads
// and stores), with shared = true several (atomic adds). Any thread may read.
// Untouched pages use no memory.
struct sb_hist {
    _Atomic uint64_t *bucket; // SB_HIST_BUCKETS, zero pages until touched
    bool shared;
    // A flag per line of buckets: counts were added since the last
    // sb_hist_reader_take(). What that has cleared is kept in touched.
    _Atomic uint64_t fresh[SB_HIST_CHUNKS];
    _Atomic uint64_t touched[SB_HIST_CHUNKS];
    // A flag per pair of chunks: one of their lines is fresh.
    _Atomic uint64_t fresh_pairs;
};

int sb_hist_init(struct sb_hist *h, bool shared); // 0 or SB_ENOMEM
void sb_hist_done(struct sb_hist *h);             // {0} allowed

// Several of them, one per shard. NULL if out of memory.
struct sb_hist *sb_hists_new(unsigned n, bool shared);
void sb_hists_free(struct sb_hist *h, unsigned n); // NULL allowed

// The bucket of a value. Values of 2^48 ns and more are in the last bucket.
static inline uint32_t sb_hist_index(uint64_t ns)
{
    unsigned shift = 0;

    if (SB_UNLIKELY(ns >> (SB_HIST_TOP_BIT + 1)))
        return SB_HIST_BUCKETS - 1;
    if (ns >= 2 * SB_HIST_SUB)
        shift = 63 - SB_HIST_SUB_BITS - (unsigned)__builtin_clzll(ns);
    return (shift << SB_HIST_SUB_BITS) + (uint32_t)(ns >> shift);
}

// Lowest value of a bucket and its width, nanoseconds.
uint64_t sb_hist_low(uint32_t index);
uint64_t sb_hist_width(uint32_t index);

static inline uint64_t sb__hist_pair(uint32_t chunk)
{
    return UINT64_C(1) << chunk / 2;
}

// Flags a line of buckets for sb_hist_reader_take(). With seq_cst: either the
// reader sees the flag of the line, or this sees that the flag of the pair was
// cleared.
static inline void sb__hist_flag(
    struct sb_hist *h, uint32_t chunk, uint64_t line)
{
    uint64_t pair = sb__hist_pair(chunk);

    atomic_fetch_or_explicit(&h->fresh[chunk], line, memory_order_seq_cst);
    if (!(atomic_load_explicit(&h->fresh_pairs, memory_order_seq_cst) & pair))
        atomic_fetch_or_explicit(&h->fresh_pairs, pair, memory_order_seq_cst);
}

// Counts a value. A reader that sees the count also sees what the writer did
// before (release).
static inline void sb_hist_record(struct sb_hist *h, uint64_t ns)
{
    uint32_t i = sb_hist_index(ns);
    uint32_t chunk = i / SB_HIST_CHUNK;
    uint64_t line = UINT64_C(1) << (i / SB_HIST_LINE) % 64;

    if (h->shared) {
        atomic_fetch_add_explicit(&h->bucket[i], 1, memory_order_release);
    } else {
        uint64_t n = atomic_load_explicit(&h->bucket[i], memory_order_relaxed);
        atomic_store_explicit(&h->bucket[i], n + 1, memory_order_release);
    }
    // The compiler keeps the order of the count and its flag; see
    // sb_hist_reader_take().
    atomic_signal_fence(memory_order_seq_cst);
    // Loaded before it is changed: a change each time would move the cache line
    // of the flags between the writers of a shared histogram.
    if (!(atomic_load_explicit(&h->fresh[chunk], memory_order_relaxed) & line))
        sb__hist_flag(h, chunk, line);
}

// A plain copy for arithmetic: the sum of several live histograms, or the
// difference of two snapshots. Sparse: only chunks with counts are allocated.
struct sb_hist_chunk {
    uint64_t total; // sum of the counts; may be 0
    uint64_t lines; // a flag per line that may have counts; others are 0
    uint64_t n[SB_HIST_CHUNK];
};

struct sb_hist_snap {
    struct sb_hist_chunk *chunk[SB_HIST_CHUNKS]; // or NULL
    uint64_t total;                              // sum of all counts
};

void sb_hist_snap_done(struct sb_hist_snap *s); // {0} allowed
// Sets all counts to 0 and keeps the memory.
void sb_hist_snap_clear(struct sb_hist_snap *s);
// s += h. 0 or SB_ENOMEM (s is then unusable, but can be freed).
int sb_hist_snap_add_live(struct sb_hist_snap *s, const struct sb_hist *h);
int sb_hist_snap_add(struct sb_hist_snap *s, const struct sb_hist_snap *b);
// Adds `count` to one bucket; for readers of result files. 0, SB_ENOMEM, or
// SB_ERANGE if the bucket does not exist.
int sb_hist_snap_put(struct sb_hist_snap *s, uint32_t index, uint64_t count);
// out = later - earlier, two snapshots of the same histograms by one reader.
// out is freed first and must be neither of the two. 0 or SB_ENOMEM.
int sb_hist_snap_sub(struct sb_hist_snap *out, const struct sb_hist_snap *later,
    const struct sb_hist_snap *earlier);
uint64_t sb_hist_snap_count(const struct sb_hist_snap *s, uint32_t index);
// The lowest and highest value, in nanoseconds, that the counted values can
// have; false if the histogram is empty.
bool sb_hist_snap_bounds(
    const struct sb_hist_snap *s, uint64_t *min, uint64_t *max);
// Returns the value in nanoseconds below which pct % of the counts lie,
// interpolated inside buckets wider than 1 ns; 0 if empty. The result is at
// most max, and equal to it at 100 %. max: the exact maximum; UINT64_MAX if
// unknown, which stands for the highest value of the last bucket.
double sb_hist_snap_percentile(
    const struct sb_hist_snap *s, double pct, uint64_t max);
// Calls visit for every bucket with a count, in ascending order.
void sb_hist_snap_each(const struct sb_hist_snap *s,
    void (*visit)(void *arg, uint64_t low, uint64_t width, uint64_t count),
    void *arg);

// The counts of a live histogram that its reader has already taken.
struct sb_hist_reader {
    uint64_t *seen;            // SB_HIST_BUCKETS, zero pages until used
    bool used[SB_HIST_CHUNKS]; // whose page has been written
};

int sb_hist_reader_init(struct sb_hist_reader *r);  // 0 or SB_ENOMEM
void sb_hist_reader_done(struct sb_hist_reader *r); // {0} allowed
// Adds to *to what was counted in h since the last call for this reader, always
// with the same h. One reader and one thread per histogram; writers continue.
// Only reads lines whose flag is set, and clears the flags. A count that is
// added at the same time may be left to a later call: to the next for its line,
// or the next with all = true, which reads every line with counts. 0 or
// SB_ENOMEM (*to is then incomplete).
int sb_hist_reader_take(struct sb_hist_reader *r, struct sb_hist *h, bool all,
    struct sb_hist_snap *to);

#endif
