// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "drivers/mysql/internal.h"
#include "kit/limits.h"
#include "kit/passcmd.h"

#define CR_MALFORMED                 2027
#define CR_OF_CLIENT                 2000 // first error number of the client library
#define ER_ACCESS_DENIED             1045
#define ER_ACCESS_DENIED_NO_PASSWORD 1698

static const char *user_of(const struct sbmy_opts *o)
{
    return sbmy_from_files(o) && !o->given.user ? NULL : o->user;
}

static struct sbmy_place my_place_of(const struct sbmy_conn *c)
{
    struct sbmy_place p = sbmy_places_get(&c->env->places, c->place);

    if (!sbmy_from_files(c->o) || p.socket)
        return p;
    if (!c->o->given.hosts || c->o->hosts.count == 0)
        p.host = NULL;
    if (!c->o->given.ports || c->o->ports.count == 0)
        p.port = 0;
    return p;
}

static void name_place(struct sbmy_place p, char *out, size_t size)
{
    if (p.socket)
        snprintf(out, size, "on socket '%.200s'", p.socket);
    else if (sbmy_place_is_default(p))
        snprintf(out, size,
            "on the default socket (for TCP, use 127.0.0.1, not localhost)");
    else if (p.host)
        snprintf(out, size, "on host '%.160s', port %u", p.host,
            p.port ? p.port : 3306);
    else
        snprintf(out, size, "set in the option file");
}

// Replaces the message of MariaDB's library for a refused plugin, because it
// contains a name from memory that was already reused.
static const char *my_reason(MYSQL *my)
{
    return mysql_errno(my) == SBMY_CR_PLUGIN_REFUSED
               ? "the server requested an authentication plugin that is not "
                 "allowed"
               : mysql_error(my);
}

// The server denies access to accounts that require TLS (REQUIRE SSL), and does
// not say why. MariaDB's library takes the error of a proxy without a server
// for a malformed packet.
static const char *login_hint(const struct sbmy_conn *c, unsigned native)
{
    struct sbmy_place p = my_place_of(c);

    if (native == CR_MALFORMED)
        return "is it a proxy that cannot connect to its server?";
    if (native != ER_ACCESS_DENIED || sbmy_tls(c->o) != SBMY_TLS_DISABLED ||
        p.socket || sbmy_place_is_default(p))
        return sbmy_hint((int)native);
    return "wrong user or password, or an account that requires TLS: "
           "--mysql-ssl=required";
}

// Formats the error as one sentence. `my` has the error; failed: errno of the
// attempt.
static int no_connection(
    const struct sbmy_conn *c, MYSQL *my, int failed, struct sb_err *err)
{
    unsigned native = mysql_errno(my);
    const char *hint = login_hint(c, native);
    char where[260], limit[80] = "";

    name_place(my_place_of(c), where, sizeof(where));
    if (failed == EMFILE && native >= CR_OF_CLIENT)
        sb_limit_of_files(limit, sizeof(limit));
    sb_err_set(err, SB_ECONNECT,
        "unable to connect to MySQL server %s: error %u: %.200s%s%s%s%s", where,
        native, my_reason(my), limit, *hint ? " (" : "", hint,
        *hint ? ")" : "");
    if (err) {
        err->native = (int)native;
        snprintf(err->state, sizeof(err->state), "%s", mysql_sqlstate(my));
    }
    return SB_ECONNECT;
}

static int no_tls(const struct sbmy_conn *c, struct sb_err *err)
{
    const char *word = sbmy_ssl_words[c->o->ssl];
    char where[260];

    name_place(my_place_of(c), where, sizeof(where));
    return sb_err_set(err, SB_ECONNECT,
        "unable to connect to MySQL server %s: it does not support TLS, which "
        "--mysql-ssl%s%s requires; --mysql-ssl=preferred connects "
        "without TLS",
        where, *word ? "=" : "", word);
}

// A file can tell MariaDB's library to connect again on its own, to a socket
// that the driver does not know.
static void keep_descriptor(MYSQL *my)
{
#if SBMY_MARIADB
    mysql_options(my, MYSQL_OPT_RECONNECT, &(sbmy_bool){ 0 });
#endif
    (void)my;
}

// A port that was given for localhost names a server that may not be the one of
// the default socket.
static int check_port(const struct sbmy_conn *c, struct sbmy_place p, MYSQL *my,
    struct sb_err *err)
{
    MYSQL_RES *res = NULL;
    MYSQL_ROW row = NULL;
    unsigned port = 0;

    if (!sbmy_place_is_default(p) || !c->o->given.ports || !my->unix_socket)
        return 0;
    if (mysql_query(my, "SELECT @@port") == 0)
        res = mysql_store_result(my);
    if (res)
        row = mysql_fetch_row(res);
    if (row && row[0])
        port = (unsigned)strtoul(row[0], NULL, 10);
    mysql_free_result(res);
    // 0: the server has no port.
    if (port == 0 || port == p.port)
        return 0;
    return sb_err_set(err, SB_ECONNECT,
        "--mysql-host=localhost selects the socket '%s', whose server has port "
        "%u, not %u: use --mysql-host=127.0.0.1 or --mysql-socket",
        my->unix_socket, port, p.port);
}

