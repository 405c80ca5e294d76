// SPDX-License-Identifier: GPL-2.0-or-later
//
// A template for a driver: copy this folder, replace "template" by the name of
// your database, and implement the functions one after another. It compiles and
// loads as it is, but cannot connect to anything yet. docs/driver-api.md has
// the rules. drivers/sqlite/ is a small complete driver.
//
// A driver includes db/driver.h, its client library and libc. It links nothing
// from the core. It has no mutable static data: options are passed in a struct,
// the state that connections share is in the environment, and the rest in the
// connection.
#include <stdlib.h>

#include "base/export.h"
#include "db/driver.h"

// Options --------------------------------------------------------------------
//
// The core parses --template-host=... into this struct before the first
// connection. Strings stay valid for the life of the connection. A script can
// override options for one connection: drv:connect{host = "other"}. The struct
// then has these values.

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
        .help = "host of the server" },
    { .name = "template-port",
        .type = SB_OPT_INT,
        .offset = offsetof(struct template_opts, port),
        .def = "1234",
        .min = 1,
        .max = 65535,
        .help = "port of the server" },
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
// Created before the first connection with these options, freed after the last:
// the place for a global handle of the client library, a topology, a pool. If
// there is nothing to share, set both functions to NULL.

struct template_env {
    int placeholder; // replace it by your fields
};

static int template_env_init(
    struct sb_driver_env *env, const void *opts_in, struct sb_err *err)
{
    env->shared = calloc(1, sizeof(struct template_env));
    if (!env->shared)
        return sb_err_no_memory(err);
    return 0;
}

static void template_env_done(struct sb_driver_env *env)
{
    free(env->shared);
    env->shared = NULL;
}

// Connections ----------------------------------------------------------------
//
// The core allocates conn_size bytes, zeroed, and passes their address as
// struct sb_conn. One thread at a time uses a connection; only
// template_cancel() is called by another one.

struct template_conn {
    const struct template_opts *o;
    struct template_env *env;
    // The handle of your client library, buffers for results ...
};

static struct template_conn *template_own(struct sb_conn *conn)
{
    return (struct template_conn *)conn;
}

static int template_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *opts_in, const struct sb_conn_info *info, struct sb_err *err)
{
    struct template_conn *c = template_own(conn);

    c->o = opts_in;
    c->env = env->shared;
    // info->number spreads connections over several hosts: host[number % n].
    //
    // The message must contain the server, because users see nothing else.
    return sb_err_set(err, SB_EUNSUPPORTED,
        "the template driver cannot connect (to %s:%d)", c->o->host,
        (int)c->o->port);
}

// Also called after a failed connect: frees what was allocated.
static void template_disconnect(struct sb_conn *conn)
{
    memset(template_own(conn), 0, sizeof(struct template_conn));
}

// Called by another thread while a call of this connection may be in progress,
// to make that call return SB_ECANCELED soon: shuts the socket down, or sends a
// cancel request. It must not free anything.
static void template_cancel(struct sb_conn *conn)
{
}

// Called after every event that failed. Sends ROLLBACK if a transaction is
// open; otherwise does nothing.
static int template_reset(struct sb_conn *conn, struct sb_err *err)
{
    return 0;
}

// Returns the descriptor of the socket; -1: no server is used. The core uses
// it to find out whether the server has closed an idle connection.
static int template_socket(const struct sb_conn *conn)
{
    return -1;
}

static const struct sb_generic_ops generic_ops = {
    .env_init = template_env_init,
    .env_done = template_env_done,
    .connect = template_connect,
    .disconnect = template_disconnect,
    .reconnect = NULL, // the core disconnects and connects
    .cancel = template_cancel,
    .reset = template_reset,
    .socket = template_socket,
};

// SQL ------------------------------------------------------------------------
//
// Classify each error, because it decides what happens to the event:
//   SB_ERESTART   deadlock, serialization failure, lock timeout: retry it
//   SB_EIGNORE    an error that the user chose to ignore: continue
//   SB_ELOST      the connection is lost
//   SB_ECANCELED  template_cancel() was called
//   SB_EQUERY     everything else
// Pass the error number, SQLSTATE and text of the database:
//   return sb_err_native(err, SB_EQUERY, number, state, text);

struct template_stmt {
    int placeholder; // the handle of a prepared statement
};

static int unsupported(struct sb_err *err)
{
    return sb_err_set(
        err, SB_EUNSUPPORTED, "the template driver runs no statements");
}

// Runs the text and reads the whole result into memory before it returns, so
// that the time of a query includes the transfer of its rows. Fills *res:
//   rows     kind = SB_RESULT_ROWS, nfields, nrows
//   changes  kind = SB_RESULT_WRITE, affected, insert_id
//   found    matched: an UPDATE found rows, but changed none
//   neither  unchanged (SB_RESULT_NONE)
static int template_query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    return unsupported(err);
}

