// SPDX-License-Identifier: GPL-2.0-or-later
//
// The connection: connects in steps, so that another thread can cancel it and
// other users can run meanwhile; cancels calls, resets and disconnects.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "drivers/pgsql/internal.h"
#include "kit/clock.h"
#include "kit/limits.h"
#include "kit/locale.h"
#include "kit/passcmd.h"
#include "kit/sock.h"

// Connecting -----------------------------------------------------------------

// How often a connect in progress checks whether it was canceled.
#define TICK_MS 50
// How often to try again if the queue of a Unix socket is full.
#define AGAIN_MS 10

#define MS UINT64_C(1000000)

// One connect, with all of its attempts.
struct dial {
    struct pgsql_conn *c;
    const struct pgsql_target *t;
    uint64_t since, deadline;     // ns; UINT64_MAX: no deadline
    int64_t limit;                // ns from `since` to the deadline; 0: none
    bool unhelped;                // no helper was free until the deadline
    PostgresPollingStatusType st; // of the last step
};

static const char *pg_hint(const char *text, char *room, size_t size)
{
    if (strstr(text, "Too many open files")) {
        sb_limit_of_files(room, size);
        return room;
    }
    if (strstr(text, "too many clients") ||
        strstr(text, "remaining connection"))
        return " (the server's max_connections is reached)";
    if (strstr(text, "database \"") && strstr(text, "does not exist"))
        return " (create it first, with createdb)";
    return "";
}

// libpq 17 and 18 give no reason if no descriptor is left.
static void find_reason(char *text, size_t size)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    snprintf(text, size, "unable to connect: %s",
        fd >= 0 ? "libpq gives no reason" : strerror(errno));
    if (fd >= 0)
        close(fd);
}

static int dial_refused(struct pgsql_conn *c, struct sb_err *err)
{
    char raw[1000], text[400], room[80], state[6] = "08001";

    snprintf(raw, sizeof(raw), "%s", PQerrorMessage(c->db));
    pgsql_take_state(raw, state);
    pgsql_sentences(raw, text, sizeof(text));
    if (!text[0])
        find_reason(text, sizeof(text));
    // The contents of a connection string are not shown: see target.c.
    if (c->env->conninfo && strncmp(text, "invalid ", 8) == 0)
        pgsql_cut_quotes(text);
    sb_err_set(
        err, SB_ECONNECT, "%s%s", text, pg_hint(text, room, sizeof(room)));
    if (err)
        snprintf(err->state, sizeof(err->state), "%s", state);
    return SB_ECONNECT;
}

static bool pg_was_canceled(struct pgsql_conn *c)
{
    return atomic_load_explicit(&c->canceled, memory_order_relaxed);
}

// Returns libpq's own connect timeout in ns; 0: none.
static int64_t libpq_timeout(struct pgsql_conn *c)
{
    PQconninfoOption *all = PQconninfo(c->db);
    int64_t seconds = 0;

    for (PQconninfoOption *i = all; i && i->keyword; i++) {
        if (i->val && strcmp(i->keyword, "connect_timeout") == 0)
            seconds = strtol(i->val, NULL, 10);
    }
    PQconninfoFree(all);
    return seconds > 0 ? seconds * 1000000000 : 0;
}

// Whether to go on: 0, SB_ECANCELED or SB_ETIMEOUT.
static int pg_check_dial(const struct dial *d)
{
    if (pg_was_canceled(d->c))
        return SB_ECANCELED;
    return sb_clock_monotonic() >= d->deadline ? SB_ETIMEOUT : 0;
}

// Waits until the socket is ready. Returns 0, SB_ECANCELED, SB_ETIMEOUT, or
// SB_ESYS.
static int wait_socket(struct dial *d, short what)
{
    struct pgsql_conn *c = d->c;
    int n, rc;

    do {
        n = c->host->wait(
            PQsocket(c->db), what, sb_clock_until(d->deadline, TICK_MS * MS));
        if (n < 0) {
            errno = -n;
            return SB_ESYS;
        }
        rc = pg_check_dial(d);
    } while (n == 0 && rc == 0);
    return n > 0 && rc == SB_ETIMEOUT ? 0 : rc;
}

static void pg_set_limit(struct dial *d, int64_t limit)
{
    d->limit = limit;
    d->deadline = limit ? d->since + (uint64_t)limit : UINT64_MAX;
}

static void start_dial(void *arg)
{
    struct dial *d = arg;

    d->c->db = PQconnectStartParams(d->t->key, d->t->value, 0);
    d->st = PGRES_POLLING_WRITING;
}

static void poll_step(void *arg)
{
    struct dial *d = arg;

    d->st = PQconnectPoll(d->c->db);
}

static bool dial_canceled(void *arg)
{
    const struct dial *d = arg;

    return pg_was_canceled(d->c);
}

