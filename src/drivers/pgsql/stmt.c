// SPDX-License-Identifier: GPL-2.0-or-later
//
// Prepared statements. Parameters are sent as text.
#include <stdlib.h>

#include "drivers/pgsql/internal.h"

// Texts --------------------------------------------------------------------

const char *pgsql_terminated(
    struct pgsql_conn *c, const char *sql, size_t len, struct sb_err *err)
{
    char *p;

    c->sql.len = 0;
    p = sb_buf_room(&c->sql, len + 1);
    if (!p) {
        pgsql_no_memory(err);
        return NULL;
    }
    if (memchr(sql, '\0', len)) {
        sb_err_set(err, SB_EQUERY, "the statement contains a zero byte");
        return NULL;
    }
    memcpy(p, sql, len);
    p[len] = '\0';
    return p;
}

bool pgsql_escapes(const struct pgsql_conn *c)
{
    const char *standard = PQparameterStatus(
        c->db, "standard_conforming_strings");

    return !standard || strcmp(standard, "on") != 0;
}

// Preparing ----------------------------------------------------------------

uint32_t pgsql_scan(const struct sb_conn *conn)
{
    const struct pgsql_conn *c = (const struct pgsql_conn *)conn;

    return PGSQL_SCAN | (pgsql_escapes(c) ? SB_SQLSCAN_BACKSLASH : 0);
}

static bool reserve_params(struct pgsql_conn *c, uint32_t n)
{
    void *value, *length, *format;

    if (n <= c->cap_params)
        return true;
    value = realloc(c->value, n * sizeof(*c->value));
    if (value)
        c->value = value;
    length = realloc(c->length, n * sizeof(*c->length));
    if (length)
        c->length = length;
    format = realloc(c->format, n * sizeof(*c->format));
    if (format)
        c->format = format;
    if (!value || !length || !format)
        return false;
    c->cap_params = n;
    return true;
}

static int translate(struct pgsql_conn *c, struct pgsql_stmt *st,
    const char *sql, size_t len, uint32_t *nparams, struct sb_err *err)
{
    char *room = malloc(6 * len + 1), *fit;
    uint32_t scan = pgsql_scan((struct sb_conn *)c);

    if (!room)
        return pgsql_no_memory(err);
    if (memchr(sql, '\0', len) || pgsql_several(sql, len, scan, room)) {
        free(room);
        return sb_err_set(err, SB_EUNSUPPORTED,
            "the text must contain exactly one statement");
    }
    *nparams = pgsql_number_marks(sql, len, scan, room);
    fit = realloc(room, strlen(room) + 1);
    st->sql = fit ? fit : room;
    return reserve_params(c, *nparams) ? 0 : pgsql_no_memory(err);
}

static void drop_stmt(struct pgsql_stmt *st)
{
    free(st->sql);
    free(st->columns);
    free(st->types);
    *st = (struct pgsql_stmt){ 0 };
}

int pgsql_prepare(struct sb_conn *conn, struct sb_stmt *stmt, const char *sql,
    size_t len, const uint8_t *types, uint32_t *nparams, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    struct pgsql_stmt *st = (struct pgsql_stmt *)stmt;
    struct sb_err why = { 0 };
    uint32_t bound = *nparams;
    int rc = translate(c, st, sql, len, nparams, &why);

    if (rc == 0 && bound == *nparams)
        rc = pgsql_prepare_types(st, types, bound, &why);
    if (rc == 0 && !pgsql_text_only(c))
        rc = pgsql_prepare_send(c, st, &why);
    if (rc == 0)
        return 0;
    drop_stmt(st);
    why.code = rc;
    if (err)
        *err = why;
    return rc;
}

void pgsql_close(struct sb_conn *conn, struct sb_stmt *stmt)
{
    struct pgsql_conn *c = pgsql_own(conn);
    struct pgsql_stmt *st = (struct pgsql_stmt *)stmt;

    if (c->wire_stmt == st)
        pgsql_clear(c);
    pgsql_close_later(c, st);
    drop_stmt(st);
}

int pgsql_renew(struct pgsql_conn *c, struct pgsql_stmt *st, struct sb_err *err)
{
    assert(!c->wire_stmt);
    if (st->plans == c->plans || pgsql_text_only(c))
        return 0;
    pgsql_close_later(c, st);
    free(st->columns);
    st->columns = NULL;
    st->shape = PGSQL_UNKNOWN;
    return pgsql_prepare_send(c, st, err);
}

// Executing ----------------------------------------------------------------

static size_t room_for(const struct sb_value *v, uint32_t n)
{
    size_t size = 0;

    for (uint32_t i = 0; i < n; i++)
        size += v[i].type < SB_VALUE_TEXT ? SB_NUMBER_ROOM
                                          : (size_t)v[i].len + 1;
    return size;
}

