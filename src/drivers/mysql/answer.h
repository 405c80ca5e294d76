// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parser of the server's answer to the execution of a prepared statement.
// Packets are parsed as they arrive from the socket. Pure; does not require the
// client library, and reads only bytes that were received.
//
// If client and server agreed on it (see sbmy_answer_begin()), the column count
// has one more byte, which says whether column definitions follow. A packet of
// five bytes after them is the EOF packet that ends the list.
#ifndef MYSQL_ANSWER_H
#define MYSQL_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
