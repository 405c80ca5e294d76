// SPDX-License-Identifier: GPL-2.0-or-later
//
// Errors of SQLite, waiting, and what each call begins with.
#include <string.h>
#include <time.h>

#include "drivers/sqlite/internal.h"
#include "kit/clock.h"
#include "kit/limits.h"

static const char *state_of(int code)
{
    switch (code) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
        return "23505";
    case SQLITE_CONSTRAINT_NOTNULL:
        return "23502";
    case SQLITE_CONSTRAINT_FOREIGNKEY:
        return "23503";
    default:
        break;
    }
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_SCHEMA:
    case SQLITE_PROTOCOL:
        return "40001";
    case SQLITE_INTERRUPT:
        return "57014";
    case SQLITE_FULL:
        return "53100";
    case SQLITE_NOMEM:
        return "53200";
    case SQLITE_READONLY:
        return "25006";
    case SQLITE_CONSTRAINT:
        return "23000";
    default:
        return "HY000";
    }
}

// Appends the system's error, because "disk I/O error" alone does not help.
// SQLite keeps it until the next system error.
static void io_reason(sqlite3 *db, const char *text, struct sb_err *err)
{
    int e = sqlite3_system_errno(db);
    char limit[80];

    if (!err || e == 0)
        return;
    sb_limit_of_size(e, limit, sizeof(limit));
    snprintf(
        err->msg, sizeof(err->msg), "%.250s: %s%s", text, strerror(e), limit);
}

// The same for "unable to open" and "readonly".
static void file_reason(
    const struct sqlite_conn *c, const char *text, struct sb_err *err)
{
    char why[240];

    if (c->env->memory)
        return;
    sqlite_file_reason(c->db, c->o->db, why, sizeof(why));
    if (*why)
        snprintf(err->msg, sizeof(err->msg), "%.220s%s", text, why);
}

int sqlite_fail(struct sqlite_conn *c, int rc, struct sb_err *err)
{
    int code = c->db ? sqlite3_extended_errcode(c->db) : rc;
    const char *text = c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(rc);
    int kind = SB_EQUERY;

    // https://sqlite.org/rescode.html. The extended codes of BUSY (RECOVERY,
    // SNAPSHOT, TIMEOUT) and LOCKED (SHAREDCACHE, VTAB) are as their class.
    // Not every call stores its error in the connection.
    if ((code & 0xff) != (rc & 0xff)) {
        code = rc;
        text = sqlite3_errstr(rc);
    }
    if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED)
        kind = atomic_load_explicit(&c->canceled, memory_order_relaxed)
                   ? SB_ECANCELED
                   : SB_ERESTART;
    else if ((code & 0xff) == SQLITE_SCHEMA)
        kind = SB_ERESTART; // tables changed each time it was compiled again
    else if ((code & 0xff) == SQLITE_PROTOCOL)
        kind = SB_ERESTART; // a race of users that open the WAL
    else if ((code & 0xff) == SQLITE_INTERRUPT)
        kind = SB_ECANCELED;
    sb_err_native(err, kind, code, state_of(code), text);
    if (c->db && (code & 0xff) == SQLITE_IOERR)
        io_reason(c->db, text, err);
    else if (c->db && err)
        file_reason(c, text, err);
    if (err && strncmp(text, "no such table", 13) == 0) {
        snprintf(err->state, sizeof(err->state), "42S02");
        snprintf(err->msg, sizeof(err->msg), "%.250s (%s)", text,
            c->env->memory ? "a database in memory is empty in each new process"
                             "; 'prepare' needs --sqlite-db=FILE"
                           : "was the 'prepare' command run for this "
                             "database?");
    }
    return kind;
}

// In a thread of its own, a user sleeps without the busy-waiting of
// host->sleep(), which would take the processor from the user that is waited
// for.
void sqlite_pause(const struct sqlite_conn *c, int64_t ns)
{
    if (c->host->shared())
        c->host->sleep(sb_clock_monotonic() + (uint64_t)ns);
    else
        nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
}

void sqlite_call_begin(struct sqlite_conn *c)
{
    atomic_store_explicit(&c->canceled, false, memory_order_relaxed);
    if (sqlite3_get_autocommit(c->db))
        c->changes = sqlite3_total_changes64(c->db);
    sqlite_count(c);
}

int sqlite_simple(struct sqlite_conn *c, const char *sql, struct sb_err *err)
{
    int rc = sqlite3_exec(c->db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : sqlite_fail(c, rc, err);
}