// In text format, a value ends at a zero byte. A value with one is sent in
// binary format, so that the server reports the error.
static char *put_text(
    struct pgsql_conn *c, uint32_t i, const struct sb_value *v, char *out)
{
    memcpy(out, v->s, v->len);
    out[v->len] = '\0';
    c->format[i] = memchr(out, '\0', v->len) != NULL;
    return out + v->len + 1;
}

// Sets value i, with its text at `out`. Returns the position after it.
static char *put_value(
    struct pgsql_conn *c, uint32_t i, const struct sb_value *v, char *out)
{
    c->value[i] = out;
    c->length[i] = (int)v->len;
    c->format[i] = 0;
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        out += sb_number_int(out, v->i);
        *out = '\0';
        return out + 1;
    case SB_VALUE_UINT:
        out += sb_number_uint(out, v->u);
        *out = '\0';
        return out + 1;
    case SB_VALUE_DOUBLE:
        return out + pgsql_put_double(out, v->d) + 1;
    case SB_VALUE_TEXT:
    case SB_VALUE_TIME:
        return put_text(c, i, v, out);
    case SB_VALUE_BLOB:
        c->value[i] = v->len ? v->s : "";
        c->format[i] = 1;
        return out;
    case SB_VALUE_NULL:
    default:
        c->value[i] = NULL;
        return out;
    }
}

static bool bind_values(
    struct pgsql_conn *c, const struct sb_value *v, uint32_t n)
{
    char *out = sb_buf_room(&c->bound, room_for(v, n));

    if (!out || !reserve_params(c, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        out = put_value(c, i, &v[i], out);
    return true;
}

int pgsql_send_stmt(struct pgsql_conn *c, const struct pgsql_stmt *st,
    const struct sb_value *values, uint32_t n, struct sb_err *err)
{
    int sent;

    if (!bind_values(c, values, n))
        return pgsql_no_memory(err);
    if (st->name[0] && !pgsql_text_only(c))
        sent = PQsendQueryPrepared(
            c->db, st->name, (int)n, c->value, c->length, c->format, 0);
    else
        sent = PQsendQueryParams(c->db, st->sql, (int)n, st->types, c->value,
            c->length, c->format, 0);
    return sent ? 0 : pgsql_fail(c, NULL, err);
}

// Stores the kind of the statement's answer for later executions.
static void set_shape(struct pgsql_conn *c, struct pgsql_stmt *st)
{
    PGresult *r = c->result;
    size_t size = 1;
    char *p;

    st->shape = PGSQL_LIBPQ;
    if (!r || strncmp(PQcmdStatus(r), "COPY", 4) == 0)
        return;
    for (int i = 0; i < PQnfields(r); i++)
        size += strlen(PQfname(r, i)) + 1;
    st->columns = p = malloc(size);
    if (!p)
        return;
    for (int i = 0; i < PQnfields(r); i++)
        p = stpcpy(p, PQfname(r, i)) + 1;
    st->nfields = (uint32_t)PQnfields(r);
    st->shape = PQresultStatus(r) == PGRES_TUPLES_OK ? PGSQL_ROWS
                                                     : PGSQL_NO_ROWS;
}

static int execute_once(struct pgsql_conn *c, struct pgsql_stmt *st,
    const struct sb_value *values, uint32_t n, struct sb_err *err)
{
    int rc;

    pgsql_clear(c);
    rc = pgsql_renew(c, st, err);
    if (rc)
        return rc;
    if (st->name_len && !pgsql_text_only(c) &&
        pgsql_wire_ready(c, st, values, n))
        return pgsql_wire_execute(c, st, values, n, err);
    pgsql_call_begin(c);
    rc = pgsql_send_stmt(c, st, values, n, err);
    if (rc == 0)
        rc = pgsql_collect(c, err);
    pgsql_call_end(c);
    if (rc == 0 && st->shape == PGSQL_UNKNOWN)
        set_shape(c, st);
    return rc;
}

int pgsql_execute(struct sb_conn *conn, struct sb_stmt *stmt,
    const struct sb_value *values, uint32_t n, struct sb_result *res,
    struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    struct pgsql_stmt *st = (struct pgsql_stmt *)stmt;
    int rc = execute_once(c, st, values, n, err);

    if (rc == SB_EQUERY && err && pgsql_stmt_lost(c, err)) {
        // A transaction that had an error must be restarted.
        if (pgsql_transaction(c) == PQTRANS_INERROR)
            return SB_ERESTART;
        rc = execute_once(c, st, values, n, err);
    }
    if (rc == 0 && pgsql_rolled_back(c))
        rc = pgsql_check_rollback(st->sql, strlen(st->sql), err);
    if (rc == 0)
        pgsql_describe(c, res);
    return rc;
}
