// SPDX-License-Identifier: GPL-2.0-or-later
//
// The placeholder scanner and the substitution: the first byte chooses the
// dialect, the rest is the SQL text, which is also the value of every
// placeholder.
#include <stdlib.h>

#include "db/sql/sql.h"
#include "kit/sqlscan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok)
        abort();
}

// A quoted value must be one literal for the scanner. Otherwise values could be
// executed as SQL.
static void check_literal(const char *s, size_t len)
{
    size_t n = sb__quote_plain(s, len, NULL, 0);
    char *quoted = malloc(n + 1);

    if (!quoted)
        return;
    check(sb__quote_plain(s, len, quoted, n + 1) == n && quoted[n] == '\0');
    check(sb_sqlscan_next(quoted, n, 0, 0) == n);
    free(quoted);
}

static void fill(const struct sb__placeholders *m, const char *sql, size_t len)
{
    struct sb_value *v = calloc(m->n + 1, sizeof(*v));
    struct sb__quoting q = {
        .casts = len & 1, .huge = len & 2, .binary = len & 4
    };
    struct sb_err err;
    struct sb_buf b;

    sb_buf_init(&b, 1 << 24);
    for (uint32_t i = 0; v && i < m->n; i++) {
        v[i].type = (int32_t)(i % (SB_VALUE_TIME + 1));
        v[i].len = (uint32_t)(len < 64 ? len : 64);
        v[i].s = sql;
        if (v[i].type == SB_VALUE_INT)
            v[i].i = -(int64_t)i;
    }
    if (v && sb__placeholders_fill(&b, m, sql, len, &q, v, &err) == 0)
        check(b.len + m->n >= (m->sql ? m->len : len));
    sb_buf_done(&b);
    free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned scan[] = { 0,
        SB_SQLSCAN_BACKSLASH | SB_SQLSCAN_HASH | SB_SQLSCAN_BANG |
            SB_SQLSCAN_M_BANG,
        SB_SQLSCAN_DOLLAR | SB_SQLSCAN_NEST,
        SB_SQLSCAN_DOLLAR | SB_SQLSCAN_NEST | SB_SQLSCAN_BACKSLASH };
    const char *sql = (const char *)data + 1;
    size_t len = size - 1, last = 0;
    struct sb__placeholders m;

    if (size < 1)
        return 0;
    if (sb__placeholders_scan(&m, sql, len, scan[data[0] & 3]))
        return 0;
    for (uint32_t i = 0; i < m.n; i++) {
        const char *text = m.sql ? m.sql : sql;

        check(m.at[i] < (m.sql ? m.len : len) && text[m.at[i]] == '?');
        check(i == 0 || m.at[i] > last);
        last = m.at[i];
    }
    fill(&m, sql, len);
    check_literal(sql, len);
    sb__placeholders_done(&m);
    return 0;
}
