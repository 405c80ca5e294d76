// SPDX-License-Identifier: GPL-2.0-or-later
//
// The formats of the server: its answer to the execution of a prepared
// statement, rows of the binary protocol, and rows of LOAD DATA. Pure; does not
// require the client library.
#ifndef MYSQL_PROTOCOL_H
#define MYSQL_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/driver.h"

// Answers --------------------------------------------------------------------
//
// Packets are parsed as they arrive from the socket. Only bytes that were
// received are read.
//
// If client and server agreed on it (see sbmy_answer_begin()), the column count
// has one more byte, which says whether column definitions follow. A packet of
// five bytes after them is the EOF packet that ends the list.

#define SBMY_HEAD         4u        // packet header: length and number
#define SBMY_PACKET_FULL  0xffffffu // length of a packet that is continued
#define SBMY_MORE_RESULTS 0x0008u   // status flag

enum sbmy_step {
    SBMY_STEP_MORE, // bytes up to `want` are missing
    SBMY_STEP_DONE,
    SBMY_STEP_BAD, // malformed answer
};

struct sbmy_answer {
    // Positions are offsets from the start of the buffer; 0: none.
    size_t at;      // end of what was parsed so far
    size_t want;    // for MORE: number of bytes required
    size_t columns; // first column definition
    size_t columns_end;
    size_t rows;  // first row
    size_t error; // body of the error packet, error_len bytes
    size_t error_len;
    uint64_t nrows, affected, insert_id;
    uint32_t nfields; // 0: a statement without rows
    uint32_t left;    // column definitions not received yet
    uint16_t status;  // from the end of the answer; 0 after an error
    uint16_t warnings;
    uint8_t seq; // number of the next packet
    uint8_t stage;
    bool goes_on;   // the last packet was full: the next one continues it
    bool agreed;    // the server may omit definitions that it sent before
    bool remembers; // this answer says whether definitions were omitted
    bool file;      // the server requests a local file instead
    bool matched;   // see sbmy_matched()
};

// Begins a new answer at the start of the buffer, with packet number seq.
// may_omit: client and server agreed that column definitions are sent only when
// they change (MARIADB_CLIENT_CACHE_METADATA).
void sbmy_answer_begin(struct sbmy_answer *a, uint8_t seq, bool may_omit);
// Continues parsing. `in` holds the len bytes received since the start of the
// answer.
enum sbmy_step sbmy_answer_read(
    struct sbmy_answer *a, const uint8_t *in, size_t len);

static inline uint32_t sbmy_get16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t sbmy_get24(const uint8_t *p)
{
    return sbmy_get16(p) | (uint32_t)p[2] << 16;
}

static inline uint32_t sbmy_get32(const uint8_t *p)
{
    return sbmy_get16(p) | sbmy_get16(p + 2) << 16;
}

// Reads a length-encoded integer at p. Returns the position after it, or NULL
// if it is truncated or invalid.
const uint8_t *sbmy_get_number(
    const uint8_t *p, const uint8_t *end, uint64_t *out);

// Returns whether the server's text about a statement that changed no row says
// that an UPDATE found rows: "Rows matched: 1  Changed: 0  Warnings: 0", in any
// language. `text` may be NULL.
bool sbmy_matched(const char *text, size_t len);

// An error packet.
struct sbmy_problem {
    int native;
    char state[6];
    const char *text; // len bytes
    size_t len;
};

// Returns false if the packet is not an error packet.
bool sbmy_problem_read(
    const uint8_t *body, size_t len, struct sbmy_problem *out);

// A column definition.
struct sbmy_column_def {
    uint8_t type, decimals;
    uint16_t flags;
    uint32_t length;
    const char *name; // name_len bytes
    size_t name_len;
};

// Returns false if the packet is not a valid column definition.
bool sbmy_column_read(
    const uint8_t *body, size_t len, struct sbmy_column_def *out);

// Binary rows ----------------------------------------------------------------
//
// Values are converted to text in the form that the server uses in the text
// protocol. Nothing beyond the row is read.

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

// Rows of LOAD DATA ----------------------------------------------------------
//
// Values are separated by tabs, rows by newlines. Special characters, and the N
// of NULL, follow an escape character, which is not a backslash: a backslash is
// the second byte of some characters of SJIS, Big5 and GBK.

#define SBMY_ESCAPE 0x1b // of LOAD DATA: FIELDS ESCAPED BY

// Returns the maximum number of bytes that sbmy_encode() writes for v,
// including `after`.
size_t sbmy_encode_room(const struct sb_value *v);
// Writes v and `after` (the tab or newline that follows it), and returns the
// end of the output. Doubles are written exactly.
char *sbmy_encode(char *out, const struct sb_value *v, char after);

#endif