static int my_dial(struct sbmy_conn *c, MYSQL *my, const char *password,
    enum sbmy_tls mode, struct sb_err *err)
{
    const struct sbmy_opts *o = c->o;
    struct sbmy_place p = my_place_of(c);
    int rc = sbmy_settings(my, c->env, mode, err);

    if (rc)
        return rc;
    sbmy_auth(my, o, p, mode);
    sbmy_infile_guard(c, my);
    sbmy_socket_library_connect(c, my);
    errno = 0;
    if (o->debug)
        sbmy_trace(c, "mysql_real_connect(%s, %s, ..., %s, %u, %s)",
            p.host ? p.host : "NULL", user_of(o) ? user_of(o) : "NULL", o->db,
            p.port, p.socket ? p.socket : "NULL");
    if (!mysql_real_connect(my, p.host, user_of(o), password,
            *o->db ? o->db : NULL, p.port, p.socket,
            CLIENT_MULTI_STATEMENTS | CLIENT_MULTI_RESULTS))
        return no_connection(c, my, errno, err);
    keep_descriptor(my);
    // In the libraries, settings of the file override those of the handle.
    if (sbmy_from_files(o) && o->given.charset && *o->charset &&
        mysql_set_character_set(my, o->charset))
        return no_connection(c, my, errno, err);
    if (mode >= SBMY_TLS_REQUIRED && !mysql_get_ssl_cipher(my))
        return no_tls(c, err);
    return check_port(c, p, my, err);
}

static int try_mode(struct sbmy_conn *c, const char *password,
    enum sbmy_tls mode, struct sb_err *err)
{
    MYSQL *my = mysql_init(NULL);
    int rc;

    if (!my)
        return sb_err_no_memory(err);
    rc = my_dial(c, my, password, mode, err);
    if (rc) {
        mysql_close(my);
        return rc;
    }
    sbmy_settings_forget(my);
    c->my = my;
    c->why[0] = '\0';
    c->socket.fd = sbmy_descriptor(my);
    sbmy_wire_open(c);
    return 0;
}

struct attempt {
    struct sbmy_conn *c;
    struct sb_err *err;
    int rc;
};

static int try_password(void *arg, const char *password, struct sb_err *err)
{
    struct sbmy_conn *c = arg;
    enum sbmy_tls mode = sbmy_tls(c->o);
    int rc = try_mode(c, password, mode, err);

    // Most libraries can only require encryption or disable it, so "preferred"
    // is two attempts.
    if (rc == SB_ECONNECT && mode == SBMY_TLS_PREFERRED && err &&
        err->native == SBMY_CR_SSL)
        rc = try_mode(c, password, SBMY_TLS_DISABLED, err);
    return rc;
}

static bool my_is_refused(const struct sb_err *err)
{
    return err->native == ER_ACCESS_DENIED ||
           err->native == ER_ACCESS_DENIED_NO_PASSWORD;
}

static void try_place(void *arg)
{
    struct attempt *a = arg;
    const struct sb_host *host = a->c->host;
    struct sb_passcmd_calls calls = { try_password, my_is_refused, host->sleep,
        host->apart };

    sbmy_apart_begin(a->c);
    a->rc = a->c->env->passcmd
                ? sb_passcmd_login(a->c->env->passcmd, &calls, a->c, a->err)
                : try_password(a->c, a->c->env->password, a->err);
    sbmy_apart_end(a->c);
}

// Returns whether the library, while it connects, waits only by the function of
// the driver. It blocks the thread to look up a name, during the handshake of
// TLS, and when the queue of a Unix socket is full: then it sleeps up to a
// second at a time.
static bool waits_as_told(const struct sbmy_conn *c)
{
    return SBMY_LOOP && sbmy_tls(c->o) == SBMY_TLS_DISABLED &&
           !c->env->passcmd && !sbmy_from_files(c->o) &&
           sbmy_place_is_address(my_place_of(c));
}

// Called in the thread of the connection, while no other one has begun to
// connect.
static bool is_canceled(void *arg)
{
    return sbmy_take_cancel(((struct attempt *)arg)->c);
}

static int my_was_canceled(struct sb_err *err)
{
    return sb_err_set(err, SB_ECANCELED, "connecting was canceled");
}

static int no_turn(const struct sbmy_conn *c, int rc, struct sb_err *err)
{
    char where[260];

    if (rc == SB_ECANCELED)
        return my_was_canceled(err);
    name_place(my_place_of(c), where, sizeof(where));
    return sb_err_set(err, SB_ECONNECT,
        "unable to connect to MySQL server %s: no thread was free to connect "
        "within --mysql-connect-timeout, because too many other connections "
        "were being opened",
        where);
}

