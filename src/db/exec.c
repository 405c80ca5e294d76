// SPDX-License-Identifier: GPL-2.0-or-later
//
// Queries by SQL text, and what all executions have in common: time, counters,
// errors.
#include <inttypes.h>
#include <stdlib.h>

#include "db/internal.h"

#define LOG_SQL_MAX 1024 // maximum bytes of a query in the log
#define ERR_SQL_MAX 200  // maximum bytes of a query in the error of a script

static const struct {
    char word[12];
    enum sb_op_kind kind;
} keywords[] = {
    { "query", SB_OP_OTHER }, // any other word
    { "select", SB_OP_READ },
    { "insert", SB_OP_WRITE },
    { "update", SB_OP_CHANGE },
    { "delete", SB_OP_CHANGE },
    { "replace", SB_OP_WRITE },
    { "begin", SB_OP_OTHER },
    { "start", SB_OP_OTHER },
    { "commit", SB_OP_OTHER },
    { "rollback", SB_OP_OTHER },
    { "create", SB_OP_OTHER },
    { "drop", SB_OP_OTHER },
    { "set", SB_OP_OTHER },
    { "call", SB_OP_OTHER },
    { "with", SB_OP_READ },
    // These are not first words of SQL texts. They are for sb__op_of_prepare(),
    // sb__op_of_next(), sb__op_of_reconnect() and sb__op_of_connect().
    { "prepare", SB_OP_CUSTOM },
    { "next_result", SB_OP_OTHER },
    { "reconnect", SB_OP_CUSTOM },
    { "connect", SB_OP_CUSTOM },
};
#define KEYWORDS ((int)(sizeof(keywords) / sizeof(keywords[0])))
#define WORDS    (KEYWORDS - 4)

_Static_assert(sizeof(keywords) / sizeof(keywords[0]) <= SB_DB_KEYWORDS,
    "every keyword has a place in the context");

// Returns the index of the first word of sql in keywords; 0: any other word.
static int keyword(const char *sql, size_t len)
{
    char word[sizeof(keywords[0].word)] = "";
    size_t i = 0, n = 0;

    while (i < len && (sql[i] == ' ' || sql[i] == '\n' || sql[i] == '\t' ||
                          sql[i] == '\r' || sql[i] == '('))
        i++;
    for (; i < len && n < sizeof(word) - 1; i++, n++) {
        char c = (char)(sql[i] | 32);

        if (c < 'a' || c > 'z')
            break;
        word[n] = c;
    }
    for (int k = 1; n > 0 && k < WORDS; k++) {
        if (word[0] == keywords[k].word[0] && word[1] == keywords[k].word[1] &&
            strcmp(word, keywords[k].word) == 0)
            return k;
    }
    return 0;
}

enum sb_op_kind sb__kind_of_text(const char *sql, size_t len)
{
    return keywords[keyword(sql, len)].kind;
}

int sb__op_named(const struct sb_db_ctx *ctx, struct sb_rec *rec,
    const char *name, enum sb_op_kind kind)
{
    char full[4 * sizeof(((struct sb_op *)0)->name)];

    if (!ctx->own)
        return sb_stats_op(rec->stats, name, kind);
    snprintf(full, sizeof(full), "%s%s", ctx->own->prefix, name);
    return sb_stats_op(rec->stats, full, kind);
}

static int op_of_keyword(struct sb_db_ctx *ctx, struct sb_rec *rec, int k)
{
    if (ctx->op_stats != rec->stats) {
        ctx->op_stats = rec->stats;
        for (int i = 0; i < KEYWORDS; i++)
            ctx->op[i] = -1;
    }
    if (ctx->op[k] < 0)
        ctx->op[k] = sb__op_named(ctx, rec, keywords[k].word, keywords[k].kind);
    return ctx->op[k];
}

int sb__op_of_text(
    struct sb_db_ctx *ctx, struct sb_rec *rec, const char *sql, size_t len)
{
    return op_of_keyword(ctx, rec, keyword(sql, len));
}

int sb__op_of_prepare(struct sb_db_ctx *ctx, struct sb_rec *rec)
{
    return op_of_keyword(ctx, rec, WORDS);
}

int sb__op_of_next(struct sb_db_ctx *ctx, struct sb_rec *rec)
{
    return op_of_keyword(ctx, rec, WORDS + 1);
}

int sb__op_of_reconnect(struct sb_db_ctx *ctx, struct sb_rec *rec)
{
    return op_of_keyword(ctx, rec, WORDS + 2);
}

