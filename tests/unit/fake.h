// SPDX-License-Identifier: GPL-2.0-or-later
//
// A fake driver and one connection that uses it. The driver writes every
// operation to `log_text`. The first letter of a statement chooses its
// outcome; see answer().
#ifndef FAKE_H
#define FAKE_H

#include <stdlib.h>

#include "base/clock.h"
#include "check.h"
#include "db/call.h"

static char log_text[1024];
static int forget; // number of executions that fail: no such statement
static const struct sb_result *fixed; // result of all statements; NULL: none

static inline void note(const char *fmt, ...) SB_PRINTF(1, 2);

static inline void note(const char *fmt, ...)
{
    size_t n = strlen(log_text);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(log_text + n, sizeof(log_text) - n, fmt, ap);
    va_end(ap);
}

static inline const char *logged(void)
{
    static char copy[sizeof(log_text)];

    memcpy(copy, log_text, sizeof(copy));
    log_text[0] = '\0';
    return copy;
}

static inline int answer(
    const char *sql, struct sb_result *res, struct sb_err *err)
{
    if (*sql == 'e')
        return sb_err_native(err, SB_EQUERY, 7, "HY000", "broken");
    if (*sql == 'l')
        return sb_err_native(err, SB_ELOST, 8, "08S01", "gone");
    if (fixed)
        *res = *fixed;
    else if (*sql == 's')
        *res = (struct sb_result){
            .kind = SB_RESULT_ROWS, .nrows = 1, .nfields = 1
        };
    return 0;
}

static inline int query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    note("query(%.*s) ", (int)len, sql);
    return answer(sql, res, err);
}

static inline int prepare(struct sb_conn *conn, struct sb_stmt *stmt,
    const char *sql, size_t len, const uint8_t *types, uint32_t *nparams,
    struct sb_err *err)
{
    note("prepare(%.*s) ", (int)len, sql);
    *(const char **)(void *)stmt = sql;
    for (*nparams = 0; len > 0; len--)
        *nparams += sql[len - 1] == '?';
    return 0;
}

static inline void note_values(const struct sb_value *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].type == SB_VALUE_INT)
            note(" %lld", (long long)v[i].i);
        else
            note(" %.*s", (int)v[i].len, v[i].s);
    }
}

static inline int execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err)
{
    note("execute(");
    note_values(values, n);
    note(") ");
    if (forget > 0) {
        forget--;
        return sb_err_set(err, SB_EUNSUPPORTED, "what statement?");
    }
    return answer(*(const char **)(void *)stmt, res, err);
}

static inline void close_stmt(struct sb_conn *conn, struct sb_stmt *stmt)
{
    note("close(%s) ", *(const char **)(void *)stmt);
}

static inline int fetch(struct sb_conn *conn, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    cells[0] = (struct sb_cell){ "x", 1 };
    return 1;
}

static inline void free_result(struct sb_conn *conn, struct sb_result *res)
{
}

static struct sb_sql_ops sql_ops = {
    .query = query,
    .prepare = prepare,
    .execute = execute,
    .close = close_stmt,
    .fetch = fetch,
    .free_result = free_result,
};

static struct sb_driver drv = { .name = "fake",
    .dialect = "fake",
    .conn_size = 1,
    .stmt_size = sizeof(char *),
    .sql = &sql_ops };
static struct sb_rec *const no_rec; // nothing is recorded
static struct sb_db_ctx ctx = { .rec = &no_rec };
static struct sb_db_opts opts;
static struct sb_drivers owner = { .opts = &opts };
static struct sb_db db = { .owner = &owner, .drv = &drv };
static struct sb__inst inst = { .db = &db };
static struct sb_con_priv c;
static char own[1];
static struct sb_clock fake = { .ns0 = UINT64_C(1) << 62 }; // stands still

static inline void start(void)
{
    pthread_mutex_init(&ctx.lock, NULL);
    ctx.clock = &fake;
    c = (struct sb_con_priv){ .ctx = &ctx,
        .inst = &inst,
        .drv = &drv,
        .sql = &sql_ops,
        .conn = (struct sb_conn *)own,
        .state = SB__CON_OPEN,
        .debug = opts.debug,
        .prepared = { .most = (uint32_t)opts.statement_cache } };
    c.pub.sql_state = c.pub.sql_errmsg = "";
    log_text[0] = '\0';
}

static inline void finish(void)
{
    sb__children_abandon(&c);
    sb__children_orphan(&c);
    sb__children_free(&ctx.orphans);
    sb__children_free(&ctx.idle_stmts);
    free(c.failed_sql);
    pthread_mutex_destroy(&ctx.lock);
}

#endif
