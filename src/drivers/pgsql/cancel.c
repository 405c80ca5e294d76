// SPDX-License-Identifier: GPL-2.0-or-later
//
// Cancels a call of another thread: sends a cancel request, after which the
// connection can still be used. If that has no effect, closes the socket.
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "drivers/pgsql/internal.h"
#include "kit/locale.h"

// Timeouts are counted in sleeps of a millisecond, so that the time for which
// the process is stopped does not count.
#define ANSWER_MS 200 // timeout of the request
#define RETURN_MS 200 // timeout for the call to return after it
// The number of requests without effect after which no more are sent, so that
// other connections do not have to wait for the same timeouts.
#define FAILED_MOST 2

// A request. PQcancel() waits for the server without a timeout, so it is called
// in a thread of its own, which is abandoned if the server does not answer.
struct request {
    pthread_mutex_t lock;
    PGcancel *cancel;
    bool finished;
    bool abandoned; // the caller no longer waits: the thread frees the request
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

    sb_locale_keep();
    PQcancel(q->cancel, why, sizeof(why));
    pthread_mutex_lock(&q->lock);
    q->finished = true;
    left = q->abandoned;
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

static void sleep_1ms(void)
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

// Waits for the request. Returns false after the timeout: the thread of the
// request owns it then.
static bool request_wait(struct request *q)
{
    bool finished;

    for (int i = 0; i < ANSWER_MS && !is_finished(q); i++)
        sleep_1ms();
    pthread_mutex_lock(&q->lock);
    finished = q->finished;
    q->abandoned = !finished;
    pthread_mutex_unlock(&q->lock);
    return finished;
}

// Sends a request. Returns true if the server received it; the caller owns the
// handle again.
static bool request_run(PGcancel *cancel)
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
        sleep_1ms();
    return !busy(c);
}

static bool by_request(struct pgsql_conn *c)
{
    PGcancel *cancel;

    if (atomic_load_explicit(&c->env->failed_cancels, memory_order_relaxed) >=
        FAILED_MOST)
        return false;
    cancel = atomic_exchange_explicit(&c->cancel, NULL, memory_order_acq_rel);
    // An earlier request of this connection is still in progress. It has been
    // counted already.
    if (!cancel)
        return false;
    if (request_run(cancel)) {
        atomic_store_explicit(&c->cancel, cancel, memory_order_release);
        if (has_returned(c))
            return true;
        // The server may have ended the call, but others use the thread.
        if (c->shared)
            return false;
    }
    atomic_fetch_add_explicit(&c->env->failed_cancels, 1, memory_order_relaxed);
    return false;
}

void pgsql_cancel(struct sb_conn *conn)
{
    struct pgsql_conn *c = pgsql_own(conn);
    int socket = atomic_load(&c->socket);

    // While connecting, only the flag is checked. A connect that ends meanwhile
    // sees the flag; otherwise this function sees its socket.
    if (socket == 0 || busy(c))
        atomic_store(&c->canceled, true);
    if (socket == 0)
        socket = atomic_load(&c->socket);
    if (socket == 0 || !busy(c) || by_request(c))
        return;
    // The request took time: the call may have returned, or lost its socket.
    socket = atomic_load_explicit(&c->socket, memory_order_acquire);
    if (socket != 0 && busy(c))
        shutdown(socket - 1, SHUT_RDWR);
}
