// SPDX-License-Identifier: GPL-2.0-or-later
//
// Ends a call of another thread: asks the server, which then goes on with the
// connection; if it does not answer, cuts the connection.
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "drivers/pgsql/pgsql_priv.h"

#define ANSWER_MS 200 // for the request
#define RETURN_MS 200 // and then for the call to return

// A request: PQcancel() waits for the server as long as that takes, so it has
// a thread of its own, which is left behind when the server is mute.
struct request {
    pthread_mutex_t lock;
    pthread_cond_t done;
    PGcancel *cancel;
    bool finished;
    bool left; // nobody waits any more: the thread cleans up
};

static void request_free(struct request *q)
{
    pthread_cond_destroy(&q->done);
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
    pthread_cond_signal(&q->done);
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
    pthread_condattr_t attr;
    pthread_t thread;

    if (!q)
        return NULL;
    q->cancel = cancel;
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&q->done, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&thread, NULL, send_request, q)) {
        request_free(q);
        return NULL;
    }
    pthread_detach(thread);
    return q;
}

static void add_ms(struct timespec *t, long ms)
{
    t->tv_nsec += ms * 1000000;
    t->tv_sec += t->tv_nsec / 1000000000;
    t->tv_nsec %= 1000000000;
}

// True when the server took the request; the handle is the caller's again.
static bool ask(PGcancel *cancel)
{
    struct request *q = request_start(cancel);
    struct timespec end;
    bool finished;
    int rc = 0;

    if (!q) {
        PQfreeCancel(cancel);
        return false;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    add_ms(&end, ANSWER_MS);
    pthread_mutex_lock(&q->lock);
    while (!q->finished && rc == 0)
        rc = pthread_cond_timedwait(&q->done, &q->lock, &end);
    finished = q->finished;
    q->left = !finished;
    pthread_mutex_unlock(&q->lock);
    if (finished)
        request_free(q);
    return finished;
}

static bool busy(struct pgsql_conn *c)
{
    return atomic_load_explicit(&c->busy, memory_order_acquire);
}

static bool has_returned(struct pgsql_conn *c)
{
    for (int i = 0; i < RETURN_MS && busy(c); i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    return !busy(c);
}

static bool by_request(struct pgsql_conn *c)
{
    PGcancel *cancel;

    if (atomic_load_explicit(&c->env->deaf, memory_order_relaxed))
        return false;
    cancel = atomic_exchange_explicit(&c->cancel, NULL, memory_order_acq_rel);
    if (!cancel || !ask(cancel))
        return false;
    atomic_store_explicit(&c->cancel, cancel, memory_order_release);
    return has_returned(c);
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
    // Those after this one need not wait for the same silence.
    atomic_store_explicit(&c->env->deaf, true, memory_order_relaxed);
    shutdown(socket - 1, SHUT_RDWR);
}
