// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations that the files of db/sql/ share, and what db/load/ uses of them.
#ifndef SB_SQL_H
#define SB_SQL_H

#include "db/call.h"

// query.c --------------------------------------------------------------------

// Runs SQL text as sb_con_query() does, after sb__call_ready(), as operation
// op; -1: it is not counted. 0 or SB_E*.
int sb__query_run(struct sb_con_priv *c, const char *sql, size_t len, int op);
// Runs SQL text whose rows are not needed. 0 or SB_E*.
int sb__query_execute(struct sb_con_priv *c, const char *sql, size_t len);
// Notes a statement of an operation for which ctx->op_is_new is set, in case
// that the run wants to know its plans.
void sb__query_note(
    struct sb_con_priv *c, const struct sb_statement *s, int op);
// How placeholders are found in texts of the connection: sb_sqlscan_flags.
uint32_t sb__query_scan(const struct sb_con_priv *c);
// The syntax of the literals of a connection.
struct sb__quoting sb__query_quoting(const struct sb_con_priv *c);

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

// Appends nrows * n values as the rows of an INSERT: "(1,'a'),(2,'b')", as SQL
// literals that have exactly these values. 0, SB_ENOMEM (also if b->max is
// exceeded), or SB_ERANGE if there is no such literal.
int sb__quote_rows(struct sb_buf *b, const struct sb__quoting *q,
    const struct sb_value *v, uint32_t nrows, uint32_t n, struct sb_err *err);

// Clears b and writes sql to it, with values[i] instead of placeholder i; there
// are m->n values. Errors as sb__quote_rows().
int sb__placeholders_fill(struct sb_buf *b, const struct sb__placeholders *m,
    const char *sql, size_t len, const struct sb__quoting *q,
    const struct sb_value *values, struct sb_err *err);

// The same with the literals and the error of a connection.
int sb__query_fill(struct sb_con_priv *c, struct sb_buf *b,
    const struct sb__placeholders *m, const char *sql, size_t len,
    const struct sb_value *values);

// pipeline_items.c -----------------------------------------------------------

// A collected statement. Its text and values are in the buffers of the pipe,
// which move as they grow: so it has offsets.
struct sb__pipe_item {
    struct sb_stmt_handle *st; // NULL: SQL text
    size_t text, len;          // offset and length in `bytes`
    size_t value;              // index of the first value
    uint32_t nvalues;
    int op;
};

// Collects one more statement, of which it copies the text and the values,
// while a pipeline is open. st: the statement, if it is prepared: its text is
// not copied. 0 or SB_E*.
int sb__pipe_add(struct sb_con_priv *c, struct sb_stmt_handle *st,
    const struct sb_item *add, int op);
// Empties the pipe for another pipeline.
void sb__pipe_clear(struct sb__pipe *p);
// Converts offsets to addresses, now that the bytes do not move any more.
void sb__pipe_settle(struct sb__pipe *p);
// Frees what the pipe has collected.
void sb__pipe_done(struct sb__pipe *p);
// Fails with SB_EUSAGE, as the error of the connection, while a pipeline is
// open: `what` would be done before the collected statements. Otherwise 0.
int sb__pipe_refuse(struct sb_con_priv *c, const char *what);

// stmt.c ---------------------------------------------------------------------

// What is needed to execute a statement later.
struct sb__stmt_view {
    const char *sql;
    size_t len;
    struct sb_stmt *stmt; // NULL: emulated
};
void sb__stmt_view(const struct sb_stmt_handle *st, struct sb__stmt_view *out);
// Executes it with these values and counts the execution. 0 or SB_E*.
int sb__stmt_run(struct sb_stmt_handle *st, const struct sb_value *value);
// Closes the least recently used statements on the server, so that `more` fit
// under --db-statement-cache. Not while a pipeline needs them.
void sb__stmts_make_room(struct sb_con_priv *c, uint32_t more);

// 0, or SB_ERANGE, as the error of the connection, for a value that the driver
// cannot send unchanged.
int sb__value_check(struct sb_con_priv *c, const struct sb_value *v);

#endif
