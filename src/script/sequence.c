// SPDX-License-Identifier: GPL-2.0-or-later
#include "script/sequence.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kit/hash.h"

#define LINE 64 // bytes of a cache line: each sequence has its own

_Static_assert((SB_SEQUENCE_WINDOW & (SB_SEQUENCE_WINDOW - 1)) == 0,
    "the place of an index is a part of its bits");

// The numbers of a process are counted 1, 2, 3 ...: their index. Several ranks
// take turns with blocks of SB_SEQUENCE_BLOCK numbers: see number_of().
struct sb_sequence {
    _Alignas(LINE) _Atomic int64_t last; // index
    unsigned rank, ranks;
    _Alignas(LINE) _Atomic int64_t finished; // index
    // SB_SEQUENCE_WINDOW places: index n is in place n % SB_SEQUENCE_WINDOW
    // once its number is finished. NULL: no number is finished yet.
    _Atomic(_Atomic int64_t *) window;
    // The greatest number that was skipped; it may belong to another rank.
    _Atomic int64_t skipped;
    struct sb_sequence *next;
    char name[];
};

void sb_sequences_init(struct sb_sequences *all, unsigned rank, unsigned ranks)
{
    *all = (struct sb_sequences){ .rank = rank, .ranks = ranks };
    pthread_mutex_init(&all->lock, NULL);
}

void sb_sequences_done(struct sb_sequences *all)
{
    for (unsigned i = 0; i < SB_SEQUENCE_BUCKETS; i++) {
        while (all->bucket[i]) {
            struct sb_sequence *q = all->bucket[i];

            all->bucket[i] = q->next;
            free(atomic_load_explicit(&q->window, memory_order_relaxed));
            free(q);
        }
    }
    pthread_mutex_destroy(&all->lock);
}

static struct sb_sequence **bucket_of(
    struct sb_sequences *all, const char *name)
{
    return &all->bucket[sb_hash_text(name) % SB_SEQUENCE_BUCKETS];
}

static struct sb_sequence *make_sequence(
    struct sb_sequence **list, const char *name, unsigned rank, unsigned ranks)
{
    size_t len = strlen(name) + 1;
    size_t size = sizeof(struct sb_sequence) + len;
    struct sb_sequence *q = aligned_alloc(
        LINE, (size + LINE - 1) & ~(LINE - 1));

    assert(ranks <= 1 || rank < ranks);
    if (!q)
        return NULL;
    atomic_init(&q->last, 0);
    atomic_init(&q->finished, 0);
    atomic_init(&q->window, NULL);
    atomic_init(&q->skipped, 0);
    q->rank = rank;
    q->ranks = ranks;
    memcpy(q->name, name, len);
    q->next = *list;
    *list = q;
    return q;
}

static void skip_to(_Atomic int64_t *number, int64_t after)
{
    int64_t last = atomic_load(number);

    while (last < after && !atomic_compare_exchange_weak(number, &last, after))
        ;
}

static int64_t number_of(const struct sb_sequence *q, int64_t index)
{
    const int64_t size = SB_SEQUENCE_BLOCK;

    if (q->ranks <= 1 || index == 0)
        return index;
    return ((index - 1) / size * q->ranks + q->rank) * size +
           (index - 1) % size + 1;
}

// The index of the last number of this process that is not above `number`, or
// 0.
static int64_t index_of(const struct sb_sequence *q, int64_t number)
{
    const int64_t size = SB_SEQUENCE_BLOCK;

    if (q->ranks <= 1 || number <= 0)
        return number;
    int64_t round = number / (size * q->ranks);
    int64_t own = number % (size * q->ranks) - q->rank * size;

    return round * size + (own < 0 ? 0 : own > size ? size : own);
}

static bool is_named(
    const struct sb_sequence *q, const char *name, unsigned ranks)
{
    return q->ranks == ranks && strcmp(q->name, name) == 0;
}

struct sb_sequence *sb_sequence_get(
    struct sb_sequences *all, const char *name, double after, bool local)
{
    struct sb_sequence **list = bucket_of(all, name), *q;
    unsigned ranks = local ? 0 : all->ranks;

    pthread_mutex_lock(&all->lock);
    for (q = *list; q && !is_named(q, name, ranks); q = q->next)
        ;
    if (!q)
        q = make_sequence(list, name, all->rank, ranks);
    pthread_mutex_unlock(&all->lock);
    if (q)
        sb_sequence_raise(q, after);
    return q;
}

void sb_sequence_raise(struct sb_sequence *q, double number)
{
    int64_t index = index_of(q, (int64_t)number);

    skip_to(&q->last, index);
    skip_to(&q->finished, index);
    skip_to(&q->skipped, (int64_t)number);
}