static int connect_place(struct sbmy_conn *c, struct sb_err *err)
{
    struct attempt a = { .c = c, .err = err };
    int rc = 0;

    assert(!c->my && c->result == &sbmy_no_result);
    c->socket.tells = false;
    c->state = SBMY_USABLE;
    if (c->o->dry_run)
        return 0;
    if (sbmy_take_cancel(c))
        return my_was_canceled(err);
    if (waits_as_told(c))
        try_place(&a);
    else
        rc = c->host->apart(
            try_place, is_canceled, &a, sbmy_socket_deadline(c));
    if (rc)
        return no_turn(c, rc, err);
    if (a.rc == 0)
        sbmy_socket_library(c);
    // In this order: see my_cancel().
    atomic_store(&c->shared_fd, a.rc == 0 ? c->socket.fd + 1 : 0);
    return sbmy_take_cancel(c) ? my_was_canceled(err) : a.rc;
}

static void make_lock(struct sbmy_conn *c)
{
    if (!c->has_lock)
        pthread_mutex_init(&c->lock, NULL);
    c->has_lock = true;
}

static int my_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *opts, const struct sb_conn_info *info, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);

    c->env = env->shared;
    c->o = opts;
    c->host = env->host;
    c->place = info->number;
    c->result = &sbmy_no_result;
    make_lock(c);
    return connect_place(c, err);
}

static void close_handle(struct sbmy_conn *c)
{
    if (!c->my)
        return;
    sbmy_bulk_drop(c);
    sbmy_apart_begin(c);
    sbmy_result_drop(c);
    c->piped = 0;
    atomic_store_explicit(&c->shared_fd, 0, memory_order_release);
    if (c->o->debug)
        sbmy_trace(c, "mysql_close()");
    mysql_close(c->my);
    c->my = NULL;
    sbmy_apart_end(c);
}

static void my_disconnect(struct sb_conn *conn)
{
    struct sbmy_conn *c = sbmy_own(conn);

    close_handle(c);
    sbmy_rows_done(&c->rows);
    sbmy_wire_done(&c->wire);
    free(c->calls);
    c->calls = NULL;
    c->cap_calls = 0;
    if (c->has_lock)
        pthread_mutex_destroy(&c->lock);
    c->has_lock = false;
}

// Reconnects to the same place, or to the next one that answers.
static int my_reconnect(struct sb_conn *conn, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    uint64_t places = sbmy_places_count(&c->env->places);
    int rc;

    close_handle(c);
    make_lock(c);
    for (uint64_t i = 0;; i++) {
        rc = connect_place(c, err);
        if (rc != SB_ECONNECT || i + 1 >= places)
            return rc;
        c->place++;
    }
}

static bool my_is_idle(struct sbmy_conn *c)
{
    return atomic_load(&c->shared_fd) != 0 && !atomic_load(&c->busy);
}

// A connect that ends meanwhile sees the flag, or its descriptor is seen here.
//
// The library may close the descriptor on its own when a call fails. Until the
// end of that call, a new socket of another thread may have the same number,
// and would be shut down. This is acceptable, because the run is being ended
// anyway.
static void my_cancel(struct sb_conn *conn)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int socket;

    if (my_is_idle(c))
        return;
    atomic_store(&c->canceled, true);
    socket = atomic_load(&c->shared_fd);
    if (socket <= 0)
        return;
    pthread_mutex_lock(&c->lock);
    if (c->bulk)
        sbmy_bulk_cancel(c->bulk);
    pthread_mutex_unlock(&c->lock);
    shutdown(socket - 1, SHUT_RDWR);
}

static int my_reset(struct sb_conn *conn, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    int rc;

    if (c->o->dry_run)
        return 0;
    // A call has reported the cancel that has closed the connection. The caller
    // continues, so it must reconnect.
    if (c->state == SBMY_CANCELED)
        return sb_err_native(err, SB_ERECONNECT, SBMY_CR_GONE, "HY000",
            "a cancel has closed the connection");
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    sbmy_result_drop(c);
    if (!(c->my->server_status & SERVER_STATUS_IN_TRANS))
        return sbmy_call_end(c, 0);
    return sbmy_call_end(c, sbmy_ask_nothing(c, "ROLLBACK", err));
}

// A cancel that no call has reported yet is reported by the next call.
static int my_socket_of(const struct sb_conn *conn)
{
    const struct sbmy_conn *c = (const struct sbmy_conn *)conn;

    if (!c->my || atomic_load_explicit(&c->canceled, memory_order_relaxed))
        return -1;
    return c->state == SBMY_LOST ? SB_ELOST : c->socket.fd;
}

static const char *my_open_transaction(const struct sb_conn *conn)
{
    const struct sbmy_conn *c = (const struct sbmy_conn *)conn;
    unsigned status = c->my ? c->my->server_status : 0;

    if (!(status & SERVER_STATUS_IN_TRANS))
        return NULL;
    return status & SERVER_STATUS_AUTOCOMMIT
               ? ""
               : "autocommit is off; --db-init-sql='SET autocommit = 1' turns "
                 "it on";
}

const struct sb_generic_ops sbmy_generic_ops = {
    .env_init = sbmy_env_init,
    .env_done = sbmy_env_done,
    .connect = my_connect,
    .disconnect = my_disconnect,
    .reconnect = my_reconnect,
    .cancel = my_cancel,
    .reset = my_reset,
    .socket = my_socket_of,
    .open_transaction = my_open_transaction,
};
