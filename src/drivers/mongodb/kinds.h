// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a command is, by its name and a look at its fields: in one table. Pure.
#ifndef SBMO_KINDS_H
#define SBMO_KINDS_H

#include "drivers/mongodb/walk.h"

// How the library sends it.
enum sbmo_way {
    SBMO_READ,      // where reads go; once more after a lost connection
    SBMO_WRITE,     // where writes go
    SBMO_READWRITE, // the same: aggregate that ends with $out or $merge
    SBMO_OTHER,     // to the primary, once
};

// Where its answer is.
enum sbmo_shape {
    SBMO_REPLY,  // it is the reply
    SBMO_CURSOR, // documents of a cursor
    SBMO_VALUES, // an array, "values"
    SBMO_COUNT,  // "n" of the reply
};

struct sbmo_kind {
    const char *name;
    enum sbmo_way way;
    enum sbmo_shape shape;
    int result;                       // enum sb_result_kind
    const char *writes;               // the field with its statements, or NULL
    bool read_concern, write_concern; // takes one
};

struct sbmo_command {
    const struct sbmo_kind *kind;
    const char *name;                         // its own
    bool own_read_concern, own_write_concern; // there is one in it
    bool unacknowledged;                      // it says w: 0 itself
    bool multi;    // changes many documents with one statement
    bool tailable; // its cursor never ends
    uint32_t statements;
    int64_t batch;  // size that was asked for, 0: none
    const char *db; // "$db", or NULL
};

// False when body is no document with at least one field.
bool sbmo_look(struct sbmo_command *c, const uint8_t *body, size_t len);

#endif
