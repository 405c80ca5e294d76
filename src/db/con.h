// SPDX-License-Identifier: GPL-2.0-or-later
//
// A connection, for the files of db/ and its folders.
#ifndef SB_CON_H
#define SB_CON_H

#include <assert.h>
#include <stdbool.h>

#include "kit/buf.h"
#include "db/internal.h"

struct sb__child;
struct sb__init_sql;
struct sb__pipe_item;
struct sb_con_priv;

// In this order, a connection is connected from SB__CON_LOADING on, and accepts
// calls from SB__CON_BROKEN on.
enum sb__con_state {
    SB__CON_SPARE,   // freed, waiting to be reused
    SB__CON_CLOSED,  // not opened yet, or closed by its owner
    SB__CON_AWAY,    // lost, and disconnected: it is to be reconnected
    SB__CON_LOADING, // a load uses it alone
    SB__CON_BROKEN,  // the server is gone; conn is still to be disconnected
    SB__CON_OPEN,
};

// What a connection keeps of its last call. From SB__OUTCOME_DROPPED on, the
// driver has a result that is to be freed.
enum sb__outcome {
    SB__OUTCOME_NONE,
    SB__OUTCOME_DROPPED, // its owner has no use for it, but others may follow
    SB__OUTCOME_SQL,     // of a statement
    SB__OUTCOME_OWN,     // of a call of the driver's own API
};

// Places for result sets of a connection. Lua holds plain pointers to them: a
// pointer to an earlier result set is rejected until its place is reused.
#define SB__RESULTS 4u

// What belongs to a connection: statements, loads, a pipeline, objects of the
// driver's own API. Each
// is in a list of its connection, so a connection ends them without knowing
// what they are.

// Each function is optional. A function may remove its own child from the list,
// but no other one.
struct sb__child_ops {
    // Called before another call begins on the connection, while
    // con->unsettled is not 0. 0 or SB_E* as the error of the connection. A
    // child has this or cancel(), but not both.
    int (*settle)(struct sb__child *k);
    // Whether a new connection to the server would lose what is in progress.
    bool (*keeps)(const struct sb__child *k);
    // The script closes the connection: warns of what it has not sent.
    void (*warn)(const struct sb__child *k);
    // Ends what is in progress and not complete, and ignores its errors.
    void (*abandon)(struct sb__child *k);
    // The connection is about to be closed: ends what exists on the server.
    void (*reset)(struct sb__child *k);
    // The connection is about to be freed. The function removes the child.
    void (*orphan)(struct sb__child *k);
    // Makes a call in progress return soon. Any thread, with the lock of the
    // context held.
    void (*cancel)(struct sb__child *k);
    // Frees a child for which sb__child_free_later() was called.
    void (*free_late)(struct sb__child *k);
    // Frees a child that has no connection any more: its context ends.
    void (*free)(struct sb__child *k);
};

struct sb__child { // embedded in its owner
    const struct sb__child_ops *ops;
    struct sb_con_priv *con; // NULL: it was removed from its connection
    struct sb__child *next, **prev;
};

enum sb__pipe_state {
    SB__PIPE_NONE,
    SB__PIPE_OPEN, // statements are collected, not executed
    SB__PIPE_SENT, // answers are being received
};

// The prepared statements of a connection in the order of their last use. To
// keep executions cheap, nothing moves in the list until it is full.
struct sb__prepared { // {0}: empty and without a limit
    struct sb_stmt_handle *newest, *oldest;
    uint32_t n;
    uint32_t most; // limit, 0: none
    bool full;     // n >= most
};

// Statements collected to be sent together (sql/pipeline_items.c).
struct sb__pipe {
    struct sb__child child; // in the connection from the first use on
    enum sb__pipe_state state;
    bool texts; // it is open, and the driver accepts SQL texts only
    uint32_t n;
    uint32_t next; // the item whose answer is next
    struct sb__pipe_item *item;
    uint32_t nvalues;
    size_t items_cap, values_cap, out_cap;
    struct sb_value *value;
    struct sb_item *out; // the items as the driver takes them
    struct sb_buf bytes; // texts of statements and values
    uint64_t start;      // when the items were sent
    uint64_t waits;      // of the user's fiber before those of the driver
    uint64_t waited;     // after the driver's last function
};

// --db-refresh-*: reconnects at this number of events, or at this time.
struct sb__refresh {
    struct sb__child child;
    uint64_t events, at_event, at_ns;
    uint64_t seen; // the event of the last statement
};

// A handle that Lua holds, embedded in its owner. The collector may drop it
// while any user has its turn, also while a call waits on the connection: the
// next call of the context frees it.
struct sb__handle {
    struct sb_db_ctx *ctx;
    struct sb__handle *next; // in ctx->dropped
    void (*free)(struct sb__handle *h);
};

