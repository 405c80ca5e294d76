// SPDX-License-Identifier: GPL-2.0-or-later
#define _DEFAULT_SOURCE
#include "measure/hist.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES (SB_HIST_BUCKETS * sizeof(uint64_t))

_Static_assert(sizeof(_Atomic uint64_t) == sizeof(uint64_t),
    "a bucket is one plain word, so that fresh pages are valid counters");
_Static_assert(SB_HIST_BUCKETS % SB_HIST_CHUNK == 0, "chunks are whole");
_Static_assert(SB_HIST_CHUNK == 64 * SB_HIST_LINE, "a chunk has 64 flags");
_Static_assert(SB_HIST_CHUNKS <= 2 * 64, "all pairs of chunks have flags");

// mmap rather than calloc: malloc may return recycled memory, which calloc has
// to clear, so that every page of it would be resident at once.
static void *pages_new(void)
{
    void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

int sb_hist_init(struct sb_hist *h, bool shared)
{
    *h = (struct sb_hist){ .bucket = pages_new(), .shared = shared };
    return h->bucket ? 0 : SB_ENOMEM;
}

void sb_hist_done(struct sb_hist *h)
{
    if (h->bucket)
        munmap((void *)h->bucket, BYTES);
    h->bucket = NULL;
}

struct sb_hist *sb_hists_new(unsigned n, bool shared)
{
    struct sb_hist *h = calloc(n, sizeof(*h));

    for (unsigned i = 0; h && i < n; i++) {
        if (sb_hist_init(&h[i], shared)) {
            sb_hists_free(h, i);
            return NULL;
        }
    }
    return h;
}

void sb_hists_free(struct sb_hist *h, unsigned n)
{
    for (unsigned i = 0; h && i < n; i++)
        sb_hist_done(&h[i]);
    free(h);
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

// The number of the first line that is flagged; flags is not 0.
static uint32_t first_line(uint64_t flags)
{
    return (uint32_t)__builtin_ctzll(flags);
}

void sb_hist_snap_clear(struct sb_hist_snap *s)
{
    for (uint32_t c = 0; c < SB_HIST_CHUNKS; c++) {
        struct sb_hist_chunk *chunk = s->chunk[c];

        if (!chunk)
            continue;
        for (; chunk->lines; chunk->lines &= chunk->lines - 1)
            memset(&chunk->n[first_line(chunk->lines) * SB_HIST_LINE], 0,
                SB_HIST_LINE * sizeof(chunk->n[0]));
        chunk->total = 0;
    }
    s->total = 0;
}

static struct sb_hist_chunk *chunk_get(struct sb_hist_snap *s, uint32_t c)
{
    if (!s->chunk[c])
        s->chunk[c] = calloc(1, sizeof(*s->chunk[c]));
    return s->chunk[c];
}

// The flags of all lines that may have counts.
static uint64_t lines_used(const struct sb_hist *h, uint32_t c)
{
    // With acquire: the thread that cleared the flags has set `touched` before.
    uint64_t fresh = atomic_load_explicit(&h->fresh[c], memory_order_acquire);

    return fresh | atomic_load_explicit(&h->touched[c], memory_order_relaxed);
}

// Copies a line of live buckets, so that the compiler can use vectors for what
// follows.
static void line_copy(uint64_t *to, const _Atomic uint64_t *from)
{
    for (uint32_t i = 0; i < SB_HIST_LINE; i++)
        to[i] = atomic_load_explicit(&from[i], memory_order_acquire);
}

static void chunk_add_live(
    struct sb_hist_chunk *to, const _Atomic uint64_t *from, uint64_t lines)
{
    for (; lines; lines &= lines - 1) {
        uint32_t l = first_line(lines);
        uint64_t now[SB_HIST_LINE], sum = 0;

        line_copy(now, from + l * SB_HIST_LINE);
        for (uint32_t i = 0; i < SB_HIST_LINE; i++) {
            to->n[l * SB_HIST_LINE + i] += now[i];
            sum += now[i];
        }
        to->lines |= (uint64_t)(sum > 0) << l;
        to->total += sum;
    }
}

// Counts never decrease between snapshots of one reader: each bucket and each
// flag is read in its own modification order. A count whose flag is not
// visible yet is included in the next snapshot. If a count is visible here, so
// is what its writer did before, so counters that are read later include it.
int sb_hist_snap_add_live(struct sb_hist_snap *s, const struct sb_hist *h)
{
    for (uint32_t c = 0; c < SB_HIST_CHUNKS; c++) {
        uint64_t lines = lines_used(h, c);

        if (!lines)
            continue;
        struct sb_hist_chunk *to = chunk_get(s, c);
        uint64_t before;

        if (!to)
            return SB_ENOMEM;
        before = to->total;
        chunk_add_live(to, h->bucket + c * SB_HIST_CHUNK, lines);
        s->total += to->total - before;
    }
    return 0;
}

static void chunk_add(struct sb_hist_chunk *to, const struct sb_hist_chunk *b)
{
    for (uint64_t lines = b->lines; lines; lines &= lines - 1) {
        uint32_t first = first_line(lines) * SB_HIST_LINE;

        for (uint32_t i = first; i < first + SB_HIST_LINE; i++)
            to->n[i] += b->n[i];
    }
    to->lines |= b->lines;
    to->total += b->total;
}

int sb_hist_snap_add(struct sb_hist_snap *s, const struct sb_hist_snap *b)
{
    for (uint32_t c = 0; c < SB_HIST_CHUNKS; c++) {
        if (!b->chunk[c])
            continue;
        struct sb_hist_chunk *to = chunk_get(s, c);

        if (!to)
            return SB_ENOMEM;
        chunk_add(to, b->chunk[c]);
    }
    s->total += b->total;
    return 0;
}

int sb_hist_snap_put(struct sb_hist_snap *s, uint32_t index, uint64_t count)
{
    struct sb_hist_chunk *to;

    if (index >= SB_HIST_BUCKETS)
        return SB_ERANGE;
    to = chunk_get(s, index / SB_HIST_CHUNK);
    if (!to)
        return SB_ENOMEM;
    to->n[index % SB_HIST_CHUNK] += count;
    to->lines |= UINT64_C(1) << index % SB_HIST_CHUNK / SB_HIST_LINE;
    to->total += count;
    s->total += count;
    return 0;
}

static int chunk_sub(struct sb_hist_snap *out, uint32_t c,
    const struct sb_hist_chunk *later, const struct sb_hist_chunk *earlier)
{
    struct sb_hist_chunk *to;

    if (later->total == (earlier ? earlier->total : 0))
        return 0; // counts only grow, so none has changed
    to = chunk_get(out, c);
    if (!to)
        return SB_ENOMEM;
    for (uint32_t i = 0; i < SB_HIST_CHUNK; i++) {
        uint64_t was = earlier ? earlier->n[i] : 0;

        assert(later->n[i] >= was);
        to->n[i] = later->n[i] - was;
        to->total += to->n[i];
    }
    to->lines = later->lines;
    out->total += to->total;
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

uint64_t sb_hist_snap_count(const struct sb_hist_snap *s, uint32_t index)
{
    const struct sb_hist_chunk *chunk;

    if (index >= SB_HIST_BUCKETS)
        return 0;
    chunk = s->chunk[index / SB_HIST_CHUNK];
    return chunk ? chunk->n[index % SB_HIST_CHUNK] : 0;
}

static bool is_empty(const struct sb_hist_snap *s, uint32_t c)
{
    return !s->chunk[c] || s->chunk[c]->total == 0;
}

// Returns the first bucket of the chunk at or after i with a count, or
// SB_HIST_CHUNK if there is none.
static uint32_t chunk_next_used(const struct sb_hist_chunk *chunk, uint32_t i)
{
    while (i < SB_HIST_CHUNK) {
        uint64_t lines = chunk->lines >> i / SB_HIST_LINE;
        uint32_t end;

        if (!lines)
            return SB_HIST_CHUNK;
        if (!(lines & 1))
            i = (i / SB_HIST_LINE + first_line(lines)) * SB_HIST_LINE;
        end = (i / SB_HIST_LINE + 1) * SB_HIST_LINE;
        while (i < end && chunk->n[i] == 0)
            i++;
        if (i < end)
            return i;
    }
    return i;
}

// Returns the first bucket at or after `index` with a count, or
// SB_HIST_BUCKETS if there is none.
static uint32_t next_used(const struct sb_hist_snap *s, uint32_t index)
{
    while (index < SB_HIST_BUCKETS) {
        uint32_t c = index / SB_HIST_CHUNK;

        if (!is_empty(s, c)) {
            uint32_t i = chunk_next_used(s->chunk[c], index % SB_HIST_CHUNK);

            if (i < SB_HIST_CHUNK)
                return c * SB_HIST_CHUNK + i;
        }
        index = (c + 1) * SB_HIST_CHUNK;
    }
    return index;
}

// Returns the last bucket with a count. The histogram is not empty.
static uint32_t last_used(const struct sb_hist_snap *s)
{
    uint32_t c = SB_HIST_CHUNKS - 1, i;

    while (is_empty(s, c))
        c--;
    i = SB_HIST_CHUNK - 1 -
        (uint32_t)__builtin_clzll(s->chunk[c]->lines) * SB_HIST_LINE;
    while (s->chunk[c]->n[i] == 0)
        i--;
    return c * SB_HIST_CHUNK + i;
}

bool sb_hist_snap_bounds(
    const struct sb_hist_snap *s, uint64_t *min, uint64_t *max)
{
    uint32_t last;

    if (s->total == 0)
        return false;
    last = last_used(s);
    *min = sb_hist_low(next_used(s, 0));
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

// Adds the counts of the chunks before the one with the rank to *below; returns
// the first bucket of that chunk.
static uint32_t chunk_of_rank(
    const struct sb_hist_snap *s, double rank, double *below)
{
    uint32_t c = 0;

    while (is_empty(s, c) || *below + (double)s->chunk[c]->total < rank) {
        if (c == SB_HIST_CHUNKS - 1)
            break;
        *below += is_empty(s, c) ? 0 : (double)s->chunk[c]->total;
        c++;
    }
    return c * SB_HIST_CHUNK;
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
    for (uint32_t i = next_used(s, chunk_of_rank(s, rank, &below));
         i < SB_HIST_BUCKETS; i = next_used(s, i + 1)) {
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

int sb_hist_reader_init(struct sb_hist_reader *r)
{
    memset(r->used, 0, sizeof(r->used));
    r->seen = pages_new();
    return r->seen ? 0 : SB_ENOMEM;
}

void sb_hist_reader_done(struct sb_hist_reader *r)
{
    if (r->seen)
        munmap(r->seen, BYTES);
    r->seen = NULL;
}

// Clears the flags of a chunk, and adds the numbers of its lines that must be
// read to `list`, which has n. Returns the new number.
static unsigned lines_take(struct sb_hist_reader *r, struct sb_hist *h,
    uint32_t c, bool all, uint16_t *list, unsigned n)
{
    uint64_t lines = atomic_load_explicit(&h->fresh[c], memory_order_seq_cst);

    if (lines) {
        atomic_fetch_or_explicit(&h->touched[c], lines, memory_order_relaxed);
        atomic_fetch_and_explicit(&h->fresh[c], ~lines, memory_order_acq_rel);
    }
    if (all)
        lines = lines_used(h, c);
    // A page that is read first is mapped twice, and the second time the kernel
    // interrupts the processors of all users.
    if (lines && !r->used[c]) {
        r->seen[c * SB_HIST_CHUNK] = 0;
        r->used[c] = true;
    }
    for (; lines; lines &= lines - 1)
        list[n++] = (uint16_t)(c * 64 + first_line(lines));
    return n;
}

// Fills `list` with the numbers of the lines that must be read; returns how
// many there are.
static unsigned list_lines(
    struct sb_hist_reader *r, struct sb_hist *h, bool all, uint16_t *list)
{
    uint64_t pairs = atomic_load_explicit(
        &h->fresh_pairs, memory_order_relaxed);
    unsigned n = 0;

    if (pairs)
        pairs = atomic_exchange_explicit(
            &h->fresh_pairs, 0, memory_order_seq_cst);
    for (uint32_t c = 0; c < SB_HIST_CHUNKS; c++) {
        if (all || (pairs & sb__hist_pair(c)))
            n = lines_take(r, h, c, all, list, n);
    }
    return n;
}

// Moves the new counts of a line of buckets; returns their sum.
static uint64_t line_take(uint64_t *restrict to, const _Atomic uint64_t *from,
    uint64_t *restrict seen)
{
    uint64_t now[SB_HIST_LINE], sum = 0;

    line_copy(now, from);
    for (uint32_t i = 0; i < SB_HIST_LINE; i++) {
        uint64_t n = now[i] - seen[i];

        to[i] += n;
        sum += n;
        seen[i] = now[i];
    }
    return sum;
}

// Most lines are not in the cache, because their writers are elsewhere: this
// many are requested ahead. With all of them at once, some would be lost.
#define AHEAD 16u

static inline void line_request(
    const struct sb_hist_reader *r, const struct sb_hist *h, uint32_t line)
{
    __builtin_prefetch((const void *)(h->bucket + line * SB_HIST_LINE));
    __builtin_prefetch(r->seen + line * SB_HIST_LINE, 1);
}

// A writer adds a count and then looks for its flag. If it still sees the flag
// that is being cleared here, while its count is not visible here yet, the
// count has no flag. The processor allows that for nanoseconds; to prevent it,
// every record would need a barrier.
int sb_hist_reader_take(struct sb_hist_reader *r, struct sb_hist *h, bool all,
    struct sb_hist_snap *to)
{
    uint16_t list[SB_HIST_BUCKETS / SB_HIST_LINE];
    unsigned n = list_lines(r, h, all, list);

    for (unsigned i = 0; i < n && i < AHEAD; i++)
        line_request(r, h, list[i]);
    for (unsigned i = 0; i < n; i++) {
        uint32_t first = list[i] * SB_HIST_LINE;
        struct sb_hist_chunk *chunk = chunk_get(to, first / SB_HIST_CHUNK);
        uint64_t sum;

        if (!chunk)
            return SB_ENOMEM;
        if (i + AHEAD < n)
            line_request(r, h, list[i + AHEAD]);
        chunk->lines |= UINT64_C(1) << list[i] % 64;
        sum = line_take(&chunk->n[first % SB_HIST_CHUNK], h->bucket + first,
            r->seen + first);
        chunk->total += sum;
        to->total += sum;
    }
    return 0;
}
