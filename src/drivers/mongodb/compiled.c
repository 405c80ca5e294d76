// SPDX-License-Identifier: GPL-2.0-or-later
//
// Compiled commands: the bytes of the document are divided into pieces once. An
// execution copies each piece and performs the step that follows it.
#include <math.h>
#include <stdlib.h>

#include "drivers/mongodb/documents.h"
#include "kit/array.h"

#define ARGS_MAX 65535u
#define KEEP_MAX (1u << 20) // of the buffer kept between executions
#define ROOM_MIN 256u       // of it: values of later executions may be longer

// Values ---------------------------------------------------------------------

// The type that a placeholder requires.
enum want {
    WANT_ANY,
    WANT_INT32,
    WANT_INT64,
    WANT_DOUBLE,
    WANT_TEXT,
    WANT_BOOL,
    WANT_DATE,
};

#define EXACT  9007199254740992.0    // 2^53: all integers below are exact
#define INT_63 9223372036854775808.0 // 2^63

static const struct {
    const char *name, *says;
    uint8_t type;
} wants[] = {
    [WANT_ANY] = { "any", "a value", 0 },
    [WANT_INT32] = { "int32", "an int32", SB_BSON_INT32 },
    [WANT_INT64] = { "int64", "an int64", SB_BSON_INT64 },
    [WANT_DOUBLE] = { "double", "a double", SB_BSON_DOUBLE },
    [WANT_TEXT] = { "string", "a string", SB_BSON_TEXT },
    [WANT_BOOL] = { "bool", "a bool", SB_BSON_BOOL },
    [WANT_DATE] = { "date", "a date (an integral number of ms)", SB_BSON_DATE },
};
#define WANTS ((int)(sizeof(wants) / sizeof(wants[0])))

static int want_named(const char *name, size_t len)
{
    for (int i = 0; i < WANTS; i++) {
        if (strlen(wants[i].name) == len &&
            memcmp(wants[i].name, name, len) == 0)
            return i;
    }
    return -1;
}

// Writes a description such as "the string 'abc'".
static void mo_op_describe(
    const struct sbmo_doc_value *v, char *out, size_t size)
{
    int shown = v->len < 40 ? (int)v->len : 40;

    switch (v->type) {
    case SBMO_DOC_INT:
        snprintf(out, size, "%lld", (long long)v->i);
        break;
    case SBMO_DOC_DOUBLE:
        snprintf(out, size, "%.17g", v->d);
        break;
    case SBMO_DOC_TEXT:
        // Do not cut a UTF-8 character.
        while (shown > 0 && (uint32_t)shown < v->len &&
               ((unsigned char)v->s[shown] & 0xc0) == 0x80)
            shown--;
        snprintf(out, size, "the string '%.*s%s'", shown, v->s,
            (uint32_t)shown < v->len ? "..." : "");
        break;
    case SBMO_DOC_BOOL:
        snprintf(out, size, "%s", v->i ? "true" : "false");
        break;
    case SBMO_DOC_ELEMENT:
        snprintf(out, size, "BSON of type %u", (unsigned char)v->s[0]);
        break;
    default:
        snprintf(out, size, "of the unknown type %d", (int)v->type);
    }
}

static uint8_t *refuse_value(
    const struct sbmo_doc_value *v, enum want want, struct sb_err *err)
{
    char what[80];

    mo_op_describe(v, what, sizeof(what));
    sb_err_set(
        err, SB_EUSAGE, "is %s, but %s is required", what, wants[want].says);
    return NULL;
}

static uint8_t *put_int32(uint8_t *type, uint8_t *out, int32_t i)
{
    *type = SB_BSON_INT32;
    sb_put32(out, (uint32_t)i);
    return out + 4;
}

static uint8_t *put_8(
    uint8_t *type, uint8_t *out, enum sb_bson_type is, uint64_t bits)
{
    *type = (uint8_t)is;
    sb_put64(out, bits);
    return out + 8;
}

static uint8_t *put_double(uint8_t *type, uint8_t *out, double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof(bits));
    return put_8(type, out, SB_BSON_DOUBLE, bits);
}

static uint8_t *mo_op_put_text(
    uint8_t *type, uint8_t *out, const char *s, size_t len)
{
    *type = SB_BSON_TEXT;
    sb_put32(out, (uint32_t)len + 1);
    if (len)
        memcpy(out + 4, s, len);
    out[4 + len] = '\0';
    return out + 5 + len;
}

static uint8_t *put_bool(uint8_t *type, uint8_t *out, bool b)
{
    *type = SB_BSON_BOOL;
    *out = b;
    return out + 1;
}

