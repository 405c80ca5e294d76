// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the sessions of the server are doing: its list of threads, what they
// wait for, and the transactions of InnoDB, which alone show waits for row
// locks and transactions that wait for their clients.
#define _GNU_SOURCE // FNM_CASEFOLD
#include <fnmatch.h>
#include <stdlib.h>
#include <strings.h>

#include "drivers/mysql/internal.h"

#define COLUMNS 6

#define OWN "substring_index(user(), '@', 1)"

// Columns: number of the session, command, state, wait, state of the
// transaction, statement. Of several rows of a session, the first one counts:
// the innermost wait, the outermost statement.
#define THREADS(trx, join, open)                                             \
    "SELECT t.processlist_id, coalesce(t.processlist_command, ''), "         \
    "coalesce(t.processlist_state, ''), coalesce(w.event_name, ''), " trx    \
    ", coalesce(left(coalesce(s.sql_text, t.processlist_info), 1100), '') "  \
    "FROM performance_schema.threads t LEFT JOIN "                           \
    "performance_schema.events_waits_current w ON w.thread_id = "            \
    "t.thread_id AND w.end_event_id IS NULL AND w.event_name LIKE 'wait/%' " \
    "AND w.event_name NOT LIKE 'wait/io/table/%' LEFT JOIN "                 \
    "performance_schema.events_statements_current s ON s.thread_id = "       \
    "t.thread_id AND s.end_event_id IS NULL " join                           \
    "WHERE t.processlist_user = " OWN " AND t.processlist_id <> "            \
    "connection_id() AND (t.processlist_command <> 'Sleep'" open             \
    ") ORDER BY t.processlist_id, w.event_id DESC, s.event_id"
#define PROCESSES(trx, join, open)                                 \
    "SELECT p.id, p.command, coalesce(p.state, ''), '', " trx      \
    ", coalesce(left(p.info, 1100), '') FROM "                     \
    "information_schema.processlist p " join "WHERE p.user = " OWN \
    " AND p.id <> connection_id() AND (p.command <> 'Sleep'" open ")"
#define WITH_TRX(query, id)                             \
    query("coalesce(x.trx_state, '')",                  \
        "LEFT JOIN information_schema.innodb_trx x ON " \
        "x.trx_mysql_thread_id = " id " ",              \
        " OR x.trx_state IS NOT NULL")
#define WITHOUT_TRX(query) query("''", "", "")

// The first way that this user may take is taken.
static const struct way {
    const char *sql;
    bool threads; // performance_schema
    bool trx;
} ways[] = {
    { WITH_TRX(THREADS, "t.processlist_id"), true, true },
    { WITHOUT_TRX(THREADS), true, false },
    { WITH_TRX(PROCESSES, "p.id"), false, true },
    { WITHOUT_TRX(PROCESSES), false, false },
};
#define WAYS ((int)(sizeof(ways) / sizeof(ways[0])))

// Classes of the states of a thread; of all others: CPU. The first match
// counts.
static const struct {
    const char *pattern, *wait_class;
} states[] = {
    { "Waiting for*commit*", "Commit" },
    { "Waiting for semi-sync*", "Commit" },
    { "Waiting for*lock*", "Lock" },
    { "Waiting for table*", "Lock" },
    { "Waiting for schema*", "Lock" },
    { "User lock", "Lock" },
    { "Waiting for*", "Other" },
    { "Commit", "Commit" },
    { "User sleep", "Timeout" },
    { "Sending to client", "Client" },
    { "Writing to net", "Client" },
    { "Reading from net", "Client" },
    { "Receiving from client", "Client" },
};

// Classes of instruments of performance_schema.
static const struct {
    const char *start, *wait_class;
} instruments[] = {
    { "wait/io/socket/", "Client" },
    { "wait/io/", "IO" },
    { "wait/lock/", "Lock" },
    { "wait/synch/", "Latch" },
};

static const char *class_of_state(const char *state)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (fnmatch(states[i].pattern, state, FNM_CASEFOLD) == 0)
            return states[i].wait_class;
    }
    return "CPU";
}

static void set_wait(struct sb_activity *a, const char *event)
{
    a->wait_class = "Other";
    a->event = event;
    for (size_t i = 0; i < sizeof(instruments) / sizeof(instruments[0]); i++) {
        size_t n = strlen(instruments[i].start);

        if (strncmp(event, instruments[i].start, n) == 0) {
            a->wait_class = instruments[i].wait_class;
            a->event = event + n;
            return;
        }
    }
}

