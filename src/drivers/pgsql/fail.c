// SPDX-License-Identifier: GPL-2.0-or-later
//
// Errors of the server and of libpq.
#include <stdlib.h>
#include <strings.h>

#include "drivers/pgsql/internal.h"

int pgsql_no_memory(struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM, "out of memory");
}

static const char *field(const PGresult *r, int code)
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
static void join(const char *text, const char *detail, char *out, size_t size)
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
    join(said, hint ? hint : p->detail, text, sizeof(text));
    return sb_err_native(err, code, 0, state, text);
}

int pgsql_fail(struct pgsql_conn *c, const PGresult *r, struct sb_err *err)
{
    struct pgsql_problem p = {
        .state = field(r, PG_DIAG_SQLSTATE),
        .text = field(r, PG_DIAG_MESSAGE_PRIMARY),
        .detail = field(r, PG_DIAG_MESSAGE_DETAIL),
        .routine = field(r, PG_DIAG_SOURCE_FUNCTION),
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
