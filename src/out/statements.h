// SPDX-License-Identifier: GPL-2.0-or-later
//
// What servers have counted of statements in a run, beside the client's figures
// of the same operations: as part of result files, and as text. Main thread.
#ifndef SB_OUT_STATEMENTS_H
#define SB_OUT_STATEMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// A server that was asked.
struct sb_counting_server {
    const char *driver, *address;
    const char *why; // why its counts are unknown; "": they are known
    bool lost;       // it had no room for all statements
    bool reset;      // its statistics were reset during the run
};

// What a server has counted of a statement in the run; NaN: it does not count
// this.
struct sb_counted_statement {
    const char *operation;     // of the client; NULL: none
    const char *text;          // as the server shows it
    const char *shape;         // the text without values
    bool is_prepared;          // of all prepared statements; text is ""
    double calls, ns;          // ns: in the server
    double rows, examined;     // returned or changed; read
    double hit, read, written; // pages
    double errors;
};

// An operation of the client.
struct sb_client_operation {
    const char *name;
    double calls, errors, ns; // ns: of all calls
    bool is_prepared;         // it executes prepared statements
};

struct sb_counted_run {
    const struct sb_counting_server *server;
    unsigned nservers;
    const struct sb_counted_statement *statement;
    unsigned nstatements;
    const struct sb_client_operation *operation;
    unsigned noperations;
    unsigned others; // statements that are not listed, and their sums
    double others_calls, others_ns;
    // Share of the calls by which both sides may differ, because the server was
    // asked while the load was in progress.
    double slack;
};

// The member "statements" of a run: docs/internals/results.md. Returns a new
// reference, or NULL if out of memory.
json_t *sb_statements_json(const struct sb_counted_run *r);
// Prints it as two tables.
void sb_statements_text(const json_t *statements, FILE *out);

#endif
