// SPDX-License-Identifier: GPL-2.0-or-later
//
// The part of the bare loops for batches that does not depend on the client
// library: reads a file with one statement per line, and has threads execute
// them, each statement once.
#ifndef FLOOR_BATCHES_H
#define FLOOR_BATCHES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct batches {
    char *text;
    char **line;
    size_t *length;
    long lines;
    _Atomic long next;
    _Atomic int failed;
    pthread_barrier_t start; // all threads are connected
};

// Returns the next statement; NULL after the last one.
static inline const char *batches_next(struct batches *b, size_t *length)
{
    long i = atomic_fetch_add_explicit(&b->next, 1, memory_order_relaxed);

    if (i >= b->lines)
        return NULL;
    *length = b->length[i];
    return b->line[i];
}

static inline int batches_read(struct batches *b, const char *path)
{
    FILE *in = fopen(path, "r");
    long size, room = 0;

    if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) < 0)
        return -1;
    rewind(in);
    b->text = malloc((size_t)size + 1);
    if (!b->text || fread(b->text, 1, (size_t)size, in) != (size_t)size)
        return -1;
    b->text[size] = '\0';
    fclose(in);
    for (char *p = b->text, *end; (end = strchr(p, '\n')); p = end + 1) {
        if (b->lines == room) {
            room = room * 2 + 1024;
            b->line = realloc(b->line, (size_t)room * sizeof(*b->line));
            b->length = realloc(b->length, (size_t)room * sizeof(*b->length));
            if (!b->line || !b->length)
                return -1;
        }
        *end = '\0';
        b->line[b->lines] = p;
        b->length[b->lines++] = (size_t)(end - p);
    }
    return 0;
}

// Runs the threads and prints the statements per second.
static inline int batches_run(
    struct batches *b, long threads, void *(*run)(void *))
{
    pthread_t *t = calloc((size_t)threads, sizeof(*t));
    struct timespec from, to;

    if (!t || pthread_barrier_init(&b->start, NULL, (unsigned)threads + 1))
        return 1;
    for (long i = 0; i < threads; i++)
        if (pthread_create(&t[i], NULL, run, b))
            return 1;
    pthread_barrier_wait(&b->start);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (long i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.3f\n",
        (double)b->lines / ((double)(to.tv_sec - from.tv_sec) +
                               (double)(to.tv_nsec - from.tv_nsec) / 1e9));
    return b->failed;
}

#endif
