// SPDX-License-Identifier: GPL-2.0-or-later
#define _DEFAULT_SOURCE
#include "measure/hist.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BYTES (SB_HIST_BUCKETS * sizeof(uint64_t))

_Static_assert(sizeof(_Atomic uint64_t) == sizeof(uint64_t),
    "a bucket is one plain word, so that fresh pages are valid counters");
_Static_assert(SB_HIST_BUCKETS % SB_HIST_CHUNK == 0, "chunks are whole");

// mmap rather than calloc: malloc may return recycled memory, which calloc has
// to clear, so that every page of it would be resident at once.
int sb_hist_init(struct sb_hist *h, bool shared)
{
    void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    *h = (struct sb_hist){ .shared = shared };
    if (p == MAP_FAILED)
        return SB_ENOMEM;
    h->bucket = p;
    return 0;
}

void sb_hist_done(struct sb_hist *h)
{
    if (h->bucket)
        munmap((void *)h->bucket, BYTES);
    h->bucket = NULL;
}

// The number of bits by which values are shifted right to find the bucket.
static unsigned bucket_shift(uint32_t index)
{
    return index < 2 * SB_HIST_SUB ? 0 : (index >> SB_HIST_SUB_BITS) - 1;
}

uint64_t sb_hist_low(uint32_t index)
{
    unsigned shift = bucket_shift(index);

    return (uint64_t)(index - (shift << SB_HIST_SUB_BITS)) << shift;
}

uint64_t sb_hist_width(uint32_t index)
{
    return UINT64_C(1) << bucket_shift(index);
}

void sb_hist_snap_done(struct sb_hist_snap *s)
{
    for (uint32_t c = 0; c < SB_HIST_CHUNKS; c++)
        free(s->chunk[c]);
    *s = (struct sb_hist_snap){ 0 };
}

static uint64_t *chunk_get(struct sb_hist_snap *s, uint32_t c)
{
    if (!s->chunk[c])
        s->chunk[c] = calloc(SB_HIST_CHUNK, sizeof(uint64_t));
    return s->chunk[c];
}

// Counts never decrease between snapshots of one reader: each bucket and each
// flag is read in its own modification order. A count whose flag is not
// visible yet is included in the next snapshot. If a count is visible here, so
// is what its writer did before, so counters that are read later include it.
int sb_hist_snap_add_live(struct sb_hist_snap *s, const struct sb_hist *h)
{
    for (uint32_t c = 0; c < SB_HIST_CHUNKS; c++) {
        if (!atomic_load_explicit(&h->touched[c], memory_order_relaxed))
            continue;
        _Atomic uint64_t *from = h->bucket + c * SB_HIST_CHUNK;
        uint64_t *to = chunk_get(s, c);

        if (!to)
            return SB_ENOMEM;
        for (uint32_t i = 0; i < SB_HIST_CHUNK; i++) {
            uint64_t n = atomic_load_explicit(&from[i], memory_order_acquire);

            to[i] += n;
            s->total += n;
        }
    }
    return 0;
}

int sb_hist_snap_add(struct sb_hist_snap *s, const struct sb_hist_snap *b)
{
    for (uint32_t c = 0; c < SB_HIST_CHUNKS; c++) {
        if (!b->chunk[c])
            continue;
        uint64_t *to = chunk_get(s, c);

        if (!to)
            return SB_ENOMEM;
        for (uint32_t i = 0; i < SB_HIST_CHUNK; i++)
            to[i] += b->chunk[c][i];
    }
    s->total += b->total;
    return 0;
}

int sb_hist_snap_put(struct sb_hist_snap *s, uint32_t index, uint64_t count)
{
    uint64_t *to;

    if (index >= SB_HIST_BUCKETS)
        return SB_ERANGE;
    to = chunk_get(s, index / SB_HIST_CHUNK);
    if (!to)
        return SB_ENOMEM;
    to[index % SB_HIST_CHUNK] += count;
    s->total += count;
    return 0;
}

