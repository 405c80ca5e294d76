// SPDX-License-Identifier: GPL-2.0-or-later
//
// A transport between ranks in one process, each in a thread or all in one:
// what is sent waits in a queue until it is received.
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <pthread.h>
#include <stdlib.h>

#include "ranks/job.h"

#define LOOPBACK_RANKS 32

struct loopback_message {
    struct loopback_message *next;
    struct sb_transport_message m;
};

static struct loopback_message *loopback_queue[LOOPBACK_RANKS];
static pthread_mutex_t loopback_lock = PTHREAD_MUTEX_INITIALIZER;
static bool loopback_deaf[LOOPBACK_RANKS]; // messages to it are kept
static int loopback_fails;                 // SB_E* of further messages
static unsigned loopback_closed;

static int loopback_send(struct sb_transport *t, unsigned to, const void *data,
    size_t len, struct sb_err *err)
{
    struct loopback_message *m = calloc(1, sizeof(*m));
    struct loopback_message **at = &loopback_queue[to];

    m->m.from = t->rank;
    m->m.data = malloc(len);
    m->m.len = len;
    memcpy(m->m.data, data, len);
    if (loopback_fails) {
        free(m->m.data);
        free(m);
        return sb_err_set(err, loopback_fails, "the network is down");
    }
    pthread_mutex_lock(&loopback_lock);
    while (*at)
        at = &(*at)->next;
    *at = m;
    pthread_mutex_unlock(&loopback_lock);
    return 0;
}

static int loopback_receive(
    struct sb_transport *t, struct sb_transport_message *m, struct sb_err *err)
{
    struct loopback_message *first;

    (void)err;
    pthread_mutex_lock(&loopback_lock);
    first = loopback_deaf[t->rank] ? NULL : loopback_queue[t->rank];
    if (first)
        loopback_queue[t->rank] = first->next;
    pthread_mutex_unlock(&loopback_lock);
    if (!first)
        return 0;
    *m = first->m;
    free(first);
    return 1;
}

static bool loopback_sending(struct sb_transport *t)
{
    (void)t;
    return false;
}

static void loopback_close(struct sb_transport *t)
{
    (void)t;
    pthread_mutex_lock(&loopback_lock);
    loopback_closed++;
    pthread_mutex_unlock(&loopback_lock);
}

static const struct sb_transport_ops loopback_ops = {
    .abi = SB_TRANSPORT_ABI,
    .send = loopback_send,
    .receive = loopback_receive,
    .sending = loopback_sending,
    .close = loopback_close,
};

static inline struct sb_job *loopback_job(
    unsigned rank, unsigned ranks, const char *host)
{
    const struct sb_transport t = { .ops = &loopback_ops,
        .rank = rank,
        .ranks = ranks,
        .kill_after = 1000000000 };

    return sb_job_new(&t, host);
}

// Drops what was not received.
static inline void loopback_reset(void)
{
    for (unsigned i = 0; i < LOOPBACK_RANKS; i++) {
        struct loopback_message *m;

        while ((m = loopback_queue[i]) != NULL) {
            loopback_queue[i] = m->next;
            free(m->m.data);
            free(m);
        }
        loopback_deaf[i] = false;
    }
    loopback_fails = 0;
    loopback_closed = 0;
}

#endif
