// SPDX-License-Identifier: GPL-2.0-or-later
//
// SQL text: queries and their results, the classic bulk insert, placeholders
// and the literals that replace them.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "db/op.h"
#include "db/plans.h"
#include "db/sql/sql.h"
#include "kit/number.h"
#include "kit/sqlscan.h"

_Static_assert(
    sizeof(struct sb_cell) == sizeof(struct sb_sql_cell) &&
        offsetof(struct sb_cell, len) == offsetof(struct sb_sql_cell, len),
    "drivers fill the cells that Lua passes");

// Returns the connection of rs; NULL if rs is not its current result set.
static struct sb_con_priv *owner(struct sb_rs *rs)
{
    struct sb_con_priv *c = rs ? (struct sb_con_priv *)rs->connection : NULL;

    return c && rs == &c->rs[c->rs_now] && c->outcome == SB__OUTCOME_SQL &&
                   c->res.kind == SB_RESULT_ROWS
               ? c
               : NULL;
}

static int invalid(struct sb_rs *rs)
{
    struct sb_con_priv *c = rs ? (struct sb_con_priv *)rs->connection : NULL;

    sb_log(SB_LOG_ALERT, "attempt to fetch row from an invalid result set");
    if (!c)
        return SB_EUSAGE;
    return sb__error_usage(c,
        "the result set is no longer available: it was freed, its connection "
        "was closed, or it executed another statement");
}

int sb_rs_fetch(struct sb_rs *rs, struct sb_sql_cell *cells)
{
    struct sb_con_priv *c = owner(rs);
    int rc;

    if (!c)
        return invalid(rs);
    if (c->res.nrows == 0)
        return 0;
    rc = c->sql->fetch(c->conn, &c->res, (struct sb_cell *)cells, &c->err);
    return rc < 0 ? sb__error_report(c, "fetch", "", 0) : rc;
}

const char *sb_rs_column(struct sb_rs *rs, uint32_t i)
{
    struct sb_con_priv *c = owner(rs);

    if (!c || i >= c->res.nfields)
        return NULL;
    return c->sql->column(c->conn, &c->res, i);
}

int sb_rs_more(struct sb_con *con)
{
    const struct sb_con_priv *c = (struct sb_con_priv *)con;

    return c->outcome != SB__OUTCOME_NONE && c->res.more;
}

// Each further result of a statement counts as a query.
struct sb_rs *sb_rs_next(struct sb_con *con)
{
    static const struct sb__call_text text = { "next result", "", 0, NULL, 0 };
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb__call call;
    int rc;

    if (!sb_rs_more(con))
        return NULL;
    call = sb__call_since(c, -1, sb__now(c));
    rc = c->sql->next_result(c->conn, &c->res, &c->err);
    sb__call_stop(&call);
    if (rc < 0) {
        sb__call_failed(call, rc, &text);
        return NULL;
    }
    if (rc == 0) {
        c->res.more = false;
        return NULL;
    }
    call.op = sb__op_of_next(c->ctx);
    sb__call_end(call, 0, NULL);
    return sb__result_new(c, c->statement);
}

void sb_rs_free(struct sb_rs *rs)
{
    struct sb_con_priv *c = owner(rs);

    if (!c)
        sb_log(SB_LOG_ALERT, "attempt to free an invalid result set");
    else if (c->res.more)
        c->outcome = SB__OUTCOME_DROPPED; // ended by the next call
    else
        sb__result_end(c);
}

// As sb__call_ready(), for SQL text.
static int query_ready(struct sb_con_priv *c)
{
    int rc = sb__call_ready(c);

    if (SB_UNLIKELY(rc) || SB_LIKELY(c->sql))
        return rc;
    return sb__error_usage(
        c, "the %s driver has no SQL operations", c->drv->name);
}

uint32_t sb__query_scan(const struct sb_con_priv *c)
{
    return c->sql->scan && sb__con_connected(c) ? c->sql->scan(c->conn)
                                                : c->drv->scan;
}

void sb__query_note(struct sb_con_priv *c, const struct sb_statement *s, int op)
{
    const struct sb_rec *rec = *c->ctx->rec;

    c->ctx->op_is_new = false;
    sb__plans_note(c->inst, op >= 0 ? rec->stats->op[op].name : NULL, s,
        sb__query_scan(c));
}

// The operation of a text.
static int query_op(struct sb_con_priv *c, const char *sql, size_t len)
{
    int op = sb__op_of_text(c->ctx, sql, len);

    if (SB_UNLIKELY(c->ctx->op_is_new))
        sb__query_note(c, &(struct sb_statement){ .sql = sql, .len = len }, op);
    return op;
}

