// SPDX-License-Identifier: GPL-2.0-or-later
//
// Errors of the server and the library, and the log of calls.
#include <stdio.h>

#include "drivers/mysql/internal.h"

#define ER_UNKNOWN_STMT 1243
#define CR_NEW_METADATA 2057
#define SERVER_GONE     2006
#define SERVER_LOST     2013

// The limit of a server for packets is hardly less: its errors 2006 and 2013
// have other causes.
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

int sbmy_no_memory(struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM, "out of memory");
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
