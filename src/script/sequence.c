// SPDX-License-Identifier: GPL-2.0-or-later
#include "script/sequence.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64 // bytes of a cache line: each sequence has its own

struct sb_sequence {
    _Alignas(LINE) _Atomic int64_t last;
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
    memcpy(q->name, name, len);
    q->next = *list;
    *list = q;
    return q;
}

static void skip_to(struct sb_sequence *q, int64_t after)
{
    int64_t last = atomic_load_explicit(&q->last, memory_order_relaxed);

    while (
        last < after && !atomic_compare_exchange_weak_explicit(&q->last, &last,
                            after, memory_order_relaxed, memory_order_relaxed))
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
        skip_to(q, (int64_t)after);
    return q;
}

double sb_sequence_next(struct sb_sequence *q, double n)
{
    return (double)atomic_fetch_add_explicit(
               &q->last, (int64_t)n, memory_order_relaxed) +
           1;
}

double sb_sequence_last(const struct sb_sequence *q)
{
    return (double)atomic_load_explicit(&q->last, memory_order_relaxed);
}
