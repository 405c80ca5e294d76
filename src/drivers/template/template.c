// SPDX-License-Identifier: GPL-2.0-or-later
//
// A driver to start from: copy this folder, put your database's name in the
// place of "template", and fill in the functions one after another. It
// compiles and loads as it is, and answers everything with "not supported".
// docs/driver-api.md has the rules; drivers/sqlite/ is a small complete one.
//
// A driver includes db/driver.h, its client library and libc. It links nothing
// of the core. It keeps no static data that changes: options come in a struct,
// what connections share lies in the environment, the rest in the connection.
#include <stdlib.h>

#include "db/driver.h"
#include "drivers/template/template.ffi.h"

// Options --------------------------------------------------------------------
//
// The core parses --template-host=... into this struct before the first
// connection; strings stay valid for the life of the connection. A script may
// give other values for one connection: drv:connect{host = "other"}; you see
// them here as well.

struct template_opts {
    const char *host;
    int64_t port;
    const char *password;
};

static const struct sb_opt opts[] = {
    // Every name begins with the driver's name and a dash.
    { .name = "template-host",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct template_opts, host),
        .def = "localhost",
        .help = "where the server is" },
    { .name = "template-port",
        .type = SB_OPT_INT,
        .offset = offsetof(struct template_opts, port),
        .def = "1234",
        .min = 1,
        .max = 65535,
        .help = "the port it listens on" },
    // Masked wherever options are shown.
    { .name = "template-password",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct template_opts, password),
        .def = "",
        .flags = SB_OPT_SECRET,
        .help = "password of the user" },
    { 0 },
};

static const struct sb_opt_table opt_table = {
    .title = "template driver options",
    .opts = opts,
};

// Environment ----------------------------------------------------------------
//
// Made before the first connection with these options, freed after the last:
// the place for a client library's own global handle, a topology, a pool.
// Leave both functions out (NULL) when there is nothing to share.

struct template_env {
    int placeholder; // yours
};

static int env_init(
    struct sb_driver_env *env, const void *opts_in, struct sb_err *err)
{
    env->shared = calloc(1, sizeof(struct template_env));
    if (!env->shared)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return 0;
}

static void env_done(struct sb_driver_env *env)
{
    free(env->shared);
    env->shared = NULL;
}

// Connections ----------------------------------------------------------------
//
// The core allocates conn_size bytes, zeroed, and passes their address as
// struct sb_conn. One thread at a time uses a connection; only cancel() comes
// from another one.

struct template_conn {
    const struct template_opts *o;
    struct template_env *env;
    // The handle of your client library, buffers for results ...
};

static struct template_conn *own(struct sb_conn *conn)
{
    return (struct template_conn *)conn;
}

static int connect_template(struct sb_conn *conn, struct sb_driver_env *env,
    const void *opts_in, const struct sb_conn_info *info, struct sb_err *err)
{
    struct template_conn *c = own(conn);

    c->o = opts_in;
    c->env = env->shared;
    // info->number spreads connections over several hosts: host[number % n].
    //
    // Say where, in the message: it is all the user sees.
    return sb_err_set(err, SB_EUNSUPPORTED,
        "the template driver connects to nothing (asked for %s:%d)", c->o->host,
        (int)c->o->port);
}

// Also called after a connect that failed: free what is there.
static void disconnect_template(struct sb_conn *conn)
{
    memset(own(conn), 0, sizeof(struct template_conn));
}

// Called by another thread while this connection may be inside a call, to make
// that call return SB_ECANCELED soon: shut its socket down, send a cancel
// request. Never free anything here.
static void cancel(struct sb_conn *conn)
{
}

// The event failed half-way. Send ROLLBACK if a transaction is open; do
// nothing if none is, because this is called after every failure.
static int reset(struct sb_conn *conn, struct sb_err *err)
{
    return 0;
}

static const struct sb_generic_ops generic_ops = {
    .env_init = env_init,
    .env_done = env_done,
    .connect = connect_template,
    .disconnect = disconnect_template,
    .reconnect = NULL, // the core disconnects and connects
    .cancel = cancel,
    .reset = reset,
};

