// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/internal.h"
#include "kit/errnum.h"

enum kind {
    KIND_OTHER,
    KIND_RETRY,   // conflict with another transaction, of the list of 1.0
    KIND_AGAIN,   // another try succeeds, whatever --mysql-ignore-errors is
    KIND_LOST,    // the connection or its session is lost
    KIND_PREPARE, // the statement cannot be prepared
    KIND_LOAD,    // no support for LOAD DATA LOCAL
    KIND_NEITHER, // unknown command; may be PREPARE or LOAD
};

#define MAY_READ                                     \
    "an unverified server could read the password; " \
    "--mysql-cleartext-password=on allows it"

#define CONFLICT                                                              \
    "a conflict with another transaction; if --mysql-ignore-errors contains " \
    "this number, the event is retried"

// Numbers from 2000 to 2999 and from 5000 to 5999 are those of the client
// library. Those of servers: share/messages_to_clients.txt of MySQL,
// sql/share/errmsg-utf8.txt of MariaDB, pkg/errno/errcode.go of TiDB. They
// restart the event if the message, or error-codes.md of TiDB's documentation,
// says that the transaction was rolled back or can be tried again.
static const struct sb_errnum table[] = {
    { 1020, KIND_RETRY, CONFLICT }, // record has changed since last read
    { 1021, KIND_OTHER, "the server has no space left on its disk" },
    { 1040, KIND_OTHER, "the server's limit is max_connections" },
    { 1047, KIND_NEITHER, "" }, // unknown command
    { 1049, KIND_OTHER, "create it, or set --mysql-db" },
    { 1053, KIND_LOST, "" }, // server shutdown in progress
    { 1077, KIND_LOST, "" },
    { 1079, KIND_LOST, "" },
    { 1080, KIND_LOST, "" }, // the server closes the connection by force
    { 1114, KIND_OTHER, "is the server's disk full?" },
    { 1130, KIND_OTHER, "the server has no account for this host" },
    { 1146, KIND_OTHER, "was the 'prepare' command run for this database?" },
    { 1148, KIND_LOAD, "" },
    { 1152, KIND_LOST, "" }, // aborted connection
    { 1153, KIND_OTHER, "the server's limit is max_allowed_packet" },
    { 1154, KIND_LOST, "" }, // network errors reported by the server
    { 1155, KIND_LOST, "" },
    { 1156, KIND_LOST, "" },
    { 1157, KIND_LOST, "" },
    { 1158, KIND_LOST, "" },
    { 1159, KIND_LOST, "" },
    { 1160, KIND_LOST, "" },
    { 1161, KIND_LOST, "" },
    { 1184, KIND_LOST, "" },
    { 1189, KIND_OTHER, "" }, // a replica lost its source; class 08
    { 1190, KIND_OTHER, "" },
    { 1203, KIND_OTHER, "the server's limit is max_user_connections" },
    { 1205, KIND_RETRY, CONFLICT }, // lock wait timeout
    { 1213, KIND_RETRY, CONFLICT }, // deadlock
    { 1218, KIND_OTHER, "" },       // as 1189
    { 1235, KIND_NEITHER, "" },
    // After a proxy changed servers, all prepared statements are unknown.
    { 1243, KIND_LOST, "" },
    { 1295, KIND_PREPARE, "" },
    { 1297, KIND_AGAIN, "" }, // NDB: a temporary error, such as a lost node
    // InnoDB reports a killed connection as an interrupted query.
    { 1317, KIND_LOST, "" },
    { 1412, KIND_AGAIN, "" }, // table altered since the transaction began
    { 1461, KIND_OTHER,
        "raise the server's max_prepared_stmt_count, set "
        "--db-statement-cache, or use --db-ps-mode=disable" },
    { 1613, KIND_AGAIN, "" }, // XA transaction rolled back: took too long
    { 1614, KIND_AGAIN, "" }, // deadlock in an XA transaction
    { 1615, KIND_AGAIN, "" }, // tables altered each time it was prepared again
    { 1637, KIND_AGAIN, "" }, // too many concurrent transactions
    { 1689, KIND_AGAIN, "" }, // lock wait ended by an exclusive lock request
    { 1927, KIND_LOST, "" },  // connection was killed
    // During a call, a proxy reports these if it lost its server.
    { 2002, KIND_LOST, "" },
    { 2003, KIND_LOST, "" },
    { 2006, KIND_LOST, "" }, // server has gone away
    { 2011, KIND_LOST, "" }, // in the list of sysbench 1.0
    { 2012, KIND_LOST, "" },
    { 2013, KIND_LOST, "" }, // lost connection during query
    // MariaDB's library reports this instead of 2013 if the server is gone.
    { 2026, KIND_LOST, "" },
    { 2049, KIND_OTHER, MAY_READ },
    { 2055, KIND_LOST, "" }, // lost connection, with a system error
    { 2059, KIND_OTHER,
        "the client library lacks the plugin (libmysqlclient 9 lacks "
        "mysql_native_password; MariaDB's library has it), or the plugin would "
        "send the password in cleartext, which --mysql-cleartext-password=on "
        "allows" },
    { 2068, KIND_LOAD, "instead of LOAD DATA LOCAL, use con:load()" },
    { 3058, KIND_AGAIN, "" }, // deadlock of GET_LOCK()
    { 3101, KIND_AGAIN, "" }, // group replication: conflict with another member
    { 3169, KIND_LOST, "" },  // session was killed
    { 3572, KIND_AGAIN, "" }, // NOWAIT: the lock is not available
    { 3948, KIND_LOAD, "" },
    // Disconnected because of inactivity. MariaDB reports this for a trigger
    // that does not exist.
    { 4031, KIND_LOST, "" },
    { 4166, KIND_LOAD, "" },
    { 5010, KIND_OTHER, MAY_READ },
    { 6413, KIND_PREPARE, "" }, // parameters in other statements than DML
    // Of TiDB: conflicts, and tables altered during a transaction.
    { 8002, KIND_AGAIN, "" },
    { 8005, KIND_AGAIN, "" },
    { 8022, KIND_AGAIN, "" },
    { 8028, KIND_AGAIN, "" },
    { 8229, KIND_AGAIN, "" }, // the transaction was too old
    // ProxySQL cannot connect to a server; TiDB, to its storage.
    { 9001, KIND_LOST, "" },
    { 9002, KIND_LOST, "" },
    { 9007, KIND_AGAIN, "" },
};

