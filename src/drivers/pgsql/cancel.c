// SPDX-License-Identifier: GPL-2.0-or-later
//
// Ends a call of another thread: asks the server, which then goes on with the
// connection; if it does not answer, cuts the connection.
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "drivers/pgsql/pgsql_priv.h"

// Counted in naps of a millisecond, so that a process that was stopped for a
// while finds as much patience left as it had before.
#define ANSWER_MS 200 // for the request
#define RETURN_MS 200 // and then for the call to return
// After so many requests without effect no more are made: other connections
// need not wait for the same silence.
#define SILENCES 2

// A request: PQcancel() waits for the server as long as that takes, so it has
// a thread of its own, which is left behind when the server is mute.
struct request {
    pthread_mutex_t lock;
    PGcancel *cancel;
    bool finished;
    bool left; // nobody waits any more: the thread cleans up
};

static void request_free(struct request *q)
{
    pthread_mutex_destroy(&q->lock);
    free(q);
}

static void *send_request(void *arg)
{
    struct request *q = arg;
    char why[256];
    bool left;

    PQcancel(q->cancel, why, sizeof(why));
    pthread_mutex_lock(&q->lock);
    q->finished = true;
    left = q->left;
    pthread_mutex_unlock(&q->lock);
    if (left) {
        PQfreeCancel(q->cancel);
        request_free(q);
    }
    return NULL;
}

static struct request *request_start(PGcancel *cancel)
{
    struct request *q = calloc(1, sizeof(*q));
    pthread_t thread;

    if (!q)
        return NULL;
    q->cancel = cancel;
    pthread_mutex_init(&q->lock, NULL);
    if (pthread_create(&thread, NULL, send_request, q)) {
        request_free(q);
        return NULL;
    }
    pthread_detach(thread);
    return q;
}

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static bool is_finished(struct request *q)
{
    bool finished;

    pthread_mutex_lock(&q->lock);
    finished = q->finished;
    pthread_mutex_unlock(&q->lock);
    return finished;
}

// False: the request is left to its thread.
static bool request_wait(struct request *q)
{
    bool finished;

    for (int i = 0; i < ANSWER_MS && !is_finished(q); i++)
        nap();
    pthread_mutex_lock(&q->lock);
    finished = q->finished;
    q->left = !finished;
    pthread_mutex_unlock(&q->lock);
    return finished;
}

// True when the server took the request; the handle is the caller's again.
static bool ask(PGcancel *cancel)
{
    struct request *q = request_start(cancel);

    if (!q) {
        PQfreeCancel(cancel);
        return false;
    }
    if (!request_wait(q))
        return false;
    request_free(q);
    return true;
}

static bool busy(struct pgsql_conn *c)
{
    return atomic_load_explicit(&c->busy, memory_order_acquire);
}

static bool has_returned(struct pgsql_conn *c)
{
    for (int i = 0; i < RETURN_MS && busy(c); i++)
        nap();
    return !busy(c);
}

static bool by_request(struct pgsql_conn *c)
{
    PGcancel *cancel;

    if (atomic_load_explicit(&c->env->silences, memory_order_relaxed) >=
        SILENCES)
        return false;
    cancel = atomic_exchange_explicit(&c->cancel, NULL, memory_order_acq_rel);
    // One of this connection may be on its way still, which says nothing new.
    if (!cancel)
        return false;
    if (ask(cancel)) {
        atomic_store_explicit(&c->cancel, cancel, memory_order_release);
        if (has_returned(c))
            return true;
    }
    atomic_fetch_add_explicit(&c->env->silences, 1, memory_order_relaxed);
    return false;
}

void pgsql_cancel(struct sb_conn *conn)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int socket = atomic_load_explicit(&c->socket, memory_order_acquire);

    // While connecting: the flag is all that connect looks at.
    if (socket == 0 || busy(c))
        atomic_store_explicit(&c->canceled, true, memory_order_relaxed);
    if (socket == 0 || !busy(c) || by_request(c))
        return;
    shutdown(socket - 1, SHUT_RDWR);
}
