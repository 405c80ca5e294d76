// SPDX-License-Identifier: GPL-2.0-or-later
//
// Properties of a command by its name and some fields, in one table. Pure.
#ifndef SBMO_KINDS_H
#define SBMO_KINDS_H

#include "drivers/mongodb/bson.h"

// How the library sends the command.
enum sbmo_way {
    SBMO_READ,  // to the server for reads; retried once after a lost connection
    SBMO_WRITE, // to the server for writes
    SBMO_READWRITE, // the same, for an aggregate that ends with $out or $merge
    SBMO_OTHER,     // to the primary, once
};

// Where the answer is.
enum sbmo_shape {
    SBMO_REPLY,  // the reply itself
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
    bool read_concern, write_concern; // supports one
};

struct sbmo_command {
    const struct sbmo_kind *kind;
    const char *name;                         // of the command
    bool own_read_concern, own_write_concern; // the command has one
    bool multi;    // changes many documents with one statement
    bool tailable; // its cursor never ends
    uint32_t statements;
    int64_t batch;  // requested size, 0: none
    const char *db; // "$db", or NULL
};

// False if body is not a document with at least one field.
bool sbmo_look(struct sbmo_command *c, const uint8_t *body, size_t len);

#endif