int sb__op_of_connect(struct sb_db_ctx *ctx, struct sb_rec *rec)
{
    return op_of_keyword(ctx, rec, WORDS + 3);
}

// An UPDATE or DELETE is recognized by the kind of the operation, because some
// servers answer it like BEGIN if it changed no row. An INSERT does not search
// rows.
static enum sb_found found(enum sb_op_kind kind, const struct sb_result *res)
{
    if (kind == SB_OP_WRITE)
        return SB_FOUND_UNKNOWN;
    if (res->kind == SB_RESULT_ROWS)
        return res->nrows > 0 ? SB_FOUND_ROWS : SB_FOUND_NOTHING;
    if (res->affected > 0 && res->kind == SB_RESULT_WRITE)
        return SB_FOUND_ROWS;
    if (kind == SB_OP_CHANGE && res->kind != SB_RESULT_UNKNOWN)
        return res->matched ? SB_FOUND_ROWS : SB_FOUND_NOTHING;
    return SB_FOUND_UNKNOWN;
}

// The rows that an execution returned or changed.
static uint64_t rows(const struct sb_result *res)
{
    if (res->kind == SB_RESULT_ROWS)
        return res->nrows;
    return res->kind == SB_RESULT_WRITE ? res->affected : 0;
}

void sb__count_result(struct sb_rec *rec, int op, const struct sb_result *res,
    uint64_t ns, uint64_t end_ns)
{
    sb_rec_op_found(
        rec, op, found(rec->stats->op[op].kind, res), rows(res), ns, end_ns);
    if (res->kind == SB_RESULT_ROWS)
        sb_tally_add(&rec->tally.reads, 1);
    else if (res->kind == SB_RESULT_WRITE && res->affected > 0)
        sb_tally_add(&rec->tally.writes, 1);
    else
        sb_tally_add(&rec->tally.others, 1);
}

void sb__con_clear(struct sb_con_priv *c)
{
    sb_err_clear(&c->err);
    c->pub.error = SB_SQL_NONE;
    c->pub.sql_errno = 0;
    c->pub.sql_state = c->pub.sql_errmsg = "";
    if (c->failed_sql)
        c->failed_sql[0] = '\0';
}

static int not_ready(struct sb_con_priv *c)
{
    if (c->lost) {
        sb_err_set(&c->err, SB_ELOST, "the connection was lost");
        return sb__con_error(c, "query", "", 0);
    }
    if (!c->open) {
        sb_log(SB_LOG_ALERT, "attempt to use an already closed connection");
        sb_err_set(&c->err, SB_EUSAGE, "the connection is closed");
    } else if (c->load) {
        sb_err_set(&c->err, SB_EUSAGE, "the connection is loading a table");
    } else {
        sb_err_set(&c->err, SB_EUSAGE, "the %s driver has no SQL operations",
            c->drv->name);
    }
    return sb__con_failed(c);
}

int sb__con_begin(struct sb_con_priv *c)
{
    if (c->pub.error)
        sb__con_clear(c);
    if (!c->open || c->load)
        return not_ready(c);
    if (c->has_result)
        sb__result_end(c);
    if (SB_UNLIKELY(c->pipe.sent) && sb__pipeline_end(c))
        return c->err.code;
    return SB_UNLIKELY(c->refresh) && !c->pipe.open ? sb__refresh(c) : 0;
}

int sb__con_failed(struct sb_con_priv *c)
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

// Keeps the beginning of a statement, in one line, for sb_con_failed_sql(). If
// there is no memory for it, the error has only the message.
static void keep_sql(struct sb_con_priv *c, const char *sql, size_t len)
{
    bool blank = true;
    size_t n = 0, i = 0;

    if (!c->failed_sql)
        c->failed_sql = malloc(ERR_SQL_MAX + sizeof("..."));
    if (!c->failed_sql)
        return;
    for (; i < len && n < ERR_SQL_MAX; i++) {
        bool space = sql[i] == ' ' || (sql[i] >= '\t' && sql[i] <= '\r');

        if (!space || !blank)
            c->failed_sql[n++] = space ? ' ' : sql[i];
        blank = space;
    }
    // Do not cut a UTF-8 character.
    while (i < len && n > 0 && ((unsigned char)sql[i] & 0xc0) == 0x80) {
        i--;
        n--;
    }
    snprintf(c->failed_sql + n, sizeof("..."), "%s", i < len ? "..." : "");
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
    if ((code == SB_ELOST || code == SB_ERECONNECT) && !c->lost) {
        c->lost = true;
        c->lost_at = sb__now(c);
    }
}

