// SPDX-License-Identifier: GPL-2.0-or-later
//
// Prepared statements emulated by text: where the '?' of a statement are, and
// the text with quoted values in their places. Pure.
#ifndef SB_PLACEHOLDER_H
#define SB_PLACEHOLDER_H

#include "base/buf.h"
#include "db/driver.h"

// The places of the placeholders of a text.
struct sb__marks {
    size_t *at; // n of them, ascending
    uint32_t n;
    char *sql;  // the text with '?' for each '??', NULL when it has none: then
    size_t len; // the places are those of the text that was scanned
};

// flags: enum sb_sqlscan_flags. 0 or SB_ENOMEM.
int sb__marks_scan(
    struct sb__marks *m, const char *sql, size_t len, unsigned flags);
void sb__marks_done(struct sb__marks *m); // {0} allowed

// How a connection writes literals.
struct sb__quoting {
    struct sb_conn *conn; // first argument of quote
    size_t (*quote)(struct sb_conn *conn, const char *text, size_t len,
        char *out, size_t size); // NULL: doubled single quotes
    bool pgsql;                  // '\x00'::bytea, not X'00'; 'NaN'::float8
    bool overflow; // infinities as 9e999, for which there is no other word
};

// Doubled single quotes; length needed, as snprintf.
size_t sb__quote_plain(const char *text, size_t len, char *out, size_t size);

// Appends the value as an SQL literal that means just this value. 0, SB_ENOMEM
// (also b->max), or SB_ERANGE when there is none.
int sb__quote_value(struct sb_buf *b, const struct sb__quoting *q,
    const struct sb_value *v, struct sb_err *err);

// b (cleared first) becomes sql with values[i] in the place of mark i; there
// are m->n values. Errors as sb__quote_value().
int sb__marks_fill(struct sb_buf *b, const struct sb__marks *m, const char *sql,
    size_t len, const struct sb__quoting *q, const struct sb_value *values,
    struct sb_err *err);

#endif
