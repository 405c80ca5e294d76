// SPDX-License-Identifier: GPL-2.0-or-later
//
// What belongs to a connection: statements, documents, loads, a pipeline. Each
// is in a list of its connection, so a connection ends them without knowing
// what they are.
#ifndef SB_CHILD_H
#define SB_CHILD_H

#include <stdbool.h>

struct sb__child;
struct sb_con_priv;
struct sb_db_ctx;

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