// Writes the smallest type that has this value; -0 is not an integer.
static uint8_t *mo_op_put_number(uint8_t *type, uint8_t *out, double d)
{
    if (d >= INT32_MIN && d <= INT32_MAX && d == (int32_t)d &&
        !(d == 0 && signbit(d)))
        return put_int32(type, out, (int32_t)d);
    if (d > -EXACT && d < EXACT && d == (double)(int64_t)d && d != 0)
        return put_8(type, out, SB_BSON_INT64, (uint64_t)(int64_t)d);
    return put_double(type, out, d);
}

// Stores the value if it is an integer in the range of int64_t; returns false
// otherwise.
static bool integer(const struct sbmo_doc_value *v, int64_t *i)
{
    if (v->type == SBMO_DOC_INT) {
        *i = v->i;
        return true;
    }
    if (v->type != SBMO_DOC_DOUBLE || !(v->d >= -INT_63 && v->d < INT_63) ||
        v->d != floor(v->d))
        return false;
    *i = (int64_t)v->d;
    return true;
}

static uint8_t *mo_op_put_any(const struct sbmo_doc_value *v, uint8_t *type,
    uint8_t *out, struct sb_err *err)
{
    switch (v->type) {
    case SBMO_DOC_INT:
        return put_8(type, out, SB_BSON_INT64, (uint64_t)v->i);
    case SBMO_DOC_DOUBLE:
        return mo_op_put_number(type, out, v->d);
    case SBMO_DOC_TEXT:
        return mo_op_put_text(type, out, v->s, v->len);
    case SBMO_DOC_BOOL:
        return put_bool(type, out, v->i != 0);
    default:
        return refuse_value(v, WANT_ANY, err);
    }
}

static uint8_t *value_put(const struct sbmo_doc_value *v, enum want want,
    uint8_t *type, uint8_t *out, struct sb_err *err);

// Writes a value given as BSON: unchanged if it has the required type,
// otherwise converted.
static uint8_t *put_element(const struct sbmo_doc_value *v, enum want want,
    uint8_t *type, uint8_t *out, struct sb_err *err)
{
    const uint8_t *p = (const uint8_t *)v->s;
    struct sbmo_doc_value plain = { .type = SBMO_DOC_INT };
    size_t len = v->len ? v->len - 1 : 0;

    if (!v->len || sb_bson_size(p[0], p + 1, len) != len) {
        sb_err_set(err, SB_EUSAGE, "is malformed BSON");
        return NULL;
    }
    if (want == WANT_ANY || p[0] == wants[want].type || p[0] == SB_BSON_NULL) {
        *type = p[0];
        if (len)
            memcpy(out, p + 1, len);
        return out + len;
    }
    if (p[0] == SB_BSON_INT32) {
        plain.i = (int32_t)sb_get32(p + 1);
    } else if (p[0] == SB_BSON_INT64) {
        plain.i = (int64_t)sb_get64(p + 1);
    } else if (p[0] == SB_BSON_DOUBLE) {
        uint64_t bits = sb_get64(p + 1);

        plain.type = SBMO_DOC_DOUBLE;
        memcpy(&plain.d, &bits, sizeof(bits));
    } else {
        return refuse_value(v, want, err);
    }
    assert(want != WANT_ANY && plain.type != SBMO_DOC_ELEMENT);
    return value_put(&plain, want, type, out, err);
}

static uint8_t *put_typed(const struct sbmo_doc_value *v, enum want want,
    uint8_t *type, uint8_t *out, struct sb_err *err)
{
    int64_t i;

    switch (want) {
    case WANT_INT32:
        if (integer(v, &i) && i >= INT32_MIN && i <= INT32_MAX)
            return put_int32(type, out, (int32_t)i);
        break;
    case WANT_INT64:
        if (integer(v, &i))
            return put_8(type, out, SB_BSON_INT64, (uint64_t)i);
        break;
    case WANT_DATE:
        if (integer(v, &i))
            return put_8(type, out, SB_BSON_DATE, (uint64_t)i);
        break;
    case WANT_DOUBLE:
        if (v->type == SBMO_DOC_DOUBLE || v->type == SBMO_DOC_INT)
            return put_double(
                type, out, v->type == SBMO_DOC_INT ? (double)v->i : v->d);
        break;
    case WANT_TEXT:
        if (v->type == SBMO_DOC_TEXT)
            return mo_op_put_text(type, out, v->s, v->len);
        break;
    case WANT_BOOL:
        if (v->type == SBMO_DOC_BOOL)
            return put_bool(type, out, v->i != 0);
        break;
    case WANT_ANY:
    default:
        return mo_op_put_any(v, type, out, err);
    }
    return refuse_value(v, want, err);
}

