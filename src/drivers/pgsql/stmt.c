// SPDX-License-Identifier: GPL-2.0-or-later
//
// Statements: texts, and prepared statements, whose parameters are sent as
// text.
#include <stdlib.h>

#include "drivers/pgsql/binary.h"
#include "drivers/pgsql/internal.h"
#include "kit/hash.h"

#define CLOSE_TOGETHER 32u   // statements that are deallocated together
#define CLOSE_MOST     1024u // maximum number of names kept for that
#define SAVEPOINT      "sysbench_prepare"

// Texts -----------------------------------------------------------------------

const char *pgsql_terminated(
    struct pgsql_conn *c, const char *sql, size_t len, struct sb_err *err)
{
    char *p;

    c->sql.len = 0;
    p = sb_buf_room(&c->sql, len + 1);
    if (!p) {
        sb_err_no_memory(err);
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

// Returns true if backslashes in plain literals are escapes.
static bool escapes_backslash(const struct pgsql_conn *c)
{
    const char *standard = PQparameterStatus(
        c->db, "standard_conforming_strings");

    return !standard || strcmp(standard, "on") != 0;
}

uint32_t pgsql_scan(const struct sb_conn *conn)
{
    const struct pgsql_conn *c = (const struct pgsql_conn *)conn;

    return PGSQL_SCAN | (escapes_backslash(c) ? SB_SQLSCAN_BACKSLASH : 0);
}

int pgsql_query(struct sb_conn *conn, const char *sql, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    struct pgsql_conn *c = pgsql_own(conn);
    const char *text = pgsql_terminated(c, sql, len, err);
    int rc;

    if (!text)
        return err ? err->code : SB_EQUERY;
    rc = pgsql_run(c, text, err);
    if (rc == 0 && pgsql_rolled_back(c))
        rc = pgsql_check_rollback(sql, len, err);
    if (rc == 0)
        pgsql_describe(c, res);
    return rc;
}

size_t pgsql_quote(
    struct sb_conn *conn, const char *text, size_t len, char *out, size_t size)
{
    return pgsql_put_literal(
        text, len, escapes_backslash(pgsql_own(conn)), out, size);
}

// Preparing on the server ----------------------------------------------------
//
// The server infers the types of parameters, so that an integer fits a column
// of any number type and a text a column of any type. Where it has nothing to
// infer from, it assumes text or the type of the other operand, or fails: there
// the types that the script declares are sent.

static bool text_only(const struct pgsql_conn *c)
{
    return atomic_load_explicit(&c->env->text_only, memory_order_relaxed);
}

bool pgsql_stmt_lost(struct pgsql_conn *c, const struct sb_err *err)
{
    if (c->plan_changed) {
        c->plans++;
        return true;
    }
    if (strcmp(err->state, PGSQL_NO_STATEMENT) != 0 &&
        strcmp(err->state, PGSQL_DUP_STATEMENT) != 0)
        return false;
    if (!atomic_exchange_explicit(
            &c->env->text_only, true, memory_order_relaxed))
        c->host->log(3,
            "pgsql: prepared statements were lost, probably because of a "
            "connection pooler (PgBouncer: set max_prepared_statements, or "
            "give --db-ps-mode=disable); plain SQL is sent from now on");
    return true;
}

// Names --------------------------------------------------------------------

static void close_later(struct pgsql_conn *c, const struct pgsql_stmt *st)
{
    bool later = st->name[0] && !text_only(c) && c->nclosed < CLOSE_MOST;
    char *p = later ? sb_buf_room(&c->closed, 64) : NULL;

    if (!p)
        return;
    c->closed.len += (size_t)snprintf(p, 64, "DEALLOCATE %s;", st->name);
    c->nclosed++;
}

// Deallocates closed statements together, before others are prepared. (If the
// connection is closed, this is not necessary.) Does nothing in a transaction,
// which an error would abort, unless the list is full.
static void free_names(struct pgsql_conn *c)
{
    PGTransactionStatusType now = pgsql_transaction(c);
    bool full = c->nclosed == CLOSE_MOST && now == PQTRANS_INTRANS;

    if (c->nclosed < CLOSE_TOGETHER || text_only(c) ||
        (now != PQTRANS_IDLE && !full))
        return;
    pgsql_run(c, c->closed.data, NULL);
    pgsql_clear(c);
    c->closed.len = 0;
    c->nclosed = 0;
}

// With a pooler, another client may use the same name on the same server
// connection. A hash of the text and the types is part of the name, so that the
// same name means the same statement.
static void name_stmt(struct pgsql_conn *c, struct pgsql_stmt *st)
{
    uint64_t hash = sb_hash_more(
        sb_hash_text(st->sql), st->types, st->ntypes * sizeof(*st->types));

    st->name_len = (uint32_t)snprintf(st->name, sizeof(st->name),
        "s%llx_%016llx", (unsigned long long)c->prepared++,
        (unsigned long long)hash);
}

// Types --------------------------------------------------------------------

// Which parameters are declared, and as which types.
enum level {
    WIDE,    // numbers; integers as NUMERIC, which holds all of their values
    NUMBERS, // numbers
    ALL,
    LEVELS
};

static Oid type_at(uint8_t type, enum level level)
{
    static const Oid declared[] = {
        [SB_SQL_TYPE_TINYINT] = OID_INT2,
        [SB_SQL_TYPE_SMALLINT] = OID_INT2,
        [SB_SQL_TYPE_INT] = OID_INT4,
        [SB_SQL_TYPE_BIGINT] = OID_INT8,
        [SB_SQL_TYPE_FLOAT] = OID_FLOAT8,
        [SB_SQL_TYPE_DOUBLE] = OID_FLOAT8,
        [SB_SQL_TYPE_TIME] = OID_TIME,
        [SB_SQL_TYPE_DATE] = OID_DATE,
        [SB_SQL_TYPE_DATETIME] = OID_TIMESTAMP,
        [SB_SQL_TYPE_TIMESTAMP] = OID_TIMESTAMP,
        [SB_SQL_TYPE_CHAR] = OID_TEXT,
        [SB_SQL_TYPE_VARCHAR] = OID_TEXT,
        [SB_SQL_TYPE_BLOB] = OID_BYTEA,
    };

    if (level != ALL && type > SB_SQL_TYPE_DOUBLE)
        return 0;
    return level == WIDE && type <= SB_SQL_TYPE_BIGINT ? OID_NUMERIC
                                                       : declared[type];
}

// Returns the type to declare instead of the one that the server has inferred;
// 0: none.
static Oid better_type(uint8_t type, Oid inferred, enum level level)
{
    switch (inferred) {
    case OID_UNKNOWN:
    case OID_TEXT:
        return type_at(type, level);
    case OID_INT2:
    case OID_INT4:
    case OID_INT8:
        if (type == SB_SQL_TYPE_FLOAT || type == SB_SQL_TYPE_DOUBLE)
            return OID_FLOAT8;
        break;
    case OID_BOOL:
    case OID_DATE:
    case OID_FLOAT4:
    case OID_FLOAT8:
    case OID_INTERVAL:
    case OID_MONEY:
    case OID_NUMERIC:
    case OID_OID:
    case OID_TIME:
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
    case OID_TIMETZ:
        break;
    default:
        return 0;
    }
    // A blob is sent in binary format: without a declared type, the server
    // would read its bytes as those of a number or a time. UUID is not listed:
    // its 16 bytes in binary format are the value that a script means.
    return type == SB_SQL_TYPE_BLOB ? OID_BYTEA : 0;
}

// Sets the types to declare, and *blob if a blob is one of them. inferred: the
// description of the statement; NULL: the server could not infer the types.
// Returns false if there are none.
static bool pg_set_types(struct pgsql_stmt *st, const PGresult *inferred,
    enum level level, bool *blob)
{
    bool any = false;

    *blob = false;
    for (uint32_t i = 0; i < st->ntypes; i++) {
        uint8_t type = st->bound[i];

        st->types[i] = inferred ? better_type(type,
                                      PQparamtype(inferred, (int)i), level)
                                : type_at(type, level);
        any = any || st->types[i];
        *blob = *blob || (st->types[i] && type == SB_SQL_TYPE_BLOB);
    }
    return any;
}

static int keep_types(
    struct pgsql_stmt *st, const uint8_t *bound, uint32_t n, struct sb_err *err)
{
    if (n == 0)
        return 0;
    st->types = calloc(n, sizeof(*st->types) + 1);
    if (!st->types)
        return sb_err_no_memory(err);
    st->bound = memcpy(st->types + n, bound, n);
    st->ntypes = n;
    return 0;
}

// Texts and times are sent as text, which fits whatever type is inferred.
static bool needs_description(const struct pgsql_stmt *st)
{
    for (uint32_t i = 0; i < st->ntypes; i++) {
        if (st->bound[i] <= SB_SQL_TYPE_DOUBLE ||
            st->bound[i] == SB_SQL_TYPE_BLOB)
            return true;
    }
    return false;
}

// Preparing ----------------------------------------------------------------

static int send_prepare(
    struct pgsql_conn *c, const struct pgsql_stmt *st, struct sb_err *err)
{
    if (PQsendPrepare(c->db, st->name, st->sql, (int)st->ntypes, st->types))
        return 0;
    return pgsql_fail(c, NULL, err);
}

static int send_describe(
    struct pgsql_conn *c, const struct pgsql_stmt *st, struct sb_err *err)
{
    if (PQsendDescribePrepared(c->db, st->name))
        return 0;
    return pgsql_fail(c, NULL, err);
}

#ifdef LIBPQ_HAS_PIPELINING

// In one round trip.
static int prepare_and_describe(
    struct pgsql_conn *c, const struct pgsql_stmt *st, struct sb_err *err)
{
    int rc, ended;

    if (!PQenterPipelineMode(c->db))
        return pgsql_fail(c, NULL, err);
    rc = send_prepare(c, st, err);
    if (rc == 0)
        rc = send_describe(c, st, err);
    if (!PQpipelineSync(c->db) && rc == 0)
        rc = pgsql_fail(c, NULL, err);
    for (int i = 0; i < 2 && rc == 0; i++)
        rc = pgsql_collect(c, err);
    c->failed = rc != 0;
    ended = pgsql_drain(c, rc ? NULL : err);
    if (!PQexitPipelineMode(c->db) && rc == 0 && ended == 0)
        ended = pgsql_fail(c, NULL, err);
    return rc ? rc : ended;
}

#else

static int prepare_and_describe(
    struct pgsql_conn *c, const struct pgsql_stmt *st, struct sb_err *err)
{
    int rc = send_prepare(c, st, err);

    if (rc == 0)
        rc = pgsql_collect(c, err);
    if (rc == 0)
        rc = send_describe(c, st, err);
    return rc ? rc : pgsql_collect(c, err);
}

#endif

// Prepares the statement with st->types. c->result: its description.
static int prepare_once(
    struct pgsql_conn *c, struct pgsql_stmt *st, struct sb_err *err)
{
    int rc;

    name_stmt(c, st);
    pgsql_clear(c);
    pgsql_call_begin(c);
    if (needs_description(st)) {
        rc = prepare_and_describe(c, st, err);
    } else {
        rc = send_prepare(c, st, err);
        if (rc == 0)
            rc = pgsql_collect(c, err);
    }
    pgsql_call_end(c);
    if (rc == 0)
        return 0;
    pgsql_clear(c);
    st->name[0] = '\0';
    st->name_len = 0;
    return rc;
}

// Whether a statement of the driver may fail without aborting a transaction.
static bool may_fail(struct pgsql_conn *c)
{
    return pgsql_transaction(c) != PQTRANS_INTRANS ||
           !atomic_load_explicit(&c->env->no_savepoint, memory_order_relaxed);
}

// As prepare_once(), but a failure does not abort a transaction.
static int try_types(struct pgsql_conn *c, struct pgsql_stmt *st,
    const PGresult *inferred, struct sb_err *err)
{
    bool inside = pgsql_transaction(c) == PQTRANS_INTRANS;
    int rc = inside ? pgsql_run(c, "SAVEPOINT " SAVEPOINT, err) : 0;

    if (rc == SB_EQUERY) { // as Redshift: the transaction is aborted
        atomic_store_explicit(
            &c->env->no_savepoint, true, memory_order_relaxed);
        return SB_ERESTART;
    }
    if (rc)
        return rc;
    rc = prepare_once(c, st, err);
    // The declared types must not change the types that the server infers for
    // texts.
    for (uint32_t i = 0; rc == 0 && inferred && i < st->ntypes; i++) {
        if (!st->types[i] &&
            PQparamtype(c->result, (int)i) != PQparamtype(inferred, (int)i)) {
            close_later(c, st);
            rc = SB_EQUERY;
        }
    }
    if (inside && (rc == 0 || rc == SB_EQUERY)) {
        int ended = pgsql_run(c,
            rc ? "ROLLBACK TO " SAVEPOINT ";RELEASE " SAVEPOINT
               : "RELEASE " SAVEPOINT,
            NULL);
        rc = ended ? ended : rc;
    }
    return rc;
}

// The statement is prepared with inferred types: prepares it once more where
// the declared types are better, if the server accepts them.
static int improve(
    struct pgsql_conn *c, struct pgsql_stmt *st, struct sb_err *err)
{
    const struct pgsql_stmt was = *st;
    PGresult *inferred = c->result;
    struct sb_err why = { 0 };
    bool blob = false;
    int rc = SB_EQUERY;

    if (!needs_description(st) || !may_fail(c) ||
        !pg_set_types(st, inferred, WIDE, &blob))
        return 0;
    c->result = NULL;
    for (int level = WIDE; level < ALL && rc == SB_EQUERY; level++) {
        pg_set_types(st, inferred, (enum level)level, &blob);
        rc = try_types(c, st, inferred, &why);
    }
    PQclear(inferred);
    if (rc == SB_EQUERY && !why.code)
        sb_err_set(&why, SB_EQUERY,
            "the server infers other types for texts if a blob is declared");
    if (rc == SB_EQUERY && !blob) {
        memset(st->types, 0, st->ntypes * sizeof(*st->types));
        memcpy(st->name, was.name, sizeof(was.name));
        st->name_len = was.name_len;
        return 0;
    }
    close_later(c, &was);
    if (rc && err)
        *err = why;
    return rc;
}

// As improve(), where the server could not infer the types.
static int pg_declare(
    struct pgsql_conn *c, struct pgsql_stmt *st, struct sb_err *err)
{
    int rc = SB_EQUERY;
    bool blob;

    if (!may_fail(c)) {
        pg_set_types(st, NULL, ALL, &blob);
        return prepare_once(c, st, err);
    }
    for (int level = NUMBERS; level <= ALL && rc == SB_EQUERY; level++) {
        if (pg_set_types(st, NULL, (enum level)level, &blob))
            rc = try_types(c, st, NULL, err);
    }
    if (rc == 0 && err)
        sb_err_clear(err);
    return rc;
}

// Returns true if this is the hash of a statement whose types are to be
// declared. add: from now on.
static bool pg_declares(struct pgsql_conn *c, uint64_t hash, bool add)
{
    _Atomic uint64_t *all = c->env->declare;

    for (size_t i = 0; i < PGSQL_DECLARE; i++) {
        uint64_t is = atomic_load_explicit(&all[i], memory_order_relaxed);

        if (is == 0 && add &&
            atomic_compare_exchange_strong(&all[i], &is, hash))
            return true;
        if (is == 0 || is == hash)
            return is == hash;
    }
    return false;
}

static int infer(struct pgsql_conn *c, struct pgsql_stmt *st, uint64_t hash,
    struct sb_err *err)
{
    bool added;
    int rc;

    if (st->ntypes > 0)
        memset(st->types, 0, st->ntypes * sizeof(*st->types));
    rc = prepare_once(c, st, err);
    if (rc == 0)
        return improve(c, st, err);
    if (rc != SB_EQUERY || st->ntypes == 0 || !pgsql_types_missing(err->state))
        return rc;
    added = pg_declares(c, hash, true);
    if (pgsql_transaction(c) != PQTRANS_INERROR)
        return pg_declare(c, st, err);
    // The types are declared when the event is restarted.
    return added ? SB_ERESTART : rc;
}

static int prepare_stmt(
    struct pgsql_conn *c, struct pgsql_stmt *st, struct sb_err *err)
{
    uint64_t hash = sb_hash_text(st->sql);
    int rc;

    free_names(c);
    st->plans = c->plans;
    rc = st->ntypes > 0 && pg_declares(c, hash, false)
             ? pg_declare(c, st, err)
             : infer(c, st, hash, err);
    pgsql_clear(c);
    if (rc != SB_EQUERY || !pgsql_stmt_lost(c, err))
        return rc;
    return pgsql_transaction(c) == PQTRANS_INERROR ? SB_ERESTART : 0;
}

// Prepared statements --------------------------------------------------------

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
        return sb_err_no_memory(err);
    if (memchr(sql, '\0', len) || pgsql_several(sql, len, scan, room)) {
        free(room);
        return sb_err_set(err, SB_EUNSUPPORTED,
            "the text must contain exactly one statement");
    }
    *nparams = pgsql_number_marks(sql, len, scan, room);
    fit = realloc(room, strlen(room) + 1);
    st->sql = fit ? fit : room;
    return reserve_params(c, *nparams) ? 0 : sb_err_no_memory(err);
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
        rc = keep_types(st, types, bound, &why);
    if (rc == 0 && !text_only(c))
        rc = prepare_stmt(c, st, &why);
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
    close_later(c, st);
    drop_stmt(st);
}

int pgsql_renew(struct pgsql_conn *c, struct pgsql_stmt *st, struct sb_err *err)
{
    assert(!c->wire_stmt);
    if (st->plans == c->plans || text_only(c))
        return 0;
    close_later(c, st);
    free(st->columns);
    st->columns = NULL;
    st->shape = PGSQL_UNKNOWN;
    return prepare_stmt(c, st, err);
}

// Executing -------------------------------------------------------------------

static size_t pg_room_for(const struct sb_value *v, uint32_t n)
{
    size_t size = 0;

    for (uint32_t i = 0; i < n; i++)
        size += v[i].type < SB_VALUE_TEXT ? SB_NUMBER_ROOM
                                          : (size_t)v[i].len + 1;
    return size;
}

// In text format, a value ends at a zero byte. A value with one is sent in
// binary format, so that the server reports the error.
static char *pg_put_text(
    struct pgsql_conn *c, uint32_t i, const struct sb_value *v, char *out)
{
    memcpy(out, v->s, v->len);
    out[v->len] = '\0';
    c->format[i] = memchr(out, '\0', v->len) != NULL;
    return out + v->len + 1;
}

// Sets value i, with its text at `out`. Returns the position after it.
static char *pg_put_value(
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
        return pg_put_text(c, i, v, out);
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
    char *out = sb_buf_room(&c->bound, pg_room_for(v, n));

    if (!out || !reserve_params(c, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        out = pg_put_value(c, i, &v[i], out);
    return true;
}

int pgsql_send_stmt(struct pgsql_conn *c, const struct pgsql_stmt *st,
    const struct sb_value *values, uint32_t n, struct sb_err *err)
{
    int sent;

    if (!bind_values(c, values, n))
        return sb_err_no_memory(err);
    if (st->name[0] && !text_only(c))
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
    if (st->name_len && !text_only(c) && pgsql_wire_ready(c, st, values, n))
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