// Takes a step, where it does not block other users if it looks up a name. 0,
// SB_ECANCELED or SB_ETIMEOUT.
static int step(struct dial *d, void (*take)(void *arg), bool looks_up)
{
    int rc;

    if (!looks_up) {
        take(d);
        return 0;
    }
    rc = d->c->host->apart(take, dial_canceled, d, d->deadline);
    d->unhelped = rc == SB_ETIMEOUT;
    return rc;
}

static int take_steps(struct dial *d, enum pgsql_names names)
{
    int rc = 0;

    while (d->st != PGRES_POLLING_OK && d->st != PGRES_POLLING_FAILED) {
        rc = wait_socket(d, d->st == PGRES_POLLING_READING ? POLLIN : POLLOUT);
        if (rc == 0)
            rc = step(d, poll_step, names == PGSQL_NAMES);
        if (rc)
            return rc;
    }
    return 0;
}

static int too_late(const struct dial *d, struct sb_err *err)
{
    double seconds = (double)d->limit / 1e9;

    if (d->unhelped)
        return sb_err_set(err, SB_ECONNECT,
            "no thread was free to look up the name of the host before the "
            "connect timeout of %.3g s",
            seconds);
    return sb_err_set(err, SB_ECONNECT,
        "connecting to \"%s\" port %s took longer than %.3g s",
        PQhost(d->c->db), PQport(d->c->db), seconds);
}

static int stopped(const struct dial *d, int rc, struct sb_err *err)
{
    switch (rc) {
    case SB_ECANCELED:
        return sb_err_set(err, rc, "connecting was canceled");
    case SB_ETIMEOUT:
        return too_late(d, err);
    default:
        return sb_err_set(err, SB_ECONNECT, "cannot wait for the server: %s",
            strerror(errno));
    }
}

// Logs notices of the server for debugging. Errors that no statement caused
// also arrive here.
static void pg_notice(void *arg, const PGresult *r)
{
    struct pgsql_conn *c = arg;
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *why = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    char text[400], line[420];

    if (state && why && pgsql_classify(state, why) == SB_ELOST)
        pgsql_keep_closing(c, state, why);
    pgsql_one_line(PQresultErrorMessage(r), text, sizeof(text));
    snprintf(line, sizeof(line), "pgsql: %s", text);
    c->host->log(5, line);
}

// One attempt. *full: the queue of the server's Unix socket is full.
static int attempt(struct dial *d, bool *full, struct sb_err *err)
{
    enum pgsql_names names = pgsql_target_names(d->t);
    struct pgsql_conn *c = d->c;
    int rc = step(d, start_dial, names != PGSQL_NO_NAME);

    *full = false;
    if (rc)
        return stopped(d, rc, err);
    if (!c->db)
        return sb_err_no_memory(err);
    if (!d->limit)
        pg_set_limit(d, libpq_timeout(c));
    PQsetNoticeReceiver(c->db, pg_notice, c);
    // Only messages in this form have the SQLSTATE of a refused connection.
    PQsetErrorVerbosity(c->db, PQERRORS_VERBOSE);
    if (PQstatus(c->db) == CONNECTION_BAD) {
        // The only cause that libpq has for this: see unix(7), connect().
        *full = strstr(PQerrorMessage(c->db), strerror(EAGAIN)) != NULL;
        return dial_refused(c, err);
    }
    rc = take_steps(d, names);
    if (rc)
        return stopped(d, rc, err);
    return d->st == PGRES_POLLING_OK ? 0 : dial_refused(c, err);
}

static int pg_dial(
    struct pgsql_conn *c, const struct pgsql_target *t, struct sb_err *err)
{
    struct dial d = { .c = c, .t = t, .since = sb_clock_monotonic() };
    bool full;
    int rc;

    pg_set_limit(&d, c->env->o->connect_timeout);
    while ((rc = attempt(&d, &full, err)) != 0 && full) {
        c->host->sleep(sb_clock_until(d.deadline, AGAIN_MS * MS));
        int over = pg_check_dial(&d);
        if (over == SB_ETIMEOUT)
            break; // with the error of libpq
        if (over)
            return stopped(&d, over, err);
        PQfinish(c->db);
        c->db = NULL;
    }
    return rc;
}

// Canceling ------------------------------------------------------------------
//
// Another thread cancels a call: it sends a cancel request, after which the
// connection can still be used. If that has no effect, it closes the socket.

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

static bool pg_is_finished(struct request *q)
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

    for (int i = 0; i < ANSWER_MS && !pg_is_finished(q); i++)
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

static void pg_cancel(struct sb_conn *conn)
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

// Operations -----------------------------------------------------------------

struct login {
    struct pgsql_conn *c;
    uint64_t number; // of the connection
};

// Also after a password that was refused.
static int pg_log_in(void *arg, const char *password, struct sb_err *err)
{
    const struct login *l = arg;
    struct pgsql_target t;

    PQfinish(l->c->db);
    l->c->db = NULL;
    pgsql_target_fill(&t, l->c->env, l->number, password);
    return pg_dial(l->c, &t, err);
}

