// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "drivers/mongodb/internal.h"
#include "kit/clock.h"
#include "kit/passcmd.h"

// Connecting means finding the servers, authenticating, and receiving one
// answer, so that problems are reported now and not in the first event.
static int ping(struct sbmo_conn *c, struct sb_err *err)
{
    bson_t *body = BCON_NEW("ping", BCON_INT32(1));
    bson_error_t e = { 0 };
    bson_t reply;
    struct sbmo_search search = { .until = 0 };
    bool fine;

    do {
        fine = mongoc_client_command_with_opts(
            c->client, c->env->db, body, c->env->prefs, NULL, &reply, &e);
        bson_destroy(&reply);
    } while (!fine && sbmo_look_again(c, &search, &e));
    bson_destroy(body);
    return fine ? 0 : sbmo_no_connection(c, &e, err);
}

// With w: 0 the server must not answer writes. Some servers answer anyway, so
// that every later command would receive the answer of an earlier one; others
// close the connection. The first command without an answer is therefore a
// ping, and the next command must get its own answer.
static int try_without_answers(struct sbmo_conn *c, struct sb_err *err)
{
    bson_t *body = BCON_NEW("ping", BCON_INT32(1));
    bson_t *who = BCON_NEW("isMaster", BCON_INT32(1));
    bson_t opts = BSON_INITIALIZER, reply;
    bson_error_t error = { 0 };
    struct sb_elem e;
    bool fine;

    mongoc_write_concern_append(c->env->write_concern, &opts);
    fine = mongoc_client_write_command_with_opts(
        c->client, c->env->db, body, &opts, &reply, &error);
    bson_destroy(&reply);
    if (fine) {
        fine = mongoc_client_command_with_opts(
            c->client, c->env->db, who, NULL, NULL, &reply, &error);
        fine = fine && sb_bson_find(bson_get_data(&reply), reply.len,
                           "maxWireVersion", &e);
        bson_destroy(&reply);
    }
    bson_destroy(&opts);
    bson_destroy(who);
    bson_destroy(body);
    if (fine)
        return 0;
    if (sbmo_canceled(c))
        return sbmo_no_connection(c, &error, err);
    return sb_err_set(err, SB_ECONNECT,
        "the server at %s does not support unacknowledged writes: a write "
        "concern of 0 cannot be used with it",
        sbmo_stream_last(c) ? sbmo_stream_last(c) : c->env->where);
}

// If its last attempt is less than half a second ago, the library sleeps before
// the next one.
#if MONGOC_CHECK_VERSION(1, 26, 0)
static void sleep_us(int64_t us, void *host)
{
    const struct sb_host *h = host;

    h->sleep(sb_clock_monotonic() + (us > 0 ? (uint64_t)us * 1000 : 0));
}

static void let_others_run(struct sbmo_conn *c)
{
    mongoc_client_set_usleep_impl(
        c->client, sleep_us, (void *)(uintptr_t)c->host);
}
#else
static void let_others_run(struct sbmo_conn *c)
{
    (void)c;
}
#endif

struct making {
    const mongoc_uri_t *uri;
    mongoc_client_t *client;
    bson_error_t *error;
};

static void make_client(void *arg)
{
    struct making *m = arg;

    m->client = mongoc_client_new_from_uri_with_error(m->uri, m->error);
}

// NULL: *error. Making a client looks up the records of a mongodb+srv URL, and
// with TLS it may read the certificates.
static mongoc_client_t *new_client(
    struct sbmo_conn *c, const mongoc_uri_t *uri, bson_error_t *error)
{
    struct making m = { .uri = uri, .error = error };

    if (mongoc_uri_get_srv_hostname(m.uri) || sbmo_is_encrypted(m.uri))
        sbmo_apart(c, make_client, &m, error);
    else
        make_client(&m);
    return m.client;
}

struct pinging {
    struct sbmo_conn *c;
    struct sb_err *err;
    int rc;
};

static void ping_apart(void *arg)
{
    struct pinging *p = arg;

    p->rc = ping(p->c, p->err);
}

static bool logs_in(const mongoc_uri_t *uri)
{
    return mongoc_uri_get_username(uri) || mongoc_uri_get_auth_mechanism(uri);
}

// If the URL has a login, the first call is made apart: the library computes
// for long (16 ms for the 15,000 hashes that SCRAM-SHA-256 usually takes), and
// some methods ask services through sockets of the library.
static int first_call(struct sbmo_conn *c, struct sb_err *err)
{
    struct pinging p = { .c = c, .err = err };
    bson_error_t e = { 0 };

    if (!logs_in(c->env->uri))
        return ping(c, err);
    if (sbmo_apart(c, ping_apart, &p, &e))
        return sbmo_no_connection(c, &e, err);
    return p.rc;
}