int sb__query_run(struct sb_con_priv *c, const char *sql, size_t len, int op)
{
    struct sb__call call;
    int rc;

    call = sb__call_begin(c, op);
    rc = c->sql->query(c->conn, sql, len, &c->res, &c->err);
    if (sb__call_ends_well(&call, rc))
        return 0;
    return sb__call_end(call, rc,
        &(struct sb__call_text){ .what = "query", .sql = sql, .len = len });
}

int sb__query_execute(struct sb_con_priv *c, const char *sql, size_t len)
{
    int rc = query_ready(c);

    if (rc == 0)
        rc = sb__query_run(c, sql, len, query_op(c, sql, len));
    if (rc == 0)
        sb__result_new(c, NULL);
    return rc;
}

struct sb_rs *sb_con_query(struct sb_con *con, const char *sql, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    int op;

    if (query_ready(c))
        return NULL;
    op = query_op(c, sql, len);
    if (SB_UNLIKELY(c->pipe.state == SB__PIPE_OPEN)) {
        sb__pipe_add(c, NULL, &(struct sb_item){ .sql = sql, .len = len }, op);
        return NULL;
    }
    return sb__query_run(c, sql, len, op) ? NULL : sb__result_new(c, NULL);
}

struct sb_rs *sb_con_query_now(struct sb_con *con, const char *sql, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    return sb__pipe_refuse(c, "query_row()") ? NULL
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

struct sb__quoting sb__query_quoting(const struct sb_con_priv *c)
{
    return (struct sb__quoting){
        .conn = c->conn,
        .quote = c->sql->quote,
        .casts = c->drv->caps & SB_CAP_CAST_LITERALS,
        .binary = c->drv->caps & SB_CAP_BINARY_LITERALS,
        .huge = c->drv->caps & SB_CAP_HUGE_LITERALS,
    };
}

size_t sb_con_quote(
    struct sb_con *con, const char *text, size_t len, char *out, size_t size)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (sb__con_connected(c) && c->sql && c->sql->quote)
        return c->sql->quote(c->conn, text, len, out, size);
    return sb__quote_plain(text, len, out, size);
}

// The bulk insert of sysbench 1.0: collects INSERT text up to a limit --------

#define BULK_MAX (512u * 1024)

static int bulk_misused(struct sb_con_priv *c, const char *text)
{
    sb_log(SB_LOG_ALERT, "%s", text);
    return sb__error_usage(c, "%s", text);
}

int sb_con_bulk_init(struct sb_con *con, const char *sql, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    int rc = sb__call_allowed(c); // nothing is sent: an open result stays open

    if (rc == 0)
        rc = sb__pipe_refuse(c, "bulk_insert_init()");
    if (rc)
        return rc;
    if (len == 0 || len >= BULK_MAX)
        return bulk_misused(
            c, "attempt to begin a bulk insert without a statement");
    sb__error_unsent(c);
    sb_buf_clear(&c->bulk);
    if (sb_buf_add(&c->bulk, sql, len) || sb_buf_adds(&c->bulk, " "))
        return sb__error_no_memory(c);
    c->bulk_head = c->bulk.len;
    c->bulk_rows = 0;
    return 0;
}

static int send_rows(struct sb_con_priv *c)
{
    int rc;

    if (c->bulk_rows == 0)
        return 0;
    rc = sb__pipe_refuse(c, "a bulk insert");
    if (rc == 0)
        rc = sb__query_execute(c, c->bulk.data, c->bulk.len);
    c->bulk_rows = 0;
    c->bulk.len = c->bulk_head;
    return rc;
}

int sb_con_bulk_next(struct sb_con *con, const char *row, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (c->bulk_head == 0)
        return bulk_misused(
            c, "attempt to call bulk_insert_next() before bulk_insert_init()");
    if (c->bulk_rows > 0 && c->bulk.len + 1 + len > BULK_MAX) {
        int rc = send_rows(c);

        if (rc)
            return rc;
    }
    if (c->bulk_head + len > BULK_MAX) {
        sb_err_set(&c->err, SB_EUSAGE,
            "Query length exceeds the maximum value (%u), aborting", BULK_MAX);
        sb_log(SB_LOG_FATAL, "%s", c->err.msg);
        return sb__error_show(c);
    }
    if (c->bulk_rows++ > 0)
        sb_buf_adds(&c->bulk, ",");
    sb_buf_add(&c->bulk, row, len);
    return c->bulk.failed ? sb__error_no_memory(c) : 0;
}

