// SPDX-License-Identifier: GPL-2.0-or-later
//
// The error of a connection: for scripts, in the log, in the counters.
#include <stdarg.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/opts.h"
#include "db/call.h"

#define LOG_SQL_MAX 1024 // maximum bytes of a query in the log
#define ERR_SQL_MAX 200  // maximum bytes of a query in the error of a script

void sb__error_unsent(const struct sb_con_priv *c)
{
    bool rows = c->bulk_rows > 0;
    bool pipeline = c->pipe.state == SB__PIPE_OPEN && c->pipe.n > 0;
    unsigned n = rows ? c->bulk_rows : c->pipe.n;
    char count[16] = "";

    // After an error the script could not send them.
    if ((!rows && !pipeline) || c->pub.error || sb__call_is_refused(c) ||
        atomic_exchange_explicit(
            &c->inst->db->owner->unsent, true, memory_order_relaxed))
        return;
    if (n > 1)
        snprintf(count, sizeof(count), "%u ", n);
    sb_log(SB_LOG_WARNING,
        "the last %s%s%s of %s %s not sent, because no %s followed", count,
        rows ? "row" : "statement", n > 1 ? "s" : "",
        rows ? "bulk_insert_next()" : "pipeline_begin()",
        n > 1 ? "were" : "was",
        rows ? "bulk_insert_done()" : "pipeline_send()");
}

void sb__error_clear(struct sb_con_priv *c)
{
    sb_err_clear(&c->err);
    c->pub.error = SB_SQL_NONE;
    c->pub.sql_errno = 0;
    c->pub.sql_state = c->pub.sql_errmsg = "";
    if (c->failed_sql)
        c->failed_sql[0] = '\0';
}

int sb__error_show(struct sb_con_priv *c)
{
    int code = c->err.code;

    bool again = code == SB_ERESTART || code == SB_EIGNORE ||
                 code == SB_ERECONNECT;

    // A server may answer with an error that has no text.
    if (!*c->err.msg)
        snprintf(c->err.msg, sizeof(c->err.msg), "%s; no details given",
            sb_err_text(code));
    c->pub.error = again ? SB_SQL_IGNORABLE : SB_SQL_FATAL;
    c->pub.sql_errno = c->err.native;
    c->pub.sql_state = c->err.state;
    c->pub.sql_errmsg = c->err.msg;
    return code;
}

int sb__error_usage(struct sb_con_priv *c, const char *fmt, ...)
{
    char text[sizeof(c->err.msg)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sb_err_set(&c->err, SB_EUSAGE, "%s", text);
    return sb__error_show(c);
}

int sb__error_no_memory(struct sb_con_priv *c)
{
    sb_err_set(&c->err, SB_ENOMEM, "out of memory");
    return sb__error_show(c);
}

// Keeps the beginning of a statement, in one line, for sb_con_failed_sql(). If
// there is no memory for it, the error has only the message.
static void keep_sql(struct sb_con_priv *c, const char *sql, size_t len)
{
    bool blank = true;
    size_t n = 0, i = 0;

    if (!c->failed_sql)
        c->failed_sql = malloc(ERR_SQL_MAX + 1 + sizeof("..."));
    if (!c->failed_sql)
        return;
    for (; i < len && n <= ERR_SQL_MAX; i++) {
        bool space = sql[i] == ' ' || (sql[i] >= '\t' && sql[i] <= '\r');

        if (!space || !blank)
            c->failed_sql[n++] = space ? ' ' : sql[i];
        blank = space;
    }
    bool cut = n > ERR_SQL_MAX;

    n = sb_utf8_cut(c->failed_sql, n, ERR_SQL_MAX);
    c->failed_sql[n] = '\0';
    sb_opts_overwrite_sql(c->failed_sql);
    snprintf(c->failed_sql + n, sizeof("..."), "%s", cut ? "..." : "");
}

const char *sb_con_failed_sql(const struct sb_con *con)
{
    const struct sb_con_priv *c = (const struct sb_con_priv *)con;

    return c->failed_sql ? c->failed_sql : "";
}

// Applies --db-reconnect and --db-ignore-errors to the error.
static void apply_options(struct sb_con_priv *c)
{
    const struct sb_db_opts *o = c->inst->db->owner->opts;
    int code = c->err.code;

    if (code == SB_ELOST &&
        (o->reconnect || sb__ignored(&o->ignore_errors, &c->err)))
        c->err.code = SB_ERECONNECT;
    else if (code == SB_EQUERY && sb__ignored(&o->ignore_errors, &c->err))
        c->err.code = SB_EIGNORE;
    if ((code == SB_ELOST || code == SB_ERECONNECT) && !sb__con_lost(c)) {
        sb__con_enter(c, sb__con_connected(c) ? SB__CON_BROKEN : SB__CON_AWAY);
        c->lost_at = sb__now(c);
    }
}

int sb__error_report(
    struct sb_con_priv *c, const char *what, const char *sql, size_t len)
{
    struct sb_rec *rec = sb__rec(c);
    char text[LOG_SQL_MAX + 1];
    int code;

    apply_options(c);
    code = sb__error_show(c);

    keep_sql(c, sql, len);
    if (rec)
        sb_rec_code(rec, c->drv->name, &c->err, 1, sb__now(c));
    // The caller raises the error in the script, and the event loop logs it
    // once. This line also has the whole statement, and includes errors that
    // the script catches.
    if (c->pub.error != SB_SQL_FATAL || code == SB_ECANCELED)
        return code;
    snprintf(text, sizeof(text), "%.*s",
        (int)(len < LOG_SQL_MAX ? len : LOG_SQL_MAX), sql);
    sb_opts_overwrite_sql(text);
    sb_log(SB_LOG_INFO, "%s: %s failed, errno = %d, state = '%s': %s%s%s%s",
        c->drv->name, what, c->err.native, c->err.state, c->err.msg,
        len ? ", for query: " : "", text, len > LOG_SQL_MAX ? "..." : "");
    return code;
}