#define ENTRIES (sizeof(table) / sizeof(table[0]))

static enum kind my_kind_of(int native)
{
    return (enum kind)sb_errnum_kind(table, ENTRIES, native, KIND_OTHER);
}

static int my_add_code(
    struct sbmy_ignore *ig, const char *item, struct sb_err *err)
{
    char *end;
    long code = strtol(item, &end, 10);

    if (strcmp(item, "all") == 0) {
        ig->all = true;
        return 0;
    }
    if (end == item || *end || code <= 0 || code > INT_MAX)
        return sb_err_set(err, SB_EUSAGE,
            "Invalid value for the 'mysql-ignore-errors' option: '%s' (error "
            "numbers, or 'all')",
            item);
    ig->code[ig->n++] = (int)code;
    return 0;
}

int sbmy_ignore_init(
    struct sbmy_ignore *ig, const struct sb_opt_list *list, struct sb_err *err)
{
    int rc = 0;

    *ig = (struct sbmy_ignore){ 0 };
    ig->code = calloc(list->count + 1, sizeof(*ig->code));
    if (!ig->code)
        return sb_err_no_memory(err);
    for (size_t i = 0; rc == 0 && i < list->count; i++)
        rc = my_add_code(ig, list->item[i], err);
    return rc;
}

void sbmy_ignore_done(struct sbmy_ignore *ig)
{
    free(ig->code);
    *ig = (struct sbmy_ignore){ 0 };
}

static bool my_listed(const struct sbmy_ignore *ig, int native)
{
    for (size_t i = 0; !ig->all && i < ig->n; i++) {
        if (ig->code[i] == native)
            return true;
    }
    return ig->all;
}

// Class 08 of the SQLSTATE means a lost connection. It decides for numbers that
// are not in the table, and for unknown commands: a cluster node returns 1047
// while it is not part of its cluster.
static enum kind kind_by_state(int native, const char *state)
{
    enum kind kind = my_kind_of(native);
    bool known = sb_errnum_find(table, ENTRIES, native) != NULL;

