// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "drivers/pgsql/binary.h"
#include "drivers/pgsql/internal.h"

// The first entry whose text the SQLSTATE begins with. States:
// src/backend/utils/errcodes.txt of the server; restarts: its documentation,
// "Serialization Failure Handling", and those that lost a race for a lock.
static const struct {
    const char *state;
    int code;
} table[] = {
    { "40000", SB_ERESTART }, // the transaction was rolled back
    { "40001", SB_ERESTART }, // serialization failure
    { "40P01", SB_ERESTART }, // deadlock
    { "55P03", SB_ERESTART }, // a lock was not available in time
    { "72000", SB_ERESTART }, // the snapshot is too old
    { "23505", SB_EIGNORE },  // unique violation: ignored since sysbench 1.0
    { "08", SB_ELOST },       // connection exceptions
    { "57P01", SB_ELOST },    // terminated by an administrator
    { "57P02", SB_ELOST },    // another server process crashed
    { "57P03", SB_ELOST },    // starting up or shutting down
    { "57P04", SB_ELOST },    // the database was dropped
    { "57P05", SB_ELOST },    // idle for too long
    { "25P03", SB_ELOST },    // idle in a transaction for too long
    { "25P04", SB_ELOST },    // in a transaction for too long
};

// Internal errors of statements during which another session altered, dropped
// or granted the same thing. The server does not translate these texts.
static bool is_race(const char *state, const char *text)
{
    static const char *const races[] = {
        "tuple concurrently ",
        "could not open relation with OID ",
        "cache lookup failed for ",
    };

    for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++) {
        if (strncmp(text, races[i], strlen(races[i])) == 0)
            return strcmp(state, "XX000") == 0;
    }
    return false;
}

// Errors of PgBouncer, which all have the state 08P01.
static const struct {
    const char *text;
    bool final; // every other try fails, too
    const char *hint;
} bouncer[] = {
    { "transaction blocks not allowed in statement pooling mode", true,
        "set PgBouncer's pool_mode to transaction, or run without "
        "transactions: "
        "--skip-trx" },
    { "query_wait_timeout", false,
        "no server connection of the pool was free: raise PgBouncer's "
        "default_pool_size" },
};

#define BOUNCER (sizeof(bouncer) / sizeof(bouncer[0]))

// True for an error with which a pooler closes the connection, and which
// another connection would get, too.
static bool pgsql_refused_for_good(const char *text)
{
    for (size_t i = 0; i < BOUNCER; i++) {
        if (strncmp(text, bouncer[i].text, strlen(bouncer[i].text)) == 0)
            return bouncer[i].final;
    }
    return false;
}

const char *pgsql_hint(const char *state, const char *text)
{
    if (strcmp(state, PGSQL_NO_TABLE) == 0)
        return "was the 'prepare' command run for this database?";
    for (size_t i = 0; i < BOUNCER; i++) {
        if (strcmp(text, bouncer[i].text) == 0)
            return bouncer[i].hint;
    }
    return NULL;
}

int pgsql_classify(const char *state, const char *text)
{
    if (pgsql_refused_for_good(text))
        return SB_EQUERY;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strncmp(state, table[i].state, strlen(table[i].state)) == 0)
            return table[i].code;
    }
    return is_race(state, text) ? SB_ERESTART : SB_EQUERY;
}

bool pgsql_types_missing(const char *state)
{
    static const char *const states[] = {
        "42725", // ambiguous function or operator
        "42804", // types do not match
        "42883", // no such function or operator
        "42P18", // indeterminate type
    };

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (strcmp(state, states[i]) == 0)
            return true;
    }
    return false;
}

// PostgreSQL translates the text, so the name of the routine decides.
// Compatible servers have other routines; for them, the text decides.
bool pgsql_plan_changed(
    const char *state, const char *text, const char *routine)
{
    return strcmp(state, "0A000") == 0 &&
           (strcmp(routine, "RevalidateCachedQuery") == 0 ||
               strcmp(text, "cached plan must not change result type") == 0);
}