static int chunk_sub(struct sb_hist_snap *out, uint32_t c,
    const uint64_t *later, const uint64_t *earlier)
{
    for (uint32_t i = 0; i < SB_HIST_CHUNK; i++) {
        uint64_t was = earlier ? earlier[i] : 0;
        uint64_t *to;

        assert(later[i] >= was);
        if (later[i] == was)
            continue;
        to = chunk_get(out, c);
        if (!to)
            return SB_ENOMEM;
        to[i] = later[i] - was;
        out->total += to[i];
    }
    return 0;
}

int sb_hist_snap_sub(struct sb_hist_snap *out, const struct sb_hist_snap *later,
    const struct sb_hist_snap *earlier)
{
    assert(out != later && out != earlier);
    sb_hist_snap_done(out);
    for (uint32_t c = 0; c < SB_HIST_CHUNKS; c++) {
        int rc;

        assert(later->chunk[c] || !earlier->chunk[c]);
        if (!later->chunk[c])
            continue;
        rc = chunk_sub(out, c, later->chunk[c], earlier->chunk[c]);
        if (rc)
            return rc;
    }
    return 0;
}

void sb_hist_snap_move(struct sb_hist_snap *to, struct sb_hist_snap *from)
{
    if (to == from)
        return;
    sb_hist_snap_done(to);
    *to = *from;
    *from = (struct sb_hist_snap){ 0 };
}

uint64_t sb_hist_snap_count(const struct sb_hist_snap *s, uint32_t index)
{
    const uint64_t *chunk;

    if (index >= SB_HIST_BUCKETS)
        return 0;
    chunk = s->chunk[index / SB_HIST_CHUNK];
    return chunk ? chunk[index % SB_HIST_CHUNK] : 0;
}

// Returns the first bucket at or after `index` with a count, or
// SB_HIST_BUCKETS if there is none.
static uint32_t next_used(const struct sb_hist_snap *s, uint32_t index)
{
    while (index < SB_HIST_BUCKETS) {
        if (!s->chunk[index / SB_HIST_CHUNK])
            index += SB_HIST_CHUNK - index % SB_HIST_CHUNK;
        else if (!sb_hist_snap_count(s, index))
            index++;
        else
            break;
    }
    return index;
}

bool sb_hist_snap_bounds(
    const struct sb_hist_snap *s, uint64_t *min, uint64_t *max)
{
    uint32_t first = next_used(s, 0), last = first;

    if (first == SB_HIST_BUCKETS)
        return false;
    for (uint32_t i = first; i < SB_HIST_BUCKETS; i = next_used(s, i + 1))
        last = i;
    *min = sb_hist_low(first);
    *max = sb_hist_low(last) + sb_hist_width(last) - 1;
    return true;
}

// The number of counts below the percentile. 99.9 % of 1,000 must be 999 and
// not 999.0000000000001, which would select the value after the gap.
static double percentile_rank(uint64_t total, double pct)
{
    double rank = (double)total * pct / 100, whole = nearbyint(rank);

    return fabs(rank - whole) <= 1e-9 * whole ? whole : rank;
}

double sb_hist_snap_percentile(
    const struct sb_hist_snap *s, double pct, uint64_t max)
{
    uint64_t lowest, highest;
    double rank, below = 0, value = 0;

    if (!sb_hist_snap_bounds(s, &lowest, &highest))
        return 0;
    if (max == UINT64_MAX)
        max = highest;
    if (pct >= 100)
        return (double)max;
    rank = percentile_rank(s->total, pct > 0 ? pct : 0);
    for (uint32_t i = next_used(s, 0); i < SB_HIST_BUCKETS;
         i = next_used(s, i + 1)) {
        double n = (double)sb_hist_snap_count(s, i);

        value = (double)sb_hist_low(i);
        // A bucket of width 1 holds only one value.
        if (sb_hist_width(i) > 1)
            value += (double)sb_hist_width(i) * fmin((rank - below) / n, 1);
        below += n;
        if (below >= rank)
            break;
    }
    return fmin(value, (double)max);
}

void sb_hist_snap_each(const struct sb_hist_snap *s,
    void (*visit)(void *arg, uint64_t low, uint64_t width, uint64_t count),
    void *arg)
{
    for (uint32_t i = next_used(s, 0); i < SB_HIST_BUCKETS;
         i = next_used(s, i + 1))
        visit(arg, sb_hist_low(i), sb_hist_width(i), sb_hist_snap_count(s, i));
}
