// SPDX-License-Identifier: GPL-2.0-or-later
//
// Rows of the binary protocol as text, such as the server itself sends in the
// protocol of texts. Pure; needs no client library, and never reads beyond the
// row.
#ifndef MYSQL_BINARY_H
#define MYSQL_BINARY_H

#include "db/driver.h"
#include "drivers/mysql/answer.h"

// The types that are not sent as texts.
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

// What matters of a column.
struct sbmy_shape {
    uint8_t type, decimals;
    uint16_t flags;
    uint32_t length;
};

// Most bytes that a cell of this column needs beside the row; 0 for texts.
size_t sbmy_binary_room(const struct sbmy_shape *s);

// The n cells of a row of len bytes: into the row itself, or into `text`, which
// has as many bytes as all the columns need. False: the row has another shape.
bool sbmy_binary_row(const uint8_t *row, size_t len,
    const struct sbmy_shape *shape, uint32_t n, struct sb_cell *cells,
    char *text);

#endif
