// SPDX-License-Identifier: GPL-2.0-or-later
//
// A load: the data that the thread that pushes rows and the thread of the
// statement, in which the library pulls them, share.
#ifndef MYSQL_BULK_H
#define MYSQL_BULK_H

#include "drivers/mysql/internal.h"

enum sbmy_bulk_state {
    SBMY_BULK_IDLE,     // no statement was sent yet
    SBMY_BULK_STARTING, // the server has not requested data yet
    SBMY_BULK_LOADING,
    SBMY_BULK_DONE, // the statement ended with rc and err
};

struct sbmy_block {
    char *data;
    size_t len, cap;
};

struct sbmy_bulk {
    struct sbmy_conn *c;
    char *sql;
    uint32_t ncolumns;
    uint64_t sent;   // rows of this statement
    uint64_t bytes;  // of this statement, passed to the library
    bool short_load; // keeps the settings of the session
    bool old_unique, old_foreign, strict;
    struct sbmy_block fill; // owned by the pushing thread
    // Shared by the two threads, protected by lock:
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool running; // the thread must be joined
    enum sbmy_bulk_state state;
    bool full;    // `ready` has data and belongs to the library
    bool no_more; // no more rows
    bool give_up; // the statement is to fail
    struct sbmy_block ready;
    // Owned by the pulling thread: whether it reads `ready`, and its position
    // there.
    bool taking;
    size_t at;
    // The outcome of the statement, valid when SBMY_BULK_DONE:
    int rc;
    struct sb_err err;
    uint64_t loaded;
    unsigned warnings;
};

// Wakes the other thread. The caller holds b->lock.
static inline void sbmy_bulk_wake(struct sbmy_bulk *b)
{
    pthread_cond_broadcast(&b->changed);
}

#endif
