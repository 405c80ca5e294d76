// SPDX-License-Identifier: GPL-2.0-or-later
#include "script/sequence.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64 // bytes of a cache line: each sequence has its own

struct sb_sequence {
    _Alignas(LINE) _Atomic int64_t last;
    _Alignas(LINE) _Atomic int64_t finished;
    // SB_SEQUENCE_WINDOW places: number n is in place n % SB_SEQUENCE_WINDOW
    // once it is finished. NULL: no number is finished yet.
    _Atomic(_Atomic int64_t *) window;
    struct sb_sequence *next;
    char name[];
};

void sb_sequences_init(struct sb_sequences *all)
{
    *all = (struct sb_sequences){ .bucket = { NULL } };
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

static struct sb_sequence **place(struct sb_sequences *all, const char *name)
{
    uint32_t hash = 0;

    for (const char *p = name; *p; p++)
        hash = hash * 31 + (unsigned char)*p;
    return &all->bucket[hash % SB_SEQUENCE_BUCKETS];
}

static struct sb_sequence *make(struct sb_sequence **list, const char *name)
{
    size_t len = strlen(name) + 1;
    size_t size = sizeof(struct sb_sequence) + len;
    struct sb_sequence *q = aligned_alloc(
        LINE, (size + LINE - 1) & ~(LINE - 1));

    if (!q)
        return NULL;
    atomic_init(&q->last, 0);
    atomic_init(&q->finished, 0);
    atomic_init(&q->window, NULL);
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

struct sb_sequence *sb_sequence_get(
    struct sb_sequences *all, const char *name, double after)
{
    struct sb_sequence **list = place(all, name), *q;

    pthread_mutex_lock(&all->lock);
    for (q = *list; q && strcmp(q->name, name) != 0; q = q->next)
        ;
    if (!q)
        q = make(list, name);
    pthread_mutex_unlock(&all->lock);
    if (q)
        sb_sequence_raise(q, after);
    return q;
}

void sb_sequence_raise(struct sb_sequence *q, double number)
{
    skip_to(&q->last, (int64_t)number);
    skip_to(&q->finished, (int64_t)number);
}

double sb_sequence_next(struct sb_sequence *q, double n)
{
    return (double)atomic_fetch_add_explicit(
               &q->last, (int64_t)n, memory_order_relaxed) +
           1;
}

double sb_sequence_next_below(struct sb_sequence *q, double n, double max)
{
    int64_t last = atomic_load_explicit(&q->last, memory_order_relaxed);

    do {
        if ((double)last + n > max)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&q->last, &last,
        last + (int64_t)n, memory_order_relaxed, memory_order_relaxed));
    return (double)last + 1;
}

double sb_sequence_last(const struct sb_sequence *q)
{
    return (double)atomic_load_explicit(&q->last, memory_order_relaxed);
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

// Each thread stores its number before it reads those of the others, in one
// order for all threads: so the last one to store sees all numbers up to a gap.
int sb_sequence_finish(struct sb_sequence *q, double number)
{
    _Atomic int64_t *w = window_of(q);
    int64_t n = (int64_t)number, done;

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
    return (double)atomic_load_explicit(&q->finished, memory_order_acquire);
}
