// SPDX-License-Identifier: GPL-2.0-or-later
//
// Converts rows of the binary protocol to text, in the form that the server
// uses in the text protocol. Pure; does not require the client library, and
// never reads beyond the row.
#ifndef MYSQL_BINARY_H
#define MYSQL_BINARY_H

#include "db/driver.h"
#include "drivers/mysql/answer.h"
#include <stddef.h>

// The types that the binary protocol does not send as text.
enum sbmy_type {
    SBMY_TYPE_TINY = 1,
    SBMY_TYPE_SHORT = 2,
    SBMY_TYPE_LONG = 3,
    SBMY_TYPE_FLOAT = 4,
    SBMY_TYPE_DOUBLE = 5,
    SBMY_TYPE_NULL = 6,
    SBMY_TYPE_TIMESTAMP = 7,
    SBMY_TYPE_LONGLONG = 8,
    SBMY_TYPE_INT24 = 9,
    SBMY_TYPE_DATE = 10,
    SBMY_TYPE_TIME = 11,
    SBMY_TYPE_DATETIME = 12,
    SBMY_TYPE_YEAR = 13,
};

// The properties of a column that the conversion depends on.
struct sbmy_shape {
    uint8_t type, decimals;
    uint16_t flags;
    uint32_t length;
};

// How the binary protocol sends the values of a column.
enum sbmy_form {
    SBMY_FORM_TEXT,
    SBMY_FORM_INT,
    SBMY_FORM_REAL,
    SBMY_FORM_TIME
};

enum sbmy_form sbmy_binary_form(const struct sbmy_shape *s);

// Returns the maximum number of bytes of `text` (see sbmy_binary_row()) that a
// value of this column needs; 0 for texts, which stay in the row.
size_t sbmy_binary_room(const struct sbmy_shape *s);

// Decodes the n values of a row of len bytes. A cell points into the row itself
// or into `text`, whose size is the sum of sbmy_binary_room() of all columns.
// Returns false if the row does not match the columns.
bool sbmy_binary_row(const uint8_t *row, size_t len,
    const struct sbmy_shape *shape, uint32_t n, struct sb_cell *cells,
    char *text);

// Write a number of a column as text, at most sbmy_binary_room() bytes, without
// a NUL. Return its length. v: the bits of a uint64_t if the column is
// unsigned.
size_t sbmy_binary_int(const struct sbmy_shape *s, int64_t v, char *out);
size_t sbmy_binary_real(const struct sbmy_shape *s, double v, char *out);

// Writes rows in the format of LOAD DATA: values are separated by tabs, rows by
// newlines. Special characters, and the N of NULL, follow an escape character,
// which is not a backslash: a backslash is the second byte of some characters
// of SJIS, Big5 and GBK. Pure; does not require the client library.

#define SBMY_ESCAPE 0x1b // of LOAD DATA: FIELDS ESCAPED BY

// Returns the maximum number of bytes that sbmy_encode() writes for v,
// including `after`.
size_t sbmy_encode_room(const struct sb_value *v);
// Writes v and `after` (the tab or newline that follows it), and returns the
// end of the output. Doubles are written exactly.
char *sbmy_encode(char *out, const struct sb_value *v, char after);

#endif
