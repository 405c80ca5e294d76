// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "drivers/pgsql/internal.h"
#include "kit/passcmd.h"
#include "kit/sock.h"

struct login {
    struct pgsql_conn *c;
    uint64_t number; // of the connection
};

// Also after a password that was refused.
static int log_in(void *arg, const char *password, struct sb_err *err)
{
    const struct login *l = arg;
    struct pgsql_target t;

    PQfinish(l->c->db);
    l->c->db = NULL;
    pgsql_target_fill(&t, l->c->env, l->number, password);
    return pgsql_dial(l->c, &t, err);
}

// With some methods, such as PAM, the server does not call the password
// invalid.
static bool is_refused(const struct sb_err *err)
{
    return strcmp(err->state, "28P01") == 0 || strcmp(err->state, "28000") == 0;
}

static int connect_pgsql(struct sb_conn *conn, struct sb_driver_env *env,
    const void *opts, const struct sb_conn_info *info, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    struct login l = { c, info->number };
    struct sb_passcmd_calls calls = { log_in, is_refused, env->host->sleep,
        env->host->apart };
    int rc;

    c->env = env->shared;
    c->host = env->host;
    c->shared = c->host->shared();
    rc = c->env->passcmd ? sb_passcmd_login(c->env->passcmd, &calls, &l, err)
                         : log_in(&l, c->env->password, err);
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
    // In this order: see pgsql_cancel().
    atomic_store(&c->socket, c->fd + 1);
    if (!atomic_exchange(&c->canceled, false))
        return 0;
    return sb_err_set(err, SB_ECANCELED, "connecting was canceled");
}

static void disconnect_pgsql(struct sb_conn *conn)
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

static const char *open_transaction(const struct sb_conn *conn)
{
    const struct pgsql_conn *c = (const struct pgsql_conn *)conn;

    return pgsql_transaction(c) == PQTRANS_INTRANS ? "" : NULL;
}

// The server assigns a number to a transaction when it writes.
static bool has_written(struct sb_conn *conn)
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
    .connect = connect_pgsql,
    .disconnect = disconnect_pgsql,
    .cancel = pgsql_cancel,
    .reset = reset,
    .socket = socket_of,
    .open_transaction = open_transaction,
    .has_written = has_written,
};
