// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations that the files of db/sql/ share, and what db/load/ uses of them.
#ifndef SB_SQL_H
#define SB_SQL_H

#include <math.h>

#include "db/call.h"
#include "db/sql/placeholder.h"

// query.c --------------------------------------------------------------------

// Runs SQL text as sb_con_query() does, after sb__call_ready(). op < 0: the
// operation of its first word. 0 or SB_E*.
int sb__query_run(struct sb_con_priv *c, const char *sql, size_t len, int op);
// Runs SQL text whose rows are not needed. 0 or SB_E*.
int sb__query_execute(struct sb_con_priv *c, const char *sql, size_t len);
// The syntax of the literals of a connection.
struct sb__quoting sb__query_quoting(const struct sb_con_priv *c);

// pipeline_items.c ----------------------------------------------------------

// A collected statement. Its text and values are in the buffers of the pipe,
// which move as they grow: so it has offsets.
struct sb__pipe_item {
    struct sb_stmt_handle *st; // NULL: SQL text
    size_t text, len;          // offset and length in `bytes`
    size_t value;              // index of the first value
    uint32_t nvalues;
    int op;
};

// Collect one more statement, while a pipeline is open. 0 or SB_E*.
int sb__pipe_add_text(
    struct sb_con_priv *c, const char *sql, size_t len, int op);
int sb__pipe_add_stmt(struct sb_con_priv *c, struct sb_stmt_handle *st,
    const struct sb_value *values, uint32_t n, int op);
// Empties the pipe for another pipeline.
void sb__pipe_clear(struct sb__pipe *p);
// Converts offsets to addresses, now that the bytes do not move any more.
void sb__pipe_settle(struct sb__pipe *p);
// Frees what the pipe has collected.
void sb__pipe_done(struct sb__pipe *p);
// Fails with SB_EUSAGE, as the error of the connection, while a pipeline is
// open: `what` would be done before the collected statements. Otherwise 0.
int sb__pipe_refuse(struct sb_con_priv *c, const char *what);
// True if a pipeline is open whose driver accepts SQL texts only.
static inline bool sb__pipe_of_texts(const struct sb_con_priv *c)
{
    return c->pipe.state == SB__PIPE_OPEN && c->sql->pipeline_send &&
           (c->drv->caps & SB_CAP_TEXT_PIPELINE);
}

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

// param.c --------------------------------------------------------------------

// True if only some drivers accept the value: see sb__value_check().
static inline bool sb__value_is_special(const struct sb_value *v)
{
    return v->type == SB_VALUE_UINT ||
           (v->type == SB_VALUE_DOUBLE && !isfinite(v->d));
}
// 0, or SB_ERANGE for a special value that the driver cannot send unchanged.
int sb__value_check(
    const struct sb_driver *drv, const struct sb_value *v, struct sb_err *err);

// As sb_stmt_param(). NULL on failure, with *err filled. owner: warns of texts
// that are cut; it is not used after the last sb_param_room().
struct sb_param *sb__param_new(
    struct sb_drivers *owner, int type, uint64_t max_len, struct sb_err *err);
// Adds a reference, to be dropped with sb_param_free(). Returns param.
struct sb_param *sb__param_keep(struct sb_param *param);
// Writes "1 parameter bound, but the statement has 2 placeholders".
void sb__params_counted(char *out, size_t size, size_t n, unsigned marks);
// Checks that there are n = marks parameters, none of them NULL. 0 or
// SB_EUSAGE.
int sb__params_check(struct sb_param *const *params, size_t n, unsigned marks,
    const char *sql, struct sb_err *err);

#endif