static int take_thread(
    const char *const *row, const struct sb_activity_sink *to)
{
    const char *state = row[2], *wait = row[3], *text = row[5];
    struct sb_activity a = { .session = strtoull(row[0], NULL, 10),
        .wait_class = class_of_state(state),
        .event = state,
        .text = text,
        .len = strlen(text) };

    if (strcasecmp(row[1], "Sleep") == 0) {
        a.wait_class = "Client";
        a.event = "idle in transaction";
        a.text = NULL;
    } else if (strcasecmp(row[4], "LOCK WAIT") == 0) {
        a.wait_class = "Lock";
        a.event = "row lock";
    } else if (strcmp(a.wait_class, "CPU") == 0 && *wait) {
        set_wait(&a, wait);
    }
    return to->session(to->arg, &a);
}

static int take_threads(MYSQL_RES *res, const struct sb_activity_sink *to)
{
    MYSQL_ROW row;
    char last[24] = "";
    int rc = 0;

    while (rc == 0 && (row = sbmy_ask_row(res, COLUMNS)) != NULL) {
        if (strcmp(row[0], last) == 0)
            continue;
        snprintf(last, sizeof(last), "%s", row[0]);
        rc = take_thread((const char *const *)row, to);
    }
    return rc;
}

// Whether performance_schema is on, and lists the current waits.
static int look_at_schema(
    struct sbmy_conn *c, bool *on, bool *waits, struct sb_err *err)
{
    MYSQL_RES *res;
    MYSQL_ROW row;
    int rc = sbmy_ask(c,
        "SELECT @@performance_schema, coalesce((SELECT enabled FROM "
        "performance_schema.setup_consumers WHERE name = "
        "'events_waits_current'), '')",
        2, &res, err);

    *on = *waits = false;
    if (rc)
        return rc == SB_EQUERY ? 0 : rc;
    row = sbmy_ask_row(res, 2);
    if (row) {
        *on = strcmp(row[0], "1") == 0;
        *waits = *on && strcasecmp(row[1], "YES") == 0;
    }
    mysql_free_result(res);
    return 0;
}

static void tell_notes(
    const struct way *w, bool waits, const struct sb_activity_sink *to)
{
    to->note(to->arg, "all sessions of this user");
    if (!w->threads || !waits)
        to->note(to->arg, "waits for files and latches are not instrumented "
                          "and count as CPU");
    if (!w->trx)
        to->note(to->arg, "waits for row locks are not seen, because this "
                          "user cannot read information_schema.innodb_trx");
}

// Finds a way that works, and takes the first sample by it.
static int begin(struct sbmy_conn *c, const struct sb_activity_sink *to,
    MYSQL_RES **res, struct sb_err *err)
{
    bool on, waits;
    int rc = look_at_schema(c, &on, &waits, err);

    if (rc)
        return rc;
    rc = SB_EQUERY;
    for (int i = 0; rc == SB_EQUERY && i < WAYS; i++) {
        if (ways[i].threads && !on)
            continue;
        rc = sbmy_ask(c, ways[i].sql, COLUMNS, res, err);
        c->way = i + 1;
    }
    if (rc == 0)
        tell_notes(&ways[c->way - 1], waits, to);
    return rc;
}

int sbmy_activity(
    struct sb_conn *conn, const struct sb_activity_sink *to, struct sb_err *err)
{
    struct sbmy_conn *c = sbmy_own(conn);
    MYSQL_RES *res = NULL;
    int rc;

    if (c->o->dry_run)
        return sb_err_set(err, SB_EUNSUPPORTED, "a dry run has no sessions");
    rc = sbmy_call_begin(c, err);
    if (rc)
        return rc;
    rc = c->way ? sbmy_ask(c, ways[c->way - 1].sql, COLUMNS, &res, err)
                : begin(c, to, &res, err);
    if (rc == 0) {
        rc = take_threads(res, to);
        mysql_free_result(res);
    } else if (rc == SB_EQUERY) {
        rc = err->code = SB_EUNSUPPORTED;
    }
    return sbmy_call_end(c, rc);
}

uint64_t sbmy_session(const struct sb_conn *conn)
{
    const struct sbmy_conn *c = (const struct sbmy_conn *)conn;

    return c->my ? mysql_thread_id(c->my) : 0;
}