// Writes the value to out and its type to *type; returns the end of the value.
// NULL: the value does not have the required type; *err gives the reason
// without the number of the placeholder, and what was written is invalid.
static uint8_t *value_put(const struct sbmo_doc_value *v, enum want want,
    uint8_t *type, uint8_t *out, struct sb_err *err)
{
    assert(type < out); // the key is between them
    if (v->type == SBMO_DOC_ELEMENT)
        return put_element(v, want, type, out, err);
    if (v->type == SBMO_DOC_NULL) {
        *type = SB_BSON_NULL;
        return out;
    }
    return put_typed(v, want, type, out, err);
}

// Maximum number of bytes of a value.
static size_t mo_op_value_room(const struct sbmo_doc_value *v)
{
    return v->type == SBMO_DOC_TEXT || v->type == SBMO_DOC_ELEMENT
               ? (size_t)v->len + 5
               : 8;
}

// Compiled documents ---------------------------------------------------------

enum then {
    THEN_END,   // nothing
    THEN_OPEN,  // a document begins with the last four bytes copied
    THEN_CLOSE, // the last document opened is complete: write its length
    THEN_VALUE, // write a value, and its type `back` bytes before it
};

// Bytes at..at+len to be copied, and the step after that.
struct piece {
    uint32_t at, len, back;
    uint16_t arg;
    uint8_t then, want;
};

struct sbmo_doc_op {
    char *name; // of the operation; NULL: that of the command
    uint8_t *raw;
    uint32_t len;
    uint32_t nargs, nvalues; // nvalues > nargs if arguments are used twice
    uint16_t *uses;          // number of uses of each argument
    struct piece *piece;
    uint32_t npieces;
    size_t cap;
};

// Compiling ------------------------------------------------------------------

struct compiler {
    struct sbmo_doc_op *op;
    struct sb_con *con;
    uint32_t from; // where the bytes begin that are not in a piece yet
};

static int add_piece(
    struct compiler *x, enum then then, const uint8_t *up_to, uint32_t skip)
{
    struct sbmo_doc_op *op = x->op;
    uint32_t at = (uint32_t)(up_to - op->raw);
    struct piece *grown = sb_array_room(
        op->piece, &op->cap, op->npieces, 1, sizeof(*grown));

    assert(at >= x->from && at <= op->len);
    if (!grown)
        return sbmo_doc_no_memory(x->con);
    op->piece = grown;
    op->piece[op->npieces++] = (struct piece){
        .at = x->from, .len = at - x->from, .then = (uint8_t)then
    };
    x->from = at + skip;
    return 0;
}

// True if e is a document whose first key is "$arg". *number: that element.
// *w: the elements after it.
static bool is_placeholder(
    const struct sb_elem *e, struct sb_walk *w, struct sb_elem *number)
{
    if (e->type != SB_BSON_DOCUMENT)
        return false;
    sb_walk_begin(w, e->value, e->len);
    return sb_walk_next(w, number) == 1 && strcmp(number->key, "$arg") == 0;
}

// Reads the options of a placeholder, after its number. Returns an enum
// sbmo_want or SB_EUSAGE.
static int want_of(struct compiler *x, struct sb_walk *w, unsigned number)
{
    struct sb_elem e;
    int want = WANT_ANY, more;

    while ((more = sb_walk_next(w, &e)) == 1) {
        if (strcmp(e.key, "type") != 0)
            return sbmo_doc_usage(x->con,
                "placeholder %u has a key '%.40s'; only \"type\" is supported",
                number, e.key);
        if (e.type == SB_BSON_TEXT)
            want = want_named((const char *)e.value + 4, e.len - 5);
        if (e.type != SB_BSON_TEXT || want < 0)
            return sbmo_doc_usage(x->con,
                "the type of placeholder %u is not one of int32, int64, "
                "double, string, bool, date, any",
                number);
    }
    return more < 0 ? sbmo_doc_usage(
                          x->con, "placeholder %u is malformed BSON", number)
                    : want;
}

static int add_placeholder(struct compiler *x, const struct sb_elem *e,
    struct sb_walk *w, const struct sb_elem *number)
{
    struct sbmo_doc_op *op = x->op;
    double n = sb_elem_number(number);
    struct piece *p;
    int want, rc;

