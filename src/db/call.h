// SPDX-License-Identifier: GPL-2.0-or-later
//
// A call of a driver: a statement or command that is executed on a connection
// begins and ends here. It is timed and counted, and what the driver returned
// becomes the error that a script reads. Fetching is part of no call: its
// errors go to sb__error_report() directly, as do those of rollbacks, which are
// not operations, and of loads, whose operation is that of the whole load.
//
//     rc = sb__call_ready(c);
//     ...
//     call = sb__call_begin(c, op);
//     rc = ...(c->conn, ..., &c->res, &c->err);
//     if (sb__call_ends_well(&call, rc))
//         return 0;
//     return sb__call_end(call, rc, &text);
#ifndef SB_CALL_H
#define SB_CALL_H

#include "base/likely.h"
#include "base/log.h"
#include "db/con.h"
#include "loop/prefetch.h"

// The ranges that the user's fiber uses after a call (loop/prefetch.h).
enum sb__prefetch {
    SB__PREFETCH_CONTEXT = SB_PREFETCH_CALLS,
    SB__PREFETCH_CONNECTION,
    SB__PREFETCH_DRIVER_CONNECTION,
    SB__PREFETCH_OPERATION,
    SB__PREFETCH_STATEMENT,
    SB__PREFETCH_DRIVER_STATEMENT,
    SB__PREFETCH_VALUES,
    SB__PREFETCH_PARAMETER
};
static_assert(
    (int)SB__PREFETCH_PARAMETER < (int)SB_PREFETCH_SLOTS, "ranges of calls");

struct sb__call {
    struct sb_con_priv *con;
    int op;         // -1: neither its time nor its result is counted
    bool logged;    // for --db-debug
    uint64_t start; // 0: it is not timed
    uint64_t end;   // 0 until it has ended; without the client delay
    uint64_t waits; // of the user's fiber when the call began
};

// What was executed, for messages.
struct sb__call_text {
    const char *what; // "query", "command"
    const char *sql;
    size_t len;
    const struct sb_value *values;
    uint32_t nvalues;
};

// Whether calls fail because the run is over for this user: sb_db_ctx_end().
bool sb__call_is_refused(const struct sb_con_priv *c);
// Prepares the connection for another call: ends the last result, clears the
// last error, and lets the children settle. 0, also if the server is gone but
// the connection was not closed yet: the call then fails. SB_EUSAGE if the
// connection is loading, or closed (which is logged); if it was lost and
// closed, the error of a loss, which is counted; SB_ECANCELED after
// sb_db_ctx_end(); or the error of a child.
int sb__call_ready(struct sb_con_priv *c);
// As sb__call_ready(), for a call that does not use the server: the last result
// stays open, and the children do not settle.
int sb__call_allowed(struct sb_con_priv *c);

// Begins a call that leaves a result in c->res, without an error. op < 0: it is
// not counted.
struct sb__call sb__call_begin(struct sb_con_priv *c, int op);
// A call that began at `since`; 0: it is not timed. c->res does not change.
struct sb__call sb__call_since(struct sb_con_priv *c, int op, uint64_t since);
// The call has ended now, if it had not ended before.
void sb__call_stop(struct sb__call *call);
// As sb__call_end(), if that needs no text: the call has succeeded, and is not
// to be logged. Otherwise returns false.
bool sb__call_ends_well(struct sb__call *call, int rc);
// Ends a call with what the driver returned. 0 or SB_E*, as the error of the
// connection. text: NULL if it has succeeded and is not to be logged.
int sb__call_end(
    struct sb__call call, int rc, const struct sb__call_text *text);
// Ends a call without a result, such as preparing: records its time.
void sb__call_record(struct sb__call *call);
// Logs and counts the failure of a call. Returns the code of its error.
int sb__call_failed(
    struct sb__call call, int rc, const struct sb__call_text *text);
// Completes the error of a connection, in case the driver did not fill it.
void sb__call_complete_error(struct sb_con_priv *c, int rc);

uint64_t sb__now(const struct sb_con_priv *c);
// The number of waits of the user so far; 0 without an event loop.
uint64_t sb__call_waits(const struct sb_con_priv *c);

// Warns, once per run, of rows of a bulk insert, or statements of a pipeline,
// that were collected and are now lost.
void sb__error_unsent(const struct sb_con_priv *c);
// Clears the last error.
void sb__error_clear(struct sb_con_priv *c);
// Copies the error in c->err to the fields that scripts read. Returns its code.
int sb__error_show(struct sb_con_priv *c);
// The same with the text of the call that failed, for sb_con_failed_sql().
int sb__error_again(struct sb_con_priv *c, const char *sql, size_t len);
// Set the error, and return its code as sb__error_show().
int sb__error_set(struct sb_con_priv *c, int code, const char *fmt, ...)
    SB_PRINTF(3, 4);
int sb__error_usage(struct sb_con_priv *c, const char *fmt, ...)
    SB_PRINTF(2, 3);
int sb__error_no_memory(struct sb_con_priv *c);
// As sb__error_show(); also counts the error and, if it is fatal, logs
// "<driver>: <what> failed ... for query '<sql>'". Returns the code.
int sb__error_report(
    struct sb_con_priv *c, const char *what, const char *sql, size_t len);

// Returns the result set of the call that has just succeeded; NULL if it has
// no rows. st: the statement executed, NULL for SQL text.
struct sb_rs *sb__result_new(struct sb_con_priv *c, struct sb_stmt_handle *st);
// Ends the result, if there is one.
void sb__result_end(struct sb_con_priv *c);

// --db-debug: logs a statement, with its n values, and its time.
void sb__debug_stmt(const struct sb_con_priv *c, uint64_t ns, const char *sql,
    size_t len, const struct sb_value *values, uint32_t n);

#endif
