// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations that the files of db/load/ share.
#ifndef SB_LOAD_PRIVATE_H
#define SB_LOAD_PRIVATE_H

#include "db/call.h"

// feed.c ---------------------------------------------------------------------

// True if a load that failed to begin is to be retried: rc says that a lock was
// the reason, and `tries` is below the maximum. Logs the first wait.
bool sb__busy_again(int rc, int tries, const char *table);

// feed.c: shared loaders ------------------------------------------------------

// The place of a load at a shared loader.
struct sb__seat {
    struct sb__feed *feed; // NULL: none
    bool canceled;         // protected by the loader
};

// A block of rows for a loader.
struct sb__block {
    const char *table, *columns;
    uint32_t ncolumns, nrows;
    const struct sb_value *values;
};

// Takes a place at the shared loader of the connection's instance for the
// table. The loader may not be connected yet. The caller drops it with
// sb__feed_put(). 0 or SB_ENOMEM.
int sb__feed_get(struct sb_con_priv *c, const char *table,
    struct sb__seat *seat, struct sb_err *err);
// Connects the loader, or waits until another thread has done so. 0 or SB_E*;
// SB_ECANCELED if this place was canceled in the meantime.
int sb__feed_open(
    struct sb__seat *seat, const struct sb_con_priv *c, struct sb_err *err);
// Drops the loader; the last caller closes its connection.
void sb__feed_put(struct sb__feed *f);
// Sends a block. After a failure all callers get its error; *first is true for
// the caller whose block failed.
int sb__feed_rows(struct sb__feed *f, const struct sb__block *b,
    struct sb_err *err, bool *first);
int sb__feed_commit(struct sb__feed *f, struct sb_err *err, bool *first);
// Rolls back what is not committed; the calls of all other callers fail.
void sb__feed_abandon(struct sb__feed *f, const char *table);
// Makes the caller's call in progress return soon, also while the loader is
// being connected. Any thread.
void sb__feed_cancel(struct sb__seat *seat);

#endif