int sb_con_bulk_done(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    int rc;

    // Scripts call this at their end, even if they have begun no bulk insert.
    if (c->bulk_head == 0)
        return 0;
    rc = send_rows(c);
    // Frees the buffer, because 512 KiB per connection are too much to keep.
    sb_buf_done(&c->bulk);
    sb_buf_init(&c->bulk, 0);
    c->bulk_head = 0;
    return rc;
}

// Placeholders and literals --------------------------------------------------

// Makes m->sql, the text without the second '?' of each pair, and sets the
// offsets of the placeholders.
static int unescape(
    struct sb__placeholders *m, const char *sql, size_t len, unsigned flags)
{
    size_t from = 0, at;

    m->sql = malloc(len + 1);
    if (!m->sql)
        return SB_ENOMEM;
    while ((at = sb_sqlscan_mark(sql, len, from, flags)) < len) {
        size_t end = at + 1;

        memcpy(m->sql + m->len, sql + from, end - from);
        m->len += end - from;
        from = end + sb_sqlscan_escaped(sql, len, at);
        if (from == end)
            m->at[m->n++] = m->len - 1;
    }
    memcpy(m->sql + m->len, sql + from, len - from);
    m->len += len - from;
    assert(m->len < len);
    m->sql[m->len] = '\0';
    return 0;
}

int sb__placeholders_scan(
    struct sb__placeholders *m, const char *sql, size_t len, unsigned flags)
{
    bool escapes = false;
    size_t i, n = 0;

    *m = (struct sb__placeholders){ 0 };
    for (i = sb_sqlscan_mark(sql, len, 0, flags); i < len;
         i = sb_sqlscan_mark(sql, len, i + 1, flags)) {
        if (sb_sqlscan_escaped(sql, len, i)) {
            escapes = true;
            i++;
        } else {
            n++;
        }
    }
    m->at = n ? malloc(n * sizeof(*m->at)) : NULL;
    if (n && !m->at)
        return SB_ENOMEM;
    if (escapes) {
        int rc = unescape(m, sql, len, flags);

        assert(rc || m->n == n);
        return rc;
    }
    for (i = sb_sqlscan_next(sql, len, 0, flags); i < len;
         i = sb_sqlscan_next(sql, len, i + 1, flags))
        m->at[m->n++] = i;
    assert(m->n == n);
    return 0;
}

void sb__placeholders_done(struct sb__placeholders *m)
{
    free(m->at);
    free(m->sql);
    *m = (struct sb__placeholders){ 0 };
}

// Writes hexadecimal digits between two words, or only the first word if there
// is no room for all. Returns the required length.
static size_t quote_hex(const char *before, const char *bytes, size_t len,
    const char *after, char *out, size_t size)
{
    size_t head = strlen(before), tail = strlen(after);
    size_t n = head + 2 * len + tail;

    if (n < size) {
        memcpy(out, before, head);
        sb_number_hex(out + head, bytes, len);
        memcpy(out + n - tail, after, tail + 1);
    } else {
        snprintf(out, size, "%s", before);
    }
    return n;
}

static void put_char(char *out, size_t size, size_t at, char c)
{
    if (at < size)
        out[at] = c;
}

static size_t double_quotes(
    const char *text, size_t len, char *out, size_t size)
{
    size_t n = 0;

    put_char(out, size, n++, '\'');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\'')
            put_char(out, size, n++, '\'');
        put_char(out, size, n++, text[i]);
    }
    put_char(out, size, n++, '\'');
    if (size > 0)
        out[n < size ? n : size - 1] = '\0';
    return n;
}

// Writes the literal of a text or, if type is SB_VALUE_BLOB, of bytes. Returns
// the required length.
static size_t quote(const struct sb__quoting *q, int32_t type, const char *text,
    size_t len, char *out, size_t size)
{
    const char *before = "CAST(X'", *after = "' AS TEXT)";

    if (type == SB_VALUE_BLOB) {
        before = q->casts ? "'\\x" : q->binary ? "_binary X'" : "X'";
        after = q->casts ? "'::bytea" : "'";
    } else if (q->quote) {
        return q->quote(q->conn, text, len, out, size);
    } else if (len == 0 || !memchr(text, 0, len)) {
        return double_quotes(text, len, out, size);
    }
    // An SQL text ends at its first NUL.
    return quote_hex(before, text, len, after, out, size);
}

size_t sb__quote_plain(const char *text, size_t len, char *out, size_t size)
{
    return quote(
        &(struct sb__quoting){ 0 }, SB_VALUE_TEXT, text, len, out, size);
}

#define NUMBER_ROOM (SB_NUMBER_ROOM + sizeof("(e0)"))

static int add_quoted(
    struct sb_buf *b, const struct sb__quoting *q, const struct sb_value *v)
{
    size_t n = 2 + v->len, size; // at least: a text without escapes
    char *out;