    if (!(n >= 1 && n <= ARGS_MAX) || n != (uint32_t)n ||
        number->type == SB_BSON_BOOL)
        return sbmo_doc_usage(x->con,
            "a placeholder {\"$arg\": n} requires a number n from 1 to %u",
            ARGS_MAX);
    want = want_of(x, w, (unsigned)n);
    if (want < 0)
        return want;
    rc = add_piece(x, THEN_VALUE, e->value, (uint32_t)e->len);
    if (rc)
        return rc;
    p = &op->piece[op->npieces - 1];
    p->arg = (uint16_t)(n - 1);
    p->want = (uint8_t)want;
    p->back = (uint32_t)e->key_len + 2;
    op->nvalues++;
    if (n > op->nargs)
        op->nargs = (uint32_t)n;
    return 0;
}

static int mo_op_malformed(struct compiler *x, const uint8_t *at)
{
    return sbmo_doc_usage(x->con, "the document is malformed BSON at byte %zu",
        (size_t)(at - x->op->raw));
}

static int compile(
    struct compiler *x, const uint8_t *doc, size_t len, unsigned depth)
{
    struct sbmo_doc_op *op = x->op;
    uint32_t from = x->from, n = op->npieces;
    struct sb_walk w, inner;
    struct sb_elem e, number;
    int rc, more;

    if (depth > SB_BSON_DEPTH)
        return sbmo_doc_usage(x->con,
            "documents are nested more than %u levels deep", SB_BSON_DEPTH);
    rc = add_piece(x, THEN_OPEN, doc + 4, 0);
    sb_walk_begin(&w, doc, len);
    while (rc == 0 && (more = sb_walk_next(&w, &e)) != 0) {
        if (more < 0)
            return mo_op_malformed(x, w.at);
        if (is_placeholder(&e, &inner, &number))
            rc = add_placeholder(x, &e, &inner, &number);
        else if (e.type == SB_BSON_DOCUMENT || e.type == SB_BSON_ARRAY)
            rc = compile(x, e.value, e.len, depth + 1);
    }
    if (rc)
        return rc;
    if (op->npieces > n + 1)
        return add_piece(x, THEN_CLOSE, doc + len, 0);
    op->npieces = n; // without placeholders: copied with the bytes around it
    x->from = from;
    return 0;
}

static int count_uses(struct compiler *x)
{
    struct sbmo_doc_op *op = x->op;

    op->uses = calloc(op->nargs ? op->nargs : 1, sizeof(*op->uses));
    if (!op->uses)
        return sbmo_doc_no_memory(x->con);
    for (uint32_t i = 0; i < op->npieces; i++) {
        const struct piece *p = &op->piece[i];

        if (p->then != THEN_VALUE)
            continue;
        if (op->uses[p->arg] == UINT16_MAX)
            return sbmo_doc_usage(x->con,
                "placeholder %u is used more than %u times in the document",
                p->arg + 1u, (unsigned)UINT16_MAX);
        op->uses[p->arg]++;
    }
    return 0;
}

static int mo_op_build(struct compiler *x, const uint8_t *body, size_t len)
{
    struct sbmo_doc_op *op = x->op;
    struct sb_walk w;
    struct sb_elem first;
    int rc;

    op->raw = malloc(len);
    if (!op->raw)
        return sbmo_doc_no_memory(x->con);
    memcpy(op->raw, body, len);
    op->len = (uint32_t)len;
    sb_walk_begin(&w, op->raw, len);
    if (sb_walk_next(&w, &first) == 1 && strcmp(first.key, "$arg") == 0)
        return sbmo_doc_usage(x->con,
            "a placeholder can replace a value, but not the whole document");
    rc = compile(x, op->raw, len, 1);
    return rc ? rc : count_uses(x);
}

static void op_done(void *object)
{
    struct sbmo_doc_op *op = object;

    free(op->name);
    free(op->raw);
    free(op->uses);
    free(op->piece);
}

struct sbmo_doc_op *sbmo_doc_compile(
    struct sb_con *con, const uint8_t *body, size_t len, const char *name)
{
    struct compiler x = { .con = con };

    if (sbmo_doc_ready(con))
        return NULL;
    if (!body || !sb_bson_framed(body, len)) {
        sbmo_doc_usage(con, "the %zu bytes given are not a BSON document", len);
        return NULL;
    }
    x.op = con->host->object_new(con, sizeof(*x.op), op_done);
    if (!x.op) {
        sbmo_doc_no_memory(con);
        return NULL;
    }
    if (name && !(x.op->name = strdup(name)))
        sbmo_doc_no_memory(con);
    else if (mo_op_build(&x, body, len) == 0)
        return x.op;
    con->host->object_drop(x.op);
    return NULL;
}

uint32_t sbmo_doc_op_nargs(const struct sbmo_doc_op *op)
{
    return op->nargs;
}

