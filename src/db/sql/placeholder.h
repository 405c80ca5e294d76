// SPDX-License-Identifier: GPL-2.0-or-later
//
// Emulation of prepared statements by SQL text: finds the '?' placeholders of a
// statement and replaces them with quoted values. Pure functions.
#ifndef SB_PLACEHOLDER_H
#define SB_PLACEHOLDER_H

#include "kit/buf.h"
#include "db/driver.h"

// The placeholders of a text.
struct sb__placeholders {
    size_t *at; // n offsets, ascending; in sql, or in the scanned text if NULL
    uint32_t n;
    char *sql; // the text with '?' for each '??'; NULL if it has no '??'
    size_t len;
};

// flags: enum sb_sqlscan_flags. 0 or SB_ENOMEM.
int sb__placeholders_scan(
    struct sb__placeholders *m, const char *sql, size_t len, unsigned flags);
void sb__placeholders_done(struct sb__placeholders *m); // {0} allowed

// Syntax of the literals of a connection.
struct sb__quoting {
    struct sb_conn *conn; // first argument of quote
    size_t (*quote)(struct sb_conn *conn, const char *text, size_t len,
        char *out, size_t size); // NULL: doubled single quotes
    bool casts;                  // '\x00'::bytea, not X'00'; 'NaN'::float8
    bool binary;                 // _binary X'00', not X'00'
    bool huge; // infinities as 9e999: there is no other literal for them
};

// Quotes text with single quotes, doubling those in it, or, if it contains a
// NUL, as CAST(X'00' AS TEXT). Returns the required length as snprintf() does.
size_t sb__quote_plain(const char *text, size_t len, char *out, size_t size);

// Appends the value as an SQL literal that has exactly this value. 0, SB_ENOMEM
// (also if b->max is exceeded), or SB_ERANGE if there is no such literal.
int sb__quote_value(struct sb_buf *b, const struct sb__quoting *q,
    const struct sb_value *v, struct sb_err *err);

// Appends nrows * n values as the rows of an INSERT: "(1,'a'),(2,'b')". Errors
// as sb__quote_value().
int sb__quote_rows(struct sb_buf *b, const struct sb__quoting *q,
    const struct sb_value *v, uint32_t nrows, uint32_t n, struct sb_err *err);

// Clears b and writes sql to it, with values[i] instead of placeholder i; there
// are m->n values. Errors as sb__quote_value().
int sb__placeholders_fill(struct sb_buf *b, const struct sb__placeholders *m,
    const char *sql, size_t len, const struct sb__quoting *q,
    const struct sb_value *values, struct sb_err *err);

#endif