bool pgsql_not_known(const char *state)
{
    return strcmp(state, "42601") == 0 || strncmp(state, "0A", 2) == 0 ||
           strncmp(state, "XX", 2) == 0;
}

static bool pg_is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

static size_t trim(char *out, size_t n, size_t size)
{
    while (n > 0 && out[n - 1] == ' ')
        n--;
    if (size > 0)
        out[n] = '\0';
    return n;
}

size_t pgsql_one_line(const char *text, char *out, size_t size)
{
    size_t n = 0;

    for (; *text && n + 1 < size; text++) {
        if (!pg_is_blank(*text))
            out[n++] = *text;
        else if (n > 0 && out[n - 1] != ' ')
            out[n++] = ' ';
    }
    return trim(out, n, size);
}

// Returns the punctuation mark to add at the end of the line before this one:
// '.' before a new sentence, ';' before another message, 0 if the sentence
// continues.
static char mark_before(const char *line)
{
    const char *first = line;

    while (pg_is_blank(*first))
        first++;
    if (*first >= 'A' && *first <= 'Z')
        return '.';
    return *first && first == line ? ';' : '\0';
}

size_t pgsql_sentences(const char *text, char *out, size_t size)
{
    size_t n = 0;

    for (; *text && n + 2 < size; text++) {
        char mark = *text == '\n' ? mark_before(text + 1) : '\0';

        if (!pg_is_blank(*text)) {
            out[n++] = *text;
            continue;
        }
        if (n > 0 && out[n - 1] == ' ')
            n--;
        if (mark && n > 0 && !strchr(".,:;?!", out[n - 1]))
            out[n++] = mark;
        if (n > 0)
            out[n++] = ' ';
    }
    return trim(out, n, size);
}

static bool is_state(const char *text)
{
    for (int i = 0; i < 5; i++) {
        if (!(text[i] >= '0' && text[i] <= '9') &&
            !(text[i] >= 'A' && text[i] <= 'Z'))
            return false;
    }
    return text[5] == ':' && text[6] == ' ';
}

void pgsql_take_state(char *text, char state[6])
{
    char *at = text, *end;

    while ((at = strstr(at, ":  ")) != NULL) {
        at += 3;
        if (!is_state(at))
            continue;
        memcpy(state, at, 5);
        state[5] = '\0';
        memmove(at, at + 7, strlen(at + 7) + 1);
    }
    while ((at = strstr(text, "\nLOCATION:  ")) != NULL) {
        end = strchr(at + 1, '\n');
        if (end)
            memmove(at, end, strlen(end) + 1);
        else
            *at = '\0';
    }
}

// Errors of the server and of libpq.

static const char *pg_field(const PGresult *r, int code)
{
    const char *s = r ? PQresultErrorField(r, code) : NULL;

    return s ? s : "";
}

bool pgsql_gone(const struct pgsql_conn *c)
{
    return c->gone || PQstatus(c->db) != CONNECTION_OK;
}

void pgsql_keep_closing(
    struct pgsql_conn *c, const char *state, const char *text)
{
    if (!c->closing)
        c->closing = malloc(sizeof(*c->closing));
    if (!c->closing)
        return;
    snprintf(c->closing->state, sizeof(c->closing->state), "%s", state);
    pgsql_one_line(text, c->closing->text, sizeof(c->closing->text));
}

// Writes "text (detail)" as one line.
static void pg_join(
    const char *text, const char *detail, char *out, size_t size)
{
    size_t n = pgsql_one_line(text, out, size);

    if (!detail[0] || n + 8 >= size)
        return;
    memcpy(out + n, " (", 2);
    n += 2 + pgsql_one_line(detail, out + n + 2, size - n - 4);
    memcpy(out + n, ")", 2);
}

