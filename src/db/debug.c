// SPDX-License-Identifier: GPL-2.0-or-later
//
// --db-debug: logs each execution with its time and its bound values.
#include <inttypes.h>

#include "db/call.h"

#define SQL_MAX    1024 // maximum bytes of a statement in a line
#define VALUES_MAX 1024 // no further value after this number of bytes
#define TEXT_MAX   64   // maximum bytes of a text value

// Writes a text as in SQL, but control characters as \xNN: a value must not end
// the line.
static void add_text(struct sb_buf *b, const struct sb_value *v)
{
    uint32_t n = v->len < TEXT_MAX ? v->len : TEXT_MAX;

    sb_buf_adds(b, "'");
    for (uint32_t i = 0; i < n; i++) {
        unsigned char ch = (unsigned char)v->s[i];

        if (ch < ' ' || ch == 0x7f)
            sb_buf_addf(b, "\\x%02x", ch);
        else
            sb_buf_add(b, v->s + i, 1);
        if (ch == '\'')
            sb_buf_adds(b, "'");
    }
    sb_buf_adds(b, n < v->len ? "...'" : "'");
}

static void add_blob(struct sb_buf *b, const struct sb_value *v)
{
    uint32_t n = v->len < TEXT_MAX / 2 ? v->len : TEXT_MAX / 2;

    sb_buf_adds(b, "X'");
    for (uint32_t i = 0; i < n; i++)
        sb_buf_addf(b, "%02x", (unsigned char)v->s[i]);
    sb_buf_adds(b, n < v->len ? "...'" : "'");
}

static void add_value(struct sb_buf *b, const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        sb_buf_addf(b, "%" PRId64, v->i);
        break;
    case SB_VALUE_UINT:
        sb_buf_addf(b, "%" PRIu64, v->u);
        break;
    case SB_VALUE_DOUBLE:
        sb_buf_addf(b, "%.17g", v->d);
        break;
    case SB_VALUE_TEXT:
    case SB_VALUE_TIME:
        add_text(b, v);
        break;
    case SB_VALUE_BLOB:
        add_blob(b, v);
        break;
    case SB_VALUE_NULL:
    default:
        sb_buf_adds(b, "NULL");
    }
}

void sb__debug_stmt(const struct sb_con_priv *c, uint64_t ns, const char *sql,
    size_t len, const struct sb_value *values, uint32_t n)
{
    int shown = (int)(len < SQL_MAX ? len : SQL_MAX);
    struct sb_buf b;

    sb_buf_init(&b, 0);
    for (uint32_t i = 0; i < n && b.len < VALUES_MAX; i++) {
        sb_buf_adds(&b, i ? ", " : " [");
        add_value(&b, &values[i]);
        if (i + 1 < n && b.len >= VALUES_MAX)
            sb_buf_adds(&b, ", ...");
    }
    if (n > 0)
        sb_buf_adds(&b, "]");
    sb_log_each(SB_LOG_NOTICE, "%s: user %u: %.3f ms: %.*s%s%s", c->drv->name,
        c->ctx->user, (double)ns / 1e6, shown, sql, len > SQL_MAX ? "..." : "",
        b.data ? b.data : "");
    sb_buf_done(&b);
}
