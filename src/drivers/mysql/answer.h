// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a server answers to the execution of a prepared statement, packet by
// packet, as it comes from the socket. Pure; needs no client library, and reads
// no byte that has not come.
//
// If it was agreed, the column count has one more byte, which says whether
// definitions of columns follow. A packet of five bytes behind them says that
// an EOF packet ends a list.
#ifndef MYSQL_ANSWER_H
#define MYSQL_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SBMY_HEAD         4u        // length and number of a packet
#define SBMY_PACKET_FULL  0xffffffu // the length of one that goes on
#define SBMY_MORE_RESULTS 0x0008u   // in the status

enum sbmy_step {
    SBMY_STEP_MORE, // bytes up to `want` are missing
    SBMY_STEP_DONE,
    SBMY_STEP_BAD, // no server sends this
};

struct sbmy_answer {
    // Places are counted from the start of the buffer; 0: there is none.
    size_t at;      // what was understood so far ends here
    size_t want;    // MORE: so many bytes are needed
    size_t columns; // the first definition of a column ...
    size_t columns_end;
    size_t rows;  // the first row
    size_t error; // the body of the error packet, error_len bytes
    size_t error_len;
    uint64_t nrows, affected, insert_id;
    uint32_t nfields; // 0: a statement without rows
    uint32_t left;    // definitions of columns still to come
    uint16_t status;  // as the end of the answer says; 0 after an error
    uint16_t warnings;
    uint8_t seq; // number of the next packet
    uint8_t stage;
    bool goes_on;   // the last packet was full: the next belongs to it
    bool agreed;    // the server may leave out definitions it sent before ...
    bool remembers; // ... and says for this answer whether it does
    bool file;      // it asks for a file of this machine instead
};

// A new answer begins at the start of the buffer with packet number seq.
// may_omit: client and server agreed that definitions of columns are sent only
// when they change (MARIADB_CLIENT_CACHE_METADATA).
void sbmy_answer_begin(struct sbmy_answer *a, uint8_t seq, bool may_omit);
// Goes on with what has come: `in` holds len bytes since the answer's start.
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

// A number of variable length at p; the place behind it, or NULL when it is
// cut off, or none.
const uint8_t *sbmy_get_number(
    const uint8_t *p, const uint8_t *end, uint64_t *out);

// An error packet.
struct sbmy_problem {
    int native;
    char state[6];
    const char *text; // len bytes
    size_t len;
};

// False: it is none.
bool sbmy_problem_read(
    const uint8_t *body, size_t len, struct sbmy_problem *out);

// What a definition says of a column.
struct sbmy_column_def {
    uint8_t type, decimals;
    uint16_t flags;
    uint32_t length;
    const char *name; // name_len bytes
    size_t name_len;
};

// False: it is none.
bool sbmy_column_read(
    const uint8_t *body, size_t len, struct sbmy_column_def *out);

#endif