    do {
        size = n + 1;
        out = sb_buf_room(b, n);
        if (!out)
            return SB_ENOMEM;
        n = quote(q, v->type, v->s, v->len, out, size);
    } while (n >= size);
    b->len += n;
    return 0;
}

// The literal of a value that is not written as a number; NULL: no literal.
static const char *special(const struct sb__quoting *q, double d)
{
    if (isnan(d))
        return q->casts ? "'NaN'::float8" : NULL;
    if (isinf(d) && q->casts)
        return d < 0 ? "'-Infinity'::float8" : "'Infinity'::float8";
    if (isinf(d) && q->huge)
        return d < 0 ? "(-9e999)" : "9e999";
    if (d == 0) // -0.0, which is not an integer
        return q->casts ? "'-0'::float8" : "(-0e0)";
    return NULL;
}

static const char *double_literal(
    char out[NUMBER_ROOM], const struct sb__quoting *q, double d)
{
    char text[SB_NUMBER_ROOM];
    bool plain;

    if (!isfinite(d) || (d == 0 && signbit(d)))
        return special(q, d);
    sb_number_double(text, d);
    // With an exponent, it is no integer and no decimal number.
    plain = !q->casts && !strchr(text, 'e');
    snprintf(out, NUMBER_ROOM, signbit(d) ? "(%s%s)" : "%s%s", text,
        plain ? "e0" : "");
    return out;
}

// A negative number is put in parentheses, because after a minus sign ("1-?")
// it would begin a comment. NULL: no literal.
static const char *number_literal(char out[NUMBER_ROOM],
    const struct sb__quoting *q, const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        snprintf(
            out, NUMBER_ROOM, v->i < 0 ? "(%" PRId64 ")" : "%" PRId64, v->i);
        return out;
    case SB_VALUE_UINT:
        snprintf(out, NUMBER_ROOM, "%" PRIu64, v->u);
        return out;
    case SB_VALUE_DOUBLE:
        return double_literal(out, q, v->d);
    default:
        return "NULL";
    }
}

static int add_value(
    struct sb_buf *b, const struct sb__quoting *q, const struct sb_value *v)
{
    char number[NUMBER_ROOM];
    const char *literal;

    if (v->type >= SB_VALUE_TEXT)
        return add_quoted(b, q, v);
    literal = number_literal(number, q, v);
    return literal ? sb_buf_adds(b, literal) : SB_ERANGE;
}

// Fills *err after values were added, v as the last one with the result rc.
static int check_literals(const struct sb_buf *b, int rc,
    const struct sb_value *v, struct sb_err *err)
{
    if (rc == SB_ERANGE)
        return sb_err_set(err, rc, "this database has no SQL literal for %s",
            isnan(v->d) ? "NaN"
            : v->d < 0  ? "-Infinity"
                        : "Infinity");
    return b->failed ? sb_err_set(err, SB_ENOMEM, "out of memory") : 0;
}

int sb__quote_rows(struct sb_buf *b, const struct sb__quoting *q,
    const struct sb_value *v, uint32_t nrows, uint32_t n, struct sb_err *err)
{
    size_t all = (size_t)nrows * n, i = 0;
    int rc = 0;

    for (; i < all && rc == 0; i++) {
        sb_buf_adds(b, i % n ? "," : i ? "),(" : "(");
        rc = add_value(b, q, &v[i]);
    }
    sb_buf_adds(b, ")");
    return check_literals(b, rc, &v[i - 1], err);
}

int sb__placeholders_fill(struct sb_buf *b, const struct sb__placeholders *m,
    const char *sql, size_t len, const struct sb__quoting *q,
    const struct sb_value *values, struct sb_err *err)
{
    size_t from = 0;
    uint32_t i = 0;
    int rc = 0;

    if (m->sql) {
        sql = m->sql;
        len = m->len;
    }
    sb_buf_clear(b);
    for (; i < m->n && rc == 0; i++) {
        sb_buf_add(b, sql + from, m->at[i] - from);
        rc = add_value(b, q, &values[i]);
        from = m->at[i] + 1;
    }
    sb_buf_add(b, sql + from, len - from);
    return check_literals(b, rc, i ? &values[i - 1] : NULL, err);
}

int sb__query_fill(struct sb_con_priv *c, struct sb_buf *b,
    const struct sb__placeholders *m, const char *sql, size_t len,
    const struct sb_value *values)
{
    struct sb__quoting q = sb__query_quoting(c);

    return sb__placeholders_fill(b, m, sql, len, &q, values, &c->err)
               ? sb__error_show(c)
               : 0;
}
