// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/sql/placeholder.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "kit/number.h"
#include "kit/sqlscan.h"

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

static void put_char(char *out, size_t size, size_t at, char c)
{
    if (at < size)
        out[at] = c;
}

static size_t put_word(char *out, size_t size, size_t at, const char *word)
{
    for (; *word; word++)
        put_char(out, size, at++, *word);
    return at;
}

// An SQL text ends at its first NUL.
static size_t quote_bytes(const char *text, size_t len, char *out, size_t size)
{
    size_t n = put_word(out, size, 0, "CAST(X'");

    for (size_t i = 0; i < len; i++) {
        char hex[3] = "";

        sb_number_hex(hex, text + i, 1);
        n = put_word(out, size, n, hex);
    }
    return put_word(out, size, n, "' AS TEXT)");
}

static size_t quote_text(const char *text, size_t len, char *out, size_t size)
{
    size_t n = 0;

    put_char(out, size, n++, '\'');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\'')
            put_char(out, size, n++, '\'');
        put_char(out, size, n++, text[i]);
    }
    put_char(out, size, n++, '\'');
    return n;
}

size_t sb__quote_plain(const char *text, size_t len, char *out, size_t size)
{
    size_t n = len > 0 && memchr(text, 0, len)
                   ? quote_bytes(text, len, out, size)
                   : quote_text(text, len, out, size);

    if (size > 0)
        out[n < size ? n : size - 1] = '\0';
    return n;
}

// Most values are short, so a buffer on the stack is tried first.
static int add_text(
    struct sb_buf *b, const struct sb__quoting *q, const char *s, size_t len)
{
    char small[512], *big = NULL;
    size_t n;
    int rc;

    n = q->quote ? q->quote(q->conn, s, len, small, sizeof(small))
                 : sb__quote_plain(s, len, small, sizeof(small));
    if (n < sizeof(small))
        return sb_buf_add(b, small, n);
    big = malloc(n + 1);
    if (!big)
        return SB_ENOMEM;
    if (q->quote)
        q->quote(q->conn, s, len, big, n + 1);
    else
        sb__quote_plain(s, len, big, n + 1);
    rc = sb_buf_add(b, big, n);
    free(big);
    return rc;
}

static int add_blob(
    struct sb_buf *b, const struct sb__quoting *q, const char *s, size_t len)
{
    char *out;

    sb_buf_adds(b, q->casts ? "'\\x" : q->binary ? "_binary X'" : "X'");
    out = sb_buf_room(b, 2 * len);
    if (!out)
        return SB_ENOMEM;
    b->len += sb_number_hex(out, s, len);
    sb_buf_adds(b, q->casts ? "'::bytea" : "'");
    return b->failed ? SB_ENOMEM : 0;
}

// A negative number is put in parentheses, because after a minus sign ("1-?")
// it would begin a comment.
static int add_int(struct sb_buf *b, int64_t i)
{
    return sb_buf_addf(b, i < 0 ? "(%" PRId64 ")" : "%" PRId64, i);
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

static int add_double(struct sb_buf *b, const struct sb__quoting *q, double d)
{
    const char *word = NULL;
    char text[SB_NUMBER_ROOM];
    bool plain;

    if (!isfinite(d) || (d == 0 && signbit(d))) {
        word = special(q, d);
        return word ? sb_buf_adds(b, word) : SB_ERANGE;
    }
    sb_number_double(text, d);
    // With an exponent, it is no integer and no decimal number.
    plain = !q->casts && !strchr(text, 'e');
    return sb_buf_addf(
        b, signbit(d) ? "(%s%s)" : "%s%s", text, plain ? "e0" : "");
}

static int add_value(
    struct sb_buf *b, const struct sb__quoting *q, const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        return add_int(b, v->i);
    case SB_VALUE_UINT:
        return sb_buf_addf(b, "%" PRIu64, v->u);
    case SB_VALUE_DOUBLE:
        return add_double(b, q, v->d);
    case SB_VALUE_TEXT:
    case SB_VALUE_TIME:
        return add_text(b, q, v->s, v->len);
    case SB_VALUE_BLOB:
        return add_blob(b, q, v->s, v->len);
    case SB_VALUE_NULL:
    default:
        return sb_buf_adds(b, "NULL");
    }
}

int sb__quote_value(struct sb_buf *b, const struct sb__quoting *q,
    const struct sb_value *v, struct sb_err *err)
{
    int rc = add_value(b, q, v);

    if (rc == 0)
        return 0;
    if (rc == SB_ERANGE)
        return sb_err_set(err, rc, "this database has no SQL literal for %s",
            isnan(v->d) ? "NaN"
            : v->d < 0  ? "-Infinity"
                        : "Infinity");
    return sb_err_set(err, SB_ENOMEM, "out of memory");
}

int sb__quote_rows(struct sb_buf *b, const struct sb__quoting *q,
    const struct sb_value *v, uint32_t nrows, uint32_t n, struct sb_err *err)
{
    for (uint32_t r = 0; r < nrows; r++) {
        for (uint32_t i = 0; i < n; i++) {
            sb_buf_adds(b, i ? "," : r ? "),(" : "(");
            int rc = sb__quote_value(b, q, v++, err);

            if (rc)
                return rc;
        }
    }
    sb_buf_adds(b, ")");
    return b->failed ? sb_err_set(err, SB_ENOMEM, "out of memory") : 0;
}

int sb__placeholders_fill(struct sb_buf *b, const struct sb__placeholders *m,
    const char *sql, size_t len, const struct sb__quoting *q,
    const struct sb_value *values, struct sb_err *err)
{
    size_t from = 0;

    if (m->sql) {
        sql = m->sql;
        len = m->len;
    }
    sb_buf_clear(b);
    for (uint32_t i = 0; i < m->n; i++) {
        sb_buf_add(b, sql + from, m->at[i] - from);
        int rc = sb__quote_value(b, q, &values[i], err);

        if (rc)
            return rc;
        from = m->at[i] + 1;
    }
    sb_buf_add(b, sql + from, len - from);
    return b->failed ? sb_err_set(err, SB_ENOMEM, "out of memory") : 0;
}