// SQL ------------------------------------------------------------------------
//
// Classify every failure, for the event's fate depends on it:
//   SB_ERESTART   deadlock, serialization failure, lock time-out: try again
//   SB_EIGNORE    an error the user asked to ignore: go on
//   SB_ELOST      the connection is gone
//   SB_ECANCELED  cancel() was called
//   SB_EQUERY     everything else
// and give the database's own number, SQLSTATE and text:
//   return sb_err_native(err, SB_EQUERY, number, state, text);

struct template_stmt {
    int placeholder; // the handle of a prepared statement
};

static int unsupported(struct sb_err *err)
{
    return sb_err_set(
        err, SB_EUNSUPPORTED, "the template driver runs no statements");
}

// Runs the text and reads the whole result into memory before it returns: the
// time of a query includes the transfer of its rows. Fill *res:
//   rows     kind = SB_RESULT_ROWS, nfields, nrows
//   changes  kind = SB_RESULT_WRITE, affected, insert_id
//   neither  leave it alone (SB_RESULT_NONE)
static int query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    return unsupported(err);
}

// SB_EUNSUPPORTED here means: emulate this statement by text, it is no error.
// A driver without server-side statements leaves prepare, execute and close
// out.
static int prepare(struct sb_conn *conn, struct sb_stmt *stmt, const char *sql,
    size_t len, uint32_t *nparams, struct sb_err *err)
{
    return unsupported(err);
}

// The path that counts: no allocation, no lock, no copy that can be avoided.
static int execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err)
{
    return unsupported(err);
}

static void close_stmt(struct sb_conn *conn, struct sb_stmt *stmt)
{
}

// 1 and res->nfields cells, as text; 0 after the last row.
static int fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    return 0;
}

static const char *column(
    struct sb_conn *conn, struct sb_result *res, uint32_t i)
{
    return NULL;
}

// Called before the next statement, also for results without rows.
static void free_result(struct sb_conn *conn, struct sb_result *res)
{
}

static const struct sb_sql_ops sql_ops = {
    .query = query,
    .prepare = prepare,
    .execute = execute,
    .close = close_stmt,
    .fetch = fetch,
    .column = column,
    .next_result = NULL, // one result a statement
    .free_result = free_result,
    .quote = NULL, // 'it''s'
};

// Information
// ------------------------------------------------------------------

static int server(struct sb_conn *conn, char *out, size_t size)
{
    return snprintf(out, size, "no server");
}

static int client(char *out, size_t size)
{
    return snprintf(out, size, "no client library");
}

static const struct sb_info_ops info_ops = {
    .server = server,
    .client = client,
    .counters = NULL,
};

// Lua
// --------------------------------------------------------------------------
//
// What the SQL API has no word for, a driver gives to scripts by a Lua module
// of its own: sysbench.driver.template. It is run with the C library that
// this file is and the driver object, and declares what it calls. What it
// calls is listed in template.ffi.h and exported. Leave all of this out when
// there is nothing to add.

int template_answer(int question)
{
    return question * 2;
}

static const char lua[] =
    "require('ffi').cdef('int template_answer(int question);')\n"
    "local lib, driver = ... return { answer = lib.template_answer,"
    " driver = driver }\n";

// The one symbol that every module exports.
SB_DRIVER_EXPORT const struct sb_driver sb_driver = {
    .abi = SB_DRIVER_ABI,
    .name = "template", // template.so
    .title = "template: a driver to start from",
    .dialect = "template", // key in tests/lua/dialect.lua
    .caps = 0,
    .opts = &opt_table,
    .opts_size = sizeof(struct template_opts),
    .conn_size = sizeof(struct template_conn),
    .stmt_size = sizeof(struct template_stmt),
    .generic = &generic_ops,
    .sql = &sql_ops,
    .doc = NULL,
    .bulk = NULL, // the core sends multi-row INSERTs
    .info = &info_ops,
    .lua = lua,
};
