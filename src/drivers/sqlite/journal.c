// SPDX-License-Identifier: GPL-2.0-or-later
//
// The journal mode of a database.
#include "drivers/sqlite/internal.h"
#include "kit/clock.h"

#define PAUSE_NS 1000000 // between attempts

// Returns false if the call was canceled before it was the turn of this
// connection.
static bool take_turn(struct sqlite_conn *c)
{
    while (atomic_exchange_explicit(
        &c->env->setting_journal, true, memory_order_acquire)) {
        if (atomic_load_explicit(&c->canceled, memory_order_relaxed))
            return false;
        sqlite_pause(c, PAUSE_NS);
    }
    return true;
}

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
    if (!take_turn(c))
        return sqlite_fail(c, SQLITE_INTERRUPT, err);
    do {
        rc = sqlite_simple(c, sql, err);
        if (rc == SB_ERESTART)
            sqlite_pause(c, PAUSE_NS);
    } while (rc == SB_ERESTART && sb_clock_monotonic() < until);
    atomic_store_explicit(
        &c->env->setting_journal, false, memory_order_release);
    c->journal_pending = rc != 0;
    return rc;
}

int sqlite_before_write(struct sqlite_conn *c, struct sb_err *err)
{
    if (!c->journal_pending || !sqlite3_get_autocommit(c->db))
        return 0;
    return sqlite_set_journal(c, err);
}
