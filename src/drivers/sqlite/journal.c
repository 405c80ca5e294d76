// SPDX-License-Identifier: GPL-2.0-or-later
//
// The journal mode of a database.
#include <time.h>

#include "drivers/sqlite/sqlite_priv.h"
#include "kit/clock.h"

// Retries until the busy timeout: changing the mode requires exclusive access
// for a moment, and SQLite does not always call the busy handler for it.
int sqlite_set_journal(struct sqlite_conn *c, struct sb_err *err)
{
    char sql[64];
    uint64_t until = sb_clock_monotonic() + (uint64_t)c->o->busy_timeout;
    int rc;

    // The mode of a read-only file cannot be changed.
    if (c->env->memory || sqlite3_db_readonly(c->db, "main") == 1)
        return 0;
    snprintf(sql, sizeof(sql), "PRAGMA journal_mode=%s",
        sqlite_journal_modes[c->o->journal_mode]);
    pthread_mutex_lock(&c->env->lock);
    do {
        rc = sqlite_simple(c, sql, err);
        if (rc == SB_ERESTART)
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    } while (rc == SB_ERESTART && sb_clock_monotonic() < until);
    pthread_mutex_unlock(&c->env->lock);
    c->journal_pending = rc != 0;
    return rc;
}

int sqlite_before_write(struct sqlite_conn *c, struct sb_err *err)
{
    if (!c->journal_pending || !sqlite3_get_autocommit(c->db))
        return 0;
    return sqlite_set_journal(c, err);
}