// Executing ------------------------------------------------------------------

int sbmo_doc_op_room(const struct sbmo_doc_op *op, struct sb_con *c,
    const struct sbmo_doc_value *values, uint32_t n, size_t *room)
{
    size_t need = op->len;

    if (n != op->nargs)
        return sbmo_doc_usage(c,
            "the compiled document has %u placeholder%s, but %u value%s given",
            op->nargs, op->nargs == 1 ? "" : "s", n,
            n == 1 ? " was" : "s were");
    for (uint32_t i = 0; i < n; i++)
        need += mo_op_value_room(&values[i]) * op->uses[i];
    if (need > INT32_MAX)
        return sbmo_doc_usage(
            c, "a document with these values would have more than 2 GB");
    *room = need;
    return 0;
}

static size_t value_failed(
    struct sb_con *c, unsigned number, const struct sb_err *err)
{
    sbmo_doc_usage(c, "value %u %.400s", number, err->msg);
    return 0;
}

size_t sbmo_doc_op_write(const struct sbmo_doc_op *op, struct sb_con *c,
    const struct sbmo_doc_value *values, uint8_t *out)
{
    uint8_t *open[SB_BSON_DEPTH], *p = out;
    unsigned depth = 0;
    struct sb_err err = { 0 };

    if (op->nvalues == 0) {
        memcpy(out, op->raw, op->len);
        return op->len;
    }
    for (const struct piece *x = op->piece, *end = x + op->npieces; x < end;
         x++) {
        memcpy(p, op->raw + x->at, x->len);
        p += x->len;
        switch (x->then) {
        case THEN_OPEN:
            open[depth++] = p - 4;
            break;
        case THEN_CLOSE:
            depth--;
            sb_put32(open[depth], (uint32_t)(p - open[depth]));
            break;
        case THEN_VALUE:
            p = value_put(
                &values[x->arg], (enum want)x->want, p - x->back, p, &err);
            if (!p)
                return value_failed(c, x->arg + 1u, &err);
            break;
        default:
            break;
        }
    }
    assert(depth == 0);
    return (size_t)(p - out);
}

static int mo_op_run(
    struct sbmo_doc_op *op, struct sb_con *con, const uint8_t *body, size_t len)
{
    const struct sbmo_doc_command command = { body, len, op->name };

    return sbmo_doc_run(con, &command, NULL);
}

static int fill_and_run(struct sbmo_doc_op *op, struct sb_con *con,
    const struct sbmo_doc_value *values, uint32_t n, struct sb_buf *body)
{
    size_t need, len;
    uint8_t *out;
    int rc = sbmo_doc_op_room(op, con, values, n, &need);

    if (rc)
        return rc;
    out = (uint8_t *)sb_buf_room(body, need > ROOM_MIN ? need : ROOM_MIN);
    if (!out)
        return sbmo_doc_no_memory(con);
    len = sbmo_doc_op_write(op, con, values, out);
    assert(len <= need);
    if (!len)
        return SB_EUSAGE;
    return mo_op_run(op, con, out, len);
}

// The connection keeps one buffer for all its compiled commands. It does not
// have the buffer during a call, which may begin with a reconnect
// (--db-refresh-events): that frees what the connection has.
static int send_filled(struct sbmo_doc_op *op, struct sb_con *con,
    const struct sbmo_doc_value *values, uint32_t n)
{
    struct sbmo_conn *conn = sbmo_doc_conn(con);
    struct sb_buf body = { 0 };

    if (conn) {
        body = conn->compiled;
        conn->compiled = (struct sb_buf){ 0 };
    }
    int rc = fill_and_run(op, con, values, n, &body);

    sb_buf_trim(&body, KEEP_MAX);
    conn = sbmo_doc_conn(con);
    if (conn && !conn->compiled.data)
        conn->compiled = body;
    else
        sb_buf_done(&body);
    return rc;
}

int sbmo_doc_execute(struct sb_con *con, void *arg)
{
    const struct sbmo_doc_execution *x = arg;
    struct sbmo_doc_op *op = x->op;

    if (con->host->object_con(op) != con) { // it was freed
        con->host->log(
            SBMO_LOG_ALERT, "attempt to use an already closed connection");
        return SB_EUSAGE;
    }
    if (op->len == SB_BSON_EMPTY || op->raw[5] == '\0')
        return sbmo_doc_check(con, op->raw, op->len);
    if (op->nargs == 0 && x->n == 0)
        return mo_op_run(op, con, op->raw, op->len);
    return send_filled(op, con, x->values, x->n);
}