    return (!known || kind == KIND_NEITHER) && strncmp(state, "08", 2) == 0
               ? KIND_LOST
               : kind;
}

int sbmy_classify(const struct sbmy_ignore *ig, int native, const char *state)
{
    bool ignored = my_listed(ig, native);

    switch (kind_by_state(native, state)) {
    case KIND_LOST:
        return ignored ? SB_ERECONNECT : SB_ELOST;
    case KIND_RETRY:
        return ignored ? SB_ERESTART : SB_EQUERY;
    case KIND_AGAIN:
        return SB_ERESTART;
    default:
        return ignored ? SB_EIGNORE : SB_EQUERY;
    }
}

bool sbmy_refuses_prepare(int native)
{
    enum kind kind = my_kind_of(native);

    return kind == KIND_PREPARE || kind == KIND_NEITHER;
}

bool sbmy_refuses_load(int native)
{
    enum kind kind = my_kind_of(native);

    return kind == KIND_LOAD || kind == KIND_NEITHER;
}

const char *sbmy_hint(int native)
{
    return sb_errnum_hint(table, ENTRIES, native);
}

// Errors of the server and the library, and the log of calls.

#define ER_UNKNOWN_STMT 1243
#define CR_NEW_METADATA 2057
#define SERVER_GONE     2006
#define SERVER_LOST     2013

// A server's limit for packets is hardly ever lower than this. So if fewer
// bytes were sent, errors 2006 and 2013 have other causes.
#define PACKET_MIN (1u << 20)

void sbmy_trace(struct sbmy_conn *c, const char *fmt, ...)
{
    char line[1024];
    int n = snprintf(line, sizeof(line), "mysql: %p: ", (void *)c);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
    va_end(ap);
    c->host->log(3, line);
}

bool sbmy_take_cancel(struct sbmy_conn *c)
{
    if (atomic_load(&c->canceled)) {
        atomic_store_explicit(&c->canceled, false, memory_order_relaxed);
        c->state = SBMY_CANCELED;
    }
    return c->state == SBMY_CANCELED;
}

int sbmy_fail_with(struct sbmy_conn *c, int native, const char *state,
    const char *text, struct sb_err *err)
{
    int code = sbmy_take_cancel(c)
                   ? SB_ECANCELED
                   : sbmy_classify(&c->env->ignore, native, state);
    const char *hint = sbmy_hint(native);
    size_t n;

    assert(code < 0);
    if (c->o->debug)
        sbmy_trace(c, "error %d (%s): %s", native, state, text);
    sb_err_native(err, code, native, state, text);
    if (err && *hint && code != SB_ERESTART && code != SB_EIGNORE) {
        n = strlen(err->msg);
        snprintf(err->msg + n, sizeof(err->msg) - n, " (%s)", hint);
    }
    return code;
}

void sbmy_name_limit(struct sb_err *err, size_t sent)
{
    size_t n;

    if (!err || sent < PACKET_MIN ||
        (err->native != SERVER_GONE && err->native != SERVER_LOST))
        return;
    n = strlen(err->msg);
    snprintf(err->msg + n, sizeof(err->msg) - n,
        " (%zu bytes were sent: the server's max_allowed_packet may be lower)",
        sent);
}

int sbmy_fail(struct sbmy_conn *c, struct sb_err *err)
{
    return sbmy_fail_with(c, (int)mysql_errno(c->my), mysql_sqlstate(c->my),
        mysql_error(c->my), err);
}

int sbmy_fail_stmt(struct sbmy_conn *c, struct sbmy_stmt *p, struct sb_err *err)
{
    return sbmy_fail_with(c, (int)mysql_stmt_errno(p->st),
        mysql_stmt_sqlstate(p->st), mysql_stmt_error(p->st), err);
}

// ER_UNKNOWN_STMT: a proxy has moved the connection to another server. An open
// transaction was lost with the old server, so a statement in a transaction is
// not retried. CR_NEW_METADATA: the number of result columns changed
// because a table was altered.
bool sbmy_stmt_forgotten(const struct sbmy_conn *c, int native)
{
    bool open = c->my->server_status & SERVER_STATUS_IN_TRANS;

    return native == CR_NEW_METADATA || (native == ER_UNKNOWN_STMT && !open);
}
