// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "base/sock.h"
#include "drivers/pgsql/pgsql_priv.h"

// How often a connect in progress checks whether it was canceled.
#define TICK_MS 50

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Connecting -----------------------------------------------------------------

static const char *hint(const char *text, char *room, size_t size)
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

static int refused(struct pgsql_conn *c, struct sb_err *err)
{
    char raw[1000], text[400], room[80], state[6] = "08001";

    snprintf(raw, sizeof(raw), "%s", PQerrorMessage(c->db));
    pgsql_take_state(raw, state);
    pgsql_sentences(raw, text, sizeof(text));
    // The contents of a connection string are not shown: see conninfo.c.
    if (c->env->conninfo && strncmp(text, "invalid ", 8) == 0)
        pgsql_cut_quotes(text);
    sb_err_set(err, SB_ECONNECT, "%s%s", text, hint(text, room, sizeof(room)));
    if (err)
        snprintf(err->state, sizeof(err->state), "%s", state);
    return SB_ECONNECT;
}

static bool was_canceled(struct pgsql_conn *c)
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

// Waits until the socket is ready. Returns 0, SB_ECANCELED, SB_ETIMEOUT, or
// SB_ESYS.
static int wait_socket(struct pgsql_conn *c, short what, int64_t deadline)
{
    for (;;) {
        int64_t tick = now_ns() + TICK_MS * 1000000;
        int n = c->host->wait(PQsocket(c->db), what, (uint64_t)tick);

        if (was_canceled(c))
            return SB_ECANCELED;
        if (n > 0)
            return 0;
        if (n < 0) {
            errno = -n;
            return SB_ESYS;
        }
        if (deadline && now_ns() >= deadline)
            return SB_ETIMEOUT;
    }
}

static int finish_connect(struct pgsql_conn *c, struct sb_err *err)
{
    PostgresPollingStatusType st = PGRES_POLLING_WRITING;
    int64_t limit = c->env->o->connect_timeout, deadline;
    int rc = 0;

    if (!limit)
        limit = libpq_timeout(c);
    deadline = limit ? now_ns() + limit : 0;
    while (st != PGRES_POLLING_OK && st != PGRES_POLLING_FAILED && rc == 0) {
        rc = wait_socket(
            c, st == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline);
        if (rc == 0)
            st = PQconnectPoll(c->db);
    }
    if (rc == SB_ECANCELED)
        return sb_err_set(err, rc, "connecting was canceled");
    if (rc == SB_ETIMEOUT)
        return sb_err_set(err, SB_ECONNECT,
            "connecting to \"%s\" port %s took longer than %.3g s",
            PQhost(c->db), PQport(c->db), (double)limit / 1e9);
    if (rc)
        return sb_err_set(err, SB_ECONNECT, "cannot wait for the server: %s",
            strerror(errno));
    return st == PGRES_POLLING_OK ? 0 : refused(c, err);
}

// Logs notices of the server for debugging. Errors that no statement caused
// also arrive here.
static void notice(void *arg, const PGresult *r)
{
    struct pgsql_conn *c = arg;
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *why = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    char text[400], line[420];

    if (state && why && pgsql_classify(state) == SB_ELOST)
        pgsql_keep_closing(c, state, why);
    pgsql_one_line(PQresultErrorMessage(r), text, sizeof(text));
    snprintf(line, sizeof(line), "pgsql: %s", text);
    c->host->log(5, line);
}

static int connect_pgsql(struct sb_conn *conn, struct sb_driver_env *env,
    const void *opts, const struct sb_conn_info *info, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    struct pgsql_target t;
    int rc;

    c->env = env->shared;
    c->host = env->host;
    pgsql_target_fill(&t, c->env, info->number);
    c->db = PQconnectStartParams(t.key, t.value, 0);
    if (!c->db)
        return pgsql_no_memory(err);
    PQsetNoticeReceiver(c->db, notice, c);
    // Only messages in this form have the SQLSTATE of a refused connection.
    PQsetErrorVerbosity(c->db, PQERRORS_VERBOSE);
    rc = PQstatus(c->db) == CONNECTION_BAD ? refused(c, err)
                                           : finish_connect(c, err);
    if (rc)
        return rc;
    PQsetErrorVerbosity(c->db, PQERRORS_DEFAULT);
    PQsetnonblocking(c->db, 1); // see wait.c
    c->fd = PQsocket(c->db);
    c->local = sb_sock_is_local(c->fd);
#ifdef LIBPQ_HAS_PIPELINING // this libpq also reports GSSAPI encryption
    c->plain = c->env->o->bypass && !PQsslInUse(c->db) &&
               !PQgssEncInUse(c->db) && PQprotocolVersion(c->db) == 3;
#endif
    atomic_store_explicit(&c->cancel, PQgetCancel(c->db), memory_order_release);
    atomic_store_explicit(&c->socket, c->fd + 1, memory_order_release);
    return 0;
}

static void disconnect_pgsql(struct sb_conn *conn)
{
    struct pgsql_conn *c = pgsql_own(conn);

    PQfreeCancel(atomic_load_explicit(&c->cancel, memory_order_acquire));
    pgsql_clear(c);
    PQfinish(c->db);
    free(c->result);
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
static int reset(struct sb_conn *conn, struct sb_err *err)
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

static int socket_of(const struct sb_conn *conn)
{
    const struct pgsql_conn *c = (const struct pgsql_conn *)conn;

    return c->db ? c->fd : -1;
}

const struct sb_generic_ops pgsql_generic_ops = {
    .env_init = pgsql_env_init,
    .env_done = pgsql_env_done,
    .connect = connect_pgsql,
    .disconnect = disconnect_pgsql,
    .cancel = pgsql_cancel,
    .reset = reset,
    .socket = socket_of,
};