int sb__con_error(
    struct sb_con_priv *c, const char *what, const char *sql, size_t len)
{
    struct sb_rec *rec = sb__rec(c);
    int code, shown = (int)(len < LOG_SQL_MAX ? len : LOG_SQL_MAX);

    apply_options(c);
    code = sb__con_failed(c);

    keep_sql(c, sql, len);
    if (rec)
        sb_rec_code(rec, c->drv->name, &c->err, sb__now(c));
    // The caller raises the error in the script, and the event loop logs it
    // once. This line also has the whole statement, and includes errors that
    // the script catches.
    if (c->pub.error != SB_SQL_FATAL || code == SB_ECANCELED)
        return code;
    sb_log(SB_LOG_INFO, "%s: %s failed, errno = %d, state = '%s': %s%s%.*s%s",
        c->drv->name, what, c->err.native, c->err.state, c->err.msg,
        len ? ", for query: " : "", shown, sql, len > LOG_SQL_MAX ? "..." : "");
    return code;
}

// Completes *err, in case the driver did not fill it.
static int checked(struct sb_con_priv *c, int rc)
{
    if (c->err.code == 0)
        sb_err_set(&c->err, rc, "%s", sb_err_text(rc));
    c->err.code = rc;
    return rc;
}

int sb__con_run(struct sb_con_priv *c, const char *sql, size_t len, int op)
{
    struct sb_rec *rec = sb__rec(c);
    uint64_t start = 0, end = 0;
    int rc;

    if (!c->sql)
        return not_ready(c);
    if (rec && op < 0)
        op = sb__op_of_text(c->ctx, rec, sql, len);
    if (sb__timed(c))
        start = sb__now(c);
    c->res = (struct sb_result){ 0 };
    rc = c->sql->query(c->conn, sql, len, &c->res, &c->err);
    if (sb__timed(c))
        end = sb__now(c);
    if (c->debug)
        sb__debug_line(c, end - start, sql, len);
    if (rc) {
        if (rec)
            sb_tally_add(&sb_rec_op_tally(rec, op)->errors, 1);
        checked(c, rc);
        return sb__con_error(c, "query", sql, len);
    }
    if (rec)
        sb__count_result(rec, op, &c->res, end - start, end);
    return 0;
}

int sb__con_execute(struct sb_con_priv *c, const char *sql, size_t len)
{
    int rc = sb__con_begin(c);

    if (rc == 0)
        rc = sb__con_run(c, sql, len, -1);
    if (rc == 0)
        sb__con_result(c, NULL);
    return rc;
}

struct sb_rs *sb__con_result(struct sb_con_priv *c, struct sb_stmt_handle *st)
{
    struct sb_rs *rs;

    c->has_result = true;
    c->freed = false;
    c->statement = st;
    if (c->res.kind != SB_RESULT_ROWS)
        return NULL;
    c->rs_now = (c->rs_now + 1) % SB__RESULTS;
    rs = &c->rs[c->rs_now];
    *rs = (struct sb_rs){
        .nrows = c->res.nrows,
        .nfields = c->res.nfields,
        .affected = c->res.affected,
        .insert_id = c->res.insert_id,
        .statement = st,
        .connection = &c->pub,
    };
    return rs;
}

struct sb_rs *sb_con_query(struct sb_con *con, const char *sql, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (sb__con_begin(c))
        return NULL;
    if (SB_UNLIKELY(c->pipe.open)) {
        sb__pipeline_query(c, sql, len);
        return NULL;
    }
    if (sb__con_run(c, sql, len, -1))
        return NULL;
    return sb__con_result(c, NULL);
}

struct sb_rs *sb_con_query_now(struct sb_con *con, const char *sql, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    return sb__pipeline_refuse(c, "query_row()") ? NULL
                                                 : sb_con_query(con, sql, len);
}

double sb_con_affected(const struct sb_con *con)
{
    return (double)((const struct sb_con_priv *)con)->res.affected;
}

uint64_t sb_con_insert_id(const struct sb_con *con)
{
    return ((const struct sb_con_priv *)con)->res.insert_id;
}

int sb_con_ids_are_signed(const struct sb_con *con)
{
    return (((const struct sb_con_priv *)con)->drv->caps & SB_CAP_SIGNED_IDS) !=
           0;
}

struct sb__quoting sb__con_quoting(const struct sb_con_priv *c)
{
    const char *dialect = c->drv->dialect ? c->drv->dialect : "";

    return (struct sb__quoting){
        .conn = c->conn,
        .quote = c->sql->quote,
        .pgsql = strcmp(dialect, "pgsql") == 0,
        .overflow = strcmp(dialect, "sqlite") == 0,
    };
}