// Index from which n numbers are consecutive, if `last` is the last one taken.
static int64_t run_after(const struct sb_sequence *q, int64_t last, double n)
{
    int64_t left = SB_SEQUENCE_BLOCK - last % SB_SEQUENCE_BLOCK;

    return q->ranks <= 1 || n <= (double)left ? last + 1 : last + left + 1;
}

// Finishes the numbers from `from` to `to` - 1, which will never be taken: they
// are at the end of a block and were fewer than requested.
static void finish_skipped(struct sb_sequence *q, int64_t from, int64_t to)
{
    for (; from < to; from++)
        sb_sequence_finish(q, (double)number_of(q, from));
}

double sb_sequence_next_below(struct sb_sequence *q, double n, double max)
{
    int64_t last = atomic_load_explicit(&q->last, memory_order_relaxed), first;

    do {
        first = run_after(q, last, n);
        if ((double)number_of(q, first) + n - 1 > max)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&q->last, &last,
        first - 1 + (int64_t)n, memory_order_relaxed, memory_order_relaxed));
    finish_skipped(q, last + 1, first);
    return (double)number_of(q, first);
}

double sb_sequence_next(struct sb_sequence *q, double n)
{
    if (q->ranks <= 1)
        return (double)atomic_fetch_add_explicit(
                   &q->last, (int64_t)n, memory_order_relaxed) +
               1;
    return sb_sequence_next_below(q, n, 0x1p63);
}

double sb_sequence_most(const struct sb_sequence *q)
{
    return q->ranks <= 1 ? 0x1p53 : SB_SEQUENCE_BLOCK;
}

static double greatest(const struct sb_sequence *q, int64_t index)
{
    int64_t number = number_of(q, index);
    int64_t skipped = atomic_load_explicit(&q->skipped, memory_order_relaxed);

    return (double)(number > skipped ? number : skipped);
}

double sb_sequence_last(const struct sb_sequence *q)
{
    return greatest(q, atomic_load_explicit(&q->last, memory_order_relaxed));
}

static _Atomic int64_t *window_of(struct sb_sequence *q)
{
    _Atomic int64_t *w = atomic_load_explicit(&q->window, memory_order_acquire);
    _Atomic int64_t *fresh;

    if (w)
        return w;
    fresh = calloc(SB_SEQUENCE_WINDOW, sizeof(*fresh));
    if (fresh && !atomic_compare_exchange_strong(&q->window, &w, fresh)) {
        free((void *)fresh); // another thread was faster
        return w;
    }
    return fresh;
}

// Each thread stores its number before it reads the numbers of other threads,
// with sequentially consistent atomics: so the last thread to store sees all
// numbers up to a gap.
int sb_sequence_finish(struct sb_sequence *q, double number)
{
    _Atomic int64_t *w = window_of(q);
    int64_t n = index_of(q, (int64_t)number), done;

    if (!w)
        return -1;
    // Its place may belong to a number that is greater by the window.
    if (n <= atomic_load(&q->finished))
        return 0;
    skip_to(&w[n & (SB_SEQUENCE_WINDOW - 1)], n);
    skip_to(&q->finished, n - SB_SEQUENCE_WINDOW);
    done = atomic_load(&q->finished);
    while (atomic_load(&w[(done + 1) & (SB_SEQUENCE_WINDOW - 1)]) == done + 1) {
        if (atomic_compare_exchange_weak(&q->finished, &done, done + 1))
            done++;
    }
    return 0;
}

double sb_sequence_finished(const struct sb_sequence *q)
{
    return greatest(
        q, atomic_load_explicit(&q->finished, memory_order_acquire));
}

// A name and a position for each sequence, and an empty name.
void sb_sequences_write(struct sb_sequences *all, struct sb_buf *b)
{
    pthread_mutex_lock(&all->lock);
    for (unsigned i = 0; i < SB_SEQUENCE_BUCKETS; i++)
        for (const struct sb_sequence *q = all->bucket[i]; q; q = q->next) {
            if (q->ranks <= 1 || !q->name[0])
                continue;
            sb_wire_put_text(b, q->name);
            sb_wire_put(b, (uint64_t)sb_sequence_last(q));
        }
    pthread_mutex_unlock(&all->lock);
    sb_wire_put_text(b, "");
}

int sb_sequences_read(
    struct sb_sequences *all, struct sb_wire *w, struct sb_err *err)
{
    char name[1024];

    for (;;) {
        sb_wire_get_text(w, name, sizeof(name));
        if (w->bad)
            return sb_err_set(err, SB_EINTERNAL, "invalid data of rank 0");
        if (!name[0])
            return 0;
        double last = (double)sb_wire_get(w);

        if (!sb_sequence_get(all, name, last, false))
            return sb_err_set(err, SB_ENOMEM, "out of memory");
    }
}