int pgsql_fail_with(
    struct pgsql_conn *c, const struct pgsql_problem *p, struct sb_err *err)
{
    int code = pgsql_classify(p->state, p->text);
    const char *state = p->state, *said = p->text, *hint;
    char text[sizeof(err->msg)];

    c->plan_changed = pgsql_plan_changed(state, said, p->routine);
    if (pgsql_gone(c)) {
        if (!pgsql_refused_for_good(said))
            code = SB_ELOST;
        c->gone = true;
        // The descriptor may soon be reused.
        atomic_store_explicit(&c->socket, 0, memory_order_release);
        if (!state[0] && c->closing) {
            state = c->closing->state;
            said = c->closing->text;
        }
    }
    // The caller may drop this error: later ones must also have its cause.
    if (code == SB_ELOST && p->state[0])
        pgsql_keep_closing(c, p->state, p->text);
    if (code == SB_ELOST && !state[0])
        state = PGSQL_LOST;
    if ((code == SB_ELOST || strcmp(state, PGSQL_CANCELED) == 0) &&
        atomic_load_explicit(&c->canceled, memory_order_relaxed)) {
        atomic_store_explicit(&c->canceled, false, memory_order_relaxed);
        code = SB_ECANCELED;
    }
    hint = pgsql_hint(state, said);
    pg_join(said, hint ? hint : p->detail, text, sizeof(text));
    return sb_err_native(err, code, 0, state, text);
}

int pgsql_fail(struct pgsql_conn *c, const PGresult *r, struct sb_err *err)
{
    struct pgsql_problem p = {
        .state = pg_field(r, PG_DIAG_SQLSTATE),
        .text = pg_field(r, PG_DIAG_MESSAGE_PRIMARY),
        .detail = pg_field(r, PG_DIAG_MESSAGE_DETAIL),
        .routine = pg_field(r, PG_DIAG_SOURCE_FUNCTION),
    };
    char said[400];

    // Errors of libpq itself have no fields.
    if (!p.text[0]) {
        const char *own = r ? PQresultErrorMessage(r) : "";

        pgsql_sentences(
            own[0] ? own : PQerrorMessage(c->db), said, sizeof(said));
        p.text = said[0]         ? said
                 : pgsql_gone(c) ? "connection lost"
                                 : "the server sent no result";
    }
    return pgsql_fail_with(c, &p, err);
}

int pgsql_fail_fatal(struct pgsql_conn *c, struct sb_err *err)
{
    const struct sb_err was = err ? *err : (struct sb_err){ 0 };
    const struct pgsql_problem p = {
        .state = was.state, .text = was.msg, .detail = "", .routine = ""
    };

    return pgsql_fail_with(c, &p, err);
}

// A COMMIT that waits for a standby succeeds when it is canceled, with a
// warning: the standby may not have the transaction. So it counts as canceled.
int pgsql_check_commit(
    struct pgsql_conn *c, const char *tag, struct sb_err *err)
{
    if (strcmp(tag, "COMMIT") != 0 ||
        !atomic_load_explicit(&c->canceled, memory_order_relaxed))
        return 0;
    atomic_store_explicit(&c->canceled, false, memory_order_relaxed);
    return sb_err_native(err, SB_ECANCELED, 0, PGSQL_CANCELED,
        "COMMIT was canceled; standbys may not have the transaction");
}

int pgsql_check_rollback(const char *sql, size_t len, struct sb_err *err)
{
    size_t at = sb_sqlscan_start(sql, len, PGSQL_SCAN);

    if ((len - at < 6 || strncasecmp(sql + at, "COMMIT", 6) != 0) &&
        (len - at < 3 || strncasecmp(sql + at, "END", 3) != 0))
        return 0;
    return sb_err_native(err, SB_ERESTART, 0, PGSQL_ROLLED_BACK,
        "COMMIT has rolled back, because a statement of the transaction had "
        "failed");
}