// With some methods, such as PAM, the server does not call the password
// invalid.
static bool pg_is_refused(const struct sb_err *err)
{
    return strcmp(err->state, "28P01") == 0 || strcmp(err->state, "28000") == 0;
}

static int pg_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *opts, const struct sb_conn_info *info, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    struct login l = { c, info->number };
    struct sb_passcmd_calls calls = { pg_log_in, pg_is_refused,
        env->host->sleep, env->host->apart };
    int rc;

    c->env = env->shared;
    c->host = env->host;
    c->shared = c->host->shared();
    rc = c->env->passcmd ? sb_passcmd_login(c->env->passcmd, &calls, &l, err)
                         : pg_log_in(&l, c->env->password, err);
    if (rc)
        return rc;
    PQsetErrorVerbosity(c->db, PQERRORS_DEFAULT);
    PQsetnonblocking(c->db, 1); // see wait.c
    c->fd = PQsocket(c->db);
    c->local = sb_sock_is_local(c->fd);
    c->encrypted = PQsslInUse(c->db);
#ifdef LIBPQ_HAS_PIPELINING // this libpq also reports GSSAPI encryption
    c->encrypted = c->encrypted || PQgssEncInUse(c->db);
    c->plain = c->env->o->bypass && !c->encrypted &&
               PQprotocolVersion(c->db) == 3;
#else
    c->encrypted = true; // or it may be
#endif
    atomic_store_explicit(&c->cancel, PQgetCancel(c->db), memory_order_release);
    // In this order: see pg_cancel().
    atomic_store(&c->socket, c->fd + 1);
    if (!atomic_exchange(&c->canceled, false))
        return 0;
    return sb_err_set(err, SB_ECANCELED, "connecting was canceled");
}

static void pg_disconnect(struct sb_conn *conn)
{
    struct pgsql_conn *c = pgsql_own(conn);

    PQfreeCancel(atomic_load_explicit(&c->cancel, memory_order_acquire));
    pgsql_clear(c);
    PQfinish(c->db);
    sb_buf_done(&c->wire.in);
    free(c->closing);
    free(c->value);
    free(c->length);
    free(c->format);
    free(c->field);
    sb_buf_done(&c->sql);
    sb_buf_done(&c->bound);
    sb_buf_done(&c->closed);
    sb_buf_done(&c->copy);
    sb_buf_done(&c->rows);
    memset(c, 0, sizeof(*c));
}

PGTransactionStatusType pgsql_transaction(const struct pgsql_conn *c)
{
    if (c->gone)
        return PQTRANS_UNKNOWN;
    switch (c->status) {
    case 'I':
        return PQTRANS_IDLE;
    case 'T':
        return PQTRANS_INTRANS;
    case 'E':
        return PQTRANS_INERROR;
    default:
        return PQtransactionStatus(c->db);
    }
}

// A failed event may have left an unfinished COPY, or results that were not
// read.
static int pg_reset(struct sb_conn *conn, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);

    if (pgsql_transaction(c) == PQTRANS_ACTIVE) {
        pgsql_call_begin(c);
        pgsql_collect(c, NULL);
        pgsql_call_end(c);
    }
    switch (pgsql_transaction(c)) {
    case PQTRANS_IDLE:
        return 0;
    case PQTRANS_INTRANS:
    case PQTRANS_INERROR:
        return pgsql_run(c, "ROLLBACK", err);
    case PQTRANS_ACTIVE:
    case PQTRANS_UNKNOWN:
    default:
        return pgsql_fail(c, NULL, err);
    }
}

static int pg_socket(const struct sb_conn *conn)
{
    const struct pgsql_conn *c = (const struct pgsql_conn *)conn;

    return c->db ? c->fd : -1;
}

static const char *pg_open_transaction(const struct sb_conn *conn)
{
    const struct pgsql_conn *c = (const struct pgsql_conn *)conn;

    return pgsql_transaction(c) == PQTRANS_INTRANS ? "" : NULL;
}

// The server assigns a number to a transaction when it writes.
static bool pg_has_written(struct sb_conn *conn)
{
    struct pgsql_conn *c = pgsql_own(conn);
    const PGresult *r = NULL;

    if (pgsql_run(c, "SELECT txid_current_if_assigned()", NULL) == 0)
        r = pgsql_answer(c, 1, 1, NULL);
    return r && pgsql_cell(r, 0, 0);
}

const struct sb_generic_ops pgsql_generic_ops = {
    .env_init = pgsql_env_init,
    .env_done = pgsql_env_done,
    .connect = pg_connect,
    .disconnect = pg_disconnect,
    .cancel = pg_cancel,
    .reset = pg_reset,
    .socket = pg_socket,
    .open_transaction = pg_open_transaction,
    .has_written = pg_has_written,
};