// SB_EUNSUPPORTED makes the core emulate this statement by text; it is not
// counted as an error. A driver without server-side statements sets prepare,
// execute and close to NULL.
static int template_prepare(struct sb_conn *conn, struct sb_stmt *stmt,
    const char *sql, size_t len, const uint8_t *types, uint32_t *nparams,
    struct sb_err *err)
{
    return unsupported(err);
}

// The critical path: no allocation, no lock, no avoidable copy.
static int template_execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err)
{
    return unsupported(err);
}

static void template_close(struct sb_conn *conn, struct sb_stmt *stmt)
{
}

// Returns 1 and res->nfields cells, as text; 0 after the last row.
static int template_fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    return 0;
}

static const char *template_column(
    struct sb_conn *conn, struct sb_result *res, uint32_t i)
{
    return NULL;
}

// Called before the next statement, also for results without rows.
static void template_free_result(struct sb_conn *conn, struct sb_result *res)
{
}

static const struct sb_sql_ops sql_ops = {
    .query = template_query,
    .prepare = template_prepare,
    .execute = template_execute,
    .close = template_close,
    .fetch = template_fetch,
    .column = template_column,
    .next_result = NULL, // one result per statement
    .free_result = template_free_result,
    .quote = NULL, // the core writes 'it''s'
};

// Information ----------------------------------------------------------------

static int template_server(struct sb_conn *conn, char *out, size_t size)
{
    return snprintf(out, size, "no server");
}

static int template_client(char *out, size_t size)
{
    return snprintf(out, size, "no client library");
}

// Called on a connection of its own, in a thread of its own. Fills *out with
// what the connection is connected to, and passes settings that affect
// performance, as far as the server shows them to this user.
static int template_describe(struct sb_conn *conn, struct sb_server *out,
    int (*setting)(void *arg, const char *name, const char *value,
        enum sb_setting_state state),
    void *arg, struct sb_err *err)
{
    const struct template_opts *o = template_own(conn)->o;

    snprintf(out->name, sizeof(out->name), "no server");
    snprintf(
        out->address, sizeof(out->address), "%s:%d", o->host, (int)o->port);
    return setting(arg, "durable", "off", SB_SETTING_DEFAULT);
}

// Called once per interval, on the same connection.
static int template_counters(
    struct sb_conn *conn, const struct sb_counter_sink *to, struct sb_err *err)
{
    struct sb_counter c = {
        .name = "statements", .value = 0, .kind = SB_COUNTER_TOTAL
    };

    return to->wanted(to->arg, "statements") ? to->take(to->arg, &c) : 0;
}

static const struct sb_info_ops info_ops = {
    .server = template_server,
    .client = template_client,
    .describe = template_describe,
    .servers = NULL, // connections use one server
    .counters = template_counters,
    // Also optional: ping, inspect, activity with session. See db/driver.h.
    .counters_default = "statements",
    .explain = NULL, // plans of statements are not known
};

// Lua ------------------------------------------------------------------------
//
// A driver can offer functions that the SQL API does not cover by a Lua module,
// sysbench.driver.template. Its arguments are the C library that is built from
// this file, the driver object, and the functions of the API for drivers. The C
// functions that it calls are declared once, for C and for the module, and
// exported by SB_FFI. Omit all of this if there is nothing to add. kv.c is a
// complete example.

// An example: returns twice the number. Any thread.
SB_DRIVER_DECLARE(declarations, int template_answer(int question););

SB_FFI int template_answer(int question)
{
    return question * 2;
}

static const char lua[] =
    "local lib, driver, api = ... return { answer = lib.template_answer,"
    " driver = driver }\n";

// The one symbol that every module exports.
SB_DRIVER_EXPORT const struct sb_driver sb_driver = {
    .abi = SB_DRIVER_ABI,
    .name = "template", // template.so
    .title = "template for drivers",
    .dialect = "template", // tests/lua/sb/dialect.lua
    .scan = 0,             // strings, names and comments as in standard SQL
    .caps = SB_CAP_EMBEDDED,
    .opts = &opt_table,
    .opts_size = sizeof(struct template_opts),
    .conn_size = sizeof(struct template_conn),
    .stmt_size = sizeof(struct template_stmt),
    .generic = &generic_ops,
    .sql = &sql_ops,
    .bulk = NULL, // the core sends multi-row INSERTs
    .info = &info_ops,
    .upkeep = NULL, // --settle and --prewarm have no effect
    .lua = lua,
    .lua_declarations = declarations,
};