// The handle is given to Lua.
static inline void sb__handle_give(struct sb__handle *h, struct sb_db_ctx *ctx,
    void (*free)(struct sb__handle *h))
{
    *h = (struct sb__handle){ .ctx = ctx, .free = free };
    ctx->handles++;
}

// Lua does not use the handle any more: it was freed.
static inline void sb__handle_end(struct sb__handle *h)
{
    assert(h->ctx->handles > 0);
    h->ctx->handles--;
}

// For finalizers: waits for nothing, and changes no connection. If the user has
// left, frees it at once.
void sb__handle_drop(struct sb__handle *h);
// Closes and frees the connection. No effect on one that was freed.
void sb_con_free(struct sb_con *con);
// Frees what was dropped. Between calls of the context.
void sb__handles_free(struct sb_db_ctx *ctx);

// Handles of connections and statements stay readable until their context
// ends, and are reused: Lua may hold a result set longer than the connection
// it came from, and finalizers run in any order.
struct sb_con_priv {
    struct sb_con pub; // first: the handle Lua holds
    struct sb__handle handle;
    struct sb_db_ctx *ctx;
    struct sb__inst *inst;
    const struct sb_driver *drv;
    const struct sb_sql_ops *sql;
    struct sb_conn *conn;
    enum sb__con_state state;
    enum sb__outcome outcome;
    uint32_t unsettled; // children with something to do before the next call
    bool debug, emulate;
    bool wrote; // a transaction that may still be open has changed rows
    struct sb_result res;
    struct sb_rs rs[SB__RESULTS];
    unsigned rs_now;                  // the only one that may be valid
    struct sb_stmt_handle *statement; // source of the result, NULL: SQL text
    struct sb__prepared prepared;     // statements that exist on the server
    struct sb__pipe pipe; // only pipelines use what follows its state
    struct sb_err err;
    struct sb_conn_info info;
    struct sb_con_priv *next, *prev; // in the context, protected by its lock
    bool cancelable;                 // protected by the context's lock
    struct sb__child *cancelables;   // children with cancel(); changed with the
                                     // context's lock
    struct sb__child *settlers;      // those with settle(), which are few
    struct sb__child *children;      // the others
    struct sb__child *late;          // of sb__child_free_later()
    uint64_t lost_at;                // when the loss was detected
    uint64_t queued_ns; // how long connecting has waited in this program: for
                        // --connect-parallel and for a helper thread
    uint64_t queued_waits; // of the user's fiber after the former, or 0
    struct sb__refresh refresh;
    struct sb_buf bulk; // INSERT text being collected
    size_t bulk_head;   // length before the rows; 0: no bulk insert
    uint32_t bulk_rows;
    struct sb__init_sql *init_sql; // statements of sb_con_init_sql()
    char *failed_sql; // beginning of the last failed statement, or NULL
};

bool sb__con_connected(const struct sb_con_priv *c);
bool sb__con_lost(const struct sb_con_priv *c);

// Changes the state. No other function may do so, except for a new connection.
void sb__con_enter(struct sb_con_priv *c, enum sb__con_state to);
// Notes that the server is gone, unless this was noted before.
void sb__con_broken(struct sb_con_priv *c, uint64_t now_ns);

// Adds a child as the first one.
void sb__child_add(struct sb_con_priv *c, struct sb__child *k);
// Removes it from its connection, which takes the lock of its context if the
// child can be canceled. Its con is NULL afterwards.
void sb__child_remove(struct sb__child *k);
// The same for other lists, such as those of a context.
void sb__child_link(struct sb__child **list, struct sb__child *k);
void sb__child_unlink(struct sb__child *k);

// For a child that is neither in the list with settle() nor in that with
// cancel(), and that its owner has freed while a pipeline or a load uses the
// connection: sb__children_free_late(), which they call at their ends, frees
// it.
void sb__child_free_later(struct sb__child *k);
void sb__children_free_late(struct sb_con_priv *c);

// Each calls the function of this name for every child that has it: first those
// with cancel(), then those with settle(), then the others, in each of these
// groups the newest first. settle() ends with the first failure.
int sb__children_settle(struct sb_con_priv *c);
// True if any of them keeps the connection.
bool sb__children_keep(const struct sb_con_priv *c);
void sb__children_warn(const struct sb_con_priv *c);
void sb__children_abandon(struct sb_con_priv *c);
void sb__children_reset(struct sb_con_priv *c);
void sb__children_orphan(struct sb_con_priv *c);
void sb__children_cancel(struct sb_con_priv *c);
// Frees every child in a list of a context.
void sb__children_free(struct sb__child **list);

#endif