static int with_uri(
    struct sbmo_conn *c, const mongoc_uri_t *uri, struct sb_err *err)
{
    const struct sbmo_env *e = c->env;
    bson_error_t error = { 0 };

    c->client = new_client(c, uri, &error);
    if (!c->client)
        return sbmo_no_connection(c, &error, err);
    mongoc_client_set_error_api(c->client, MONGOC_ERROR_API_VERSION_2);
    mongoc_client_set_stream_initiator(c->client, sbmo_stream, c);
    let_others_run(c);
    // This driver adds the options that each command supports.
    mongoc_client_set_read_concern(c->client, e->no_read_concern);
    mongoc_client_set_write_concern(c->client, e->no_write_concern);
    // Sessions take the read preference of the client for their transactions,
    // and transactions can only read from the primary.
    mongoc_client_set_read_prefs(c->client, e->primary);
    return first_call(c, err);
}

// Also after a password that was refused.
static int mo_log_in(void *arg, const char *password, struct sb_err *err)
{
    struct sbmo_conn *c = arg;
    mongoc_uri_t *uri = mongoc_uri_copy(c->env->uri);
    int rc;

    if (c->client)
        mongoc_client_destroy(c->client);
    c->client = NULL;
    if (uri && !mongoc_uri_set_password(uri, password))
        rc = sb_err_set(err, SB_ECONNECT,
            "--mongo-password-command: the password is not valid UTF-8");
    else
        rc = uri ? with_uri(c, uri, err) : sb_err_no_memory(err);
    mongoc_uri_destroy(uri);
    return rc;
}

static bool mo_is_refused(const struct sb_err *err)
{
    return err->native == SBMO_AUTH_FAILED;
}

static int mo_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *opts, const struct sb_conn_info *info, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    struct sbmo_env *e = env->shared;
    struct sb_passcmd_calls calls = { mo_log_in, mo_is_refused,
        env->host->sleep, env->host->apart };
    int rc;

    assert(!c->client); // the core has zeroed it
    c->env = e;
    c->host = env->host;
    rc = e->passcmd ? sb_passcmd_login(e->passcmd, &calls, c, err)
                    : with_uri(c, e->uri, err);
    if (rc == 0 && e->unacknowledged)
        rc = try_without_answers(c, err);
    if (rc == 0)
        rc = sbmo_sessions_init(c, err);
    // In this order: see mo_cancel().
    atomic_store(&c->connected, rc == 0);
    if (rc == 0 && atomic_load(&c->canceled))
        rc = sb_err_set(err, SB_ECANCELED, "connecting was canceled");
    sbmo_end(c);
    return rc;
}

// The library ends its sessions and an open transaction on the server and waits
// for the answers. If the connection is lost, it even looks for another server.
// After a reset it drops them instead, and the server ends them later.
static void leave_server(struct sbmo_conn *c)
{
    c->leaving = true;
    if (!c->last || sbmo_canceled(c))
        mongoc_client_reset(c->client);
    sbmo_sessions_done(c);
    mongoc_client_destroy(c->client);
}

static void mo_disconnect(struct sb_conn *conn)
{
    struct sbmo_conn *c = sbmo_own(conn);

    if (c->client)
        leave_server(c);
    sbmo_result_done(&c->result);
    sb_buf_done(&c->compiled);
    sb_buf_done(&c->bulk);
    sb_buf_done(&c->head);
    sb_buf_done(&c->columns);
    memset(c, 0, sizeof(*c));
}

static bool mo_is_idle(struct sbmo_conn *c)
{
    return atomic_load(&c->connected) && !atomic_load(&c->busy);
}

// A connect may end while this function runs. Then either the connect finds the
// flag set, or this function finds the connection idle and, as after any call
// that has ended, leaves its sockets open.
static void mo_cancel(struct sb_conn *conn)
{
    struct sbmo_conn *c = sbmo_own(conn);

    if (mo_is_idle(c))
        return;
    atomic_store(&c->canceled, true);
    if (!mo_is_idle(c))
        sbmo_streams_cancel(c);
}

static int mo_reset(struct sb_conn *conn, struct sb_err *err)
{
    struct sbmo_conn *c = sbmo_own(conn);
    int rc = sbmo_begin(c, err);

    if (rc)
        return rc;
    sbmo_result_clear(&c->result);
    c->nrows = 0;
    rc = sbmo_abort(c, err);
    sbmo_end(c);
    return rc;
}

// The library may have several sockets, one for each server of a cluster.
// Commands go to the one written to last.
static int mo_socket(const struct sb_conn *conn)
{
    return sbmo_stream_socket((const struct sbmo_conn *)conn);
}

const struct sb_generic_ops sbmo_generic_ops = {
    .env_init = sbmo_env_init,
    .env_done = sbmo_env_done,
    .connect = mo_connect,
    .disconnect = mo_disconnect,
    .cancel = mo_cancel,
    .reset = mo_reset,
    .socket = mo_socket,
};
