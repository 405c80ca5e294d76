// SPDX-License-Identifier: GPL-2.0-or-later
//
// Compiled commands: the bytes of the document are divided into pieces once. An
// execution copies each piece and performs the step that follows it.
#include <stdlib.h>

#include "db/doc/doc.h"
#include "kit/array.h"

#define ARGS_MAX 65535u
#define KEEP_MAX (1u << 20) // of the buffer kept between executions
#define ROOM_MIN 256u       // of it: values of later executions may be longer

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

struct sb_doc_op {
    struct sb__child child; // first
    struct sb__handle handle;
    struct sb_doc_name *name; // NULL: the name of the command
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
    struct sb_doc_op *op;
    struct sb_con_priv *con;
    uint32_t from; // where the bytes begin that are not in a piece yet
};

static int add_piece(
    struct compiler *x, enum then then, const uint8_t *up_to, uint32_t skip)
{
    struct sb_doc_op *op = x->op;
    uint32_t at = (uint32_t)(up_to - op->raw);
    struct piece *grown = sb_array_room(
        op->piece, &op->cap, op->npieces, 1, sizeof(*grown));

    assert(at >= x->from && at <= op->len);
    if (!grown)
        return sb__error_no_memory(x->con);
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
// sb__want or SB_EUSAGE.
static int want_of(struct compiler *x, struct sb_walk *w, unsigned number)
{
    struct sb_elem e;
    int want = SB__WANT_ANY, more;

    while ((more = sb_walk_next(w, &e)) == 1) {
        if (strcmp(e.key, "type") != 0)
            return sb__error_usage(x->con,
                "placeholder %u has a key '%.40s'; only \"type\" is supported",
                number, e.key);
        if (e.type == SB_BSON_TEXT)
            want = sb__want_named((const char *)e.value + 4, e.len - 5);
        if (e.type != SB_BSON_TEXT || want < 0)
            return sb__error_usage(x->con,
                "the type of placeholder %u is not one of int32, int64, "
                "double, string, bool, date, any",
                number);
    }
    return more < 0 ? sb__error_usage(
                          x->con, "placeholder %u is malformed BSON", number)
                    : want;
}

static int add_placeholder(struct compiler *x, const struct sb_elem *e,
    struct sb_walk *w, const struct sb_elem *number)
{
    struct sb_doc_op *op = x->op;
    double n = sb_elem_number(number);
    struct piece *p;
    int want, rc;

    if (!(n >= 1 && n <= ARGS_MAX) || n != (uint32_t)n ||
        number->type == SB_BSON_BOOL)
        return sb__error_usage(x->con,
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

static int malformed(struct compiler *x, const uint8_t *at)
{
    return sb__error_usage(x->con, "the document is malformed BSON at byte %zu",
        (size_t)(at - x->op->raw));
}

static int compile(
    struct compiler *x, const uint8_t *doc, size_t len, unsigned depth)
{
    struct sb_doc_op *op = x->op;
    uint32_t from = x->from, n = op->npieces;
    struct sb_walk w, inner;
    struct sb_elem e, number;
    int rc, more;

    if (depth > SB_BSON_DEPTH)
        return sb__error_usage(x->con,
            "the document has more than %u levels of documents", SB_BSON_DEPTH);
    rc = add_piece(x, THEN_OPEN, doc + 4, 0);
    sb_walk_begin(&w, doc, len);
    while (rc == 0 && (more = sb_walk_next(&w, &e)) != 0) {
        if (more < 0)
            return malformed(x, w.at);
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
    struct sb_doc_op *op = x->op;

    op->uses = calloc(op->nargs ? op->nargs : 1, sizeof(*op->uses));
    if (!op->uses)
        return sb__error_no_memory(x->con);
    for (uint32_t i = 0; i < op->npieces; i++) {
        const struct piece *p = &op->piece[i];

        if (p->then != THEN_VALUE)
            continue;
        if (op->uses[p->arg] == UINT16_MAX)
            return sb__error_usage(x->con,
                "placeholder %u is used more than %u times in the document",
                p->arg + 1u, (unsigned)UINT16_MAX);
        op->uses[p->arg]++;
    }
    return 0;
}

static int build(struct compiler *x, const uint8_t *body, size_t len)
{
    struct sb_doc_op *op = x->op;
    struct sb_walk w;
    struct sb_elem first;
    int rc;

    op->raw = malloc(len);
    if (!op->raw)
        return sb__error_no_memory(x->con);
    memcpy(op->raw, body, len);
    op->len = (uint32_t)len;
    sb_walk_begin(&w, op->raw, len);
    if (sb_walk_next(&w, &first) == 1 && strcmp(first.key, "$arg") == 0)
        return sb__error_usage(x->con,
            "a placeholder can replace a value, but not the whole document");
    rc = compile(x, op->raw, len, 1);
    return rc ? rc : count_uses(x);
}

static void op_free(struct sb__child *k)
{
    struct sb_doc_op *op = (struct sb_doc_op *)k;

    sb__child_unlink(k);
    free(op->raw);
    free(op->uses);
    free(op->piece);
    free(op);
}

static void free_dropped(struct sb__handle *h)
{
    sb_doc_op_free(
        (struct sb_doc_op *)((char *)h - offsetof(struct sb_doc_op, handle)));
}

struct sb_doc_op *sb_doc_compile(
    struct sb_con *con, const uint8_t *body, size_t len, const char *name)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    static const struct sb__child_ops ops = { .orphan = sb__doc_orphan,
        .free = op_free };
    struct compiler x = { .con = c };

    if (sb__doc_ready(c))
        return NULL;
    if (!body || !sb_bson_framed(body, len)) {
        sb__error_usage(c, "the %zu bytes given are not a BSON document", len);
        return NULL;
    }
    x.op = calloc(1, sizeof(*x.op));
    if (!x.op) {
        sb__error_no_memory(c);
        return NULL;
    }
    x.op->child.ops = &ops;
    sb__child_add(c, &x.op->child);
    if (name && !(x.op->name = sb_doc_name(con, name)))
        sb__error_no_memory(c);
    else if (build(&x, body, len) == 0) {
        sb__handle_give(&x.op->handle, c->ctx, free_dropped);
        return x.op;
    }
    op_free(&x.op->child);
    return NULL;
}

uint32_t sb_doc_op_nargs(const struct sb_doc_op *op)
{
    return op->nargs;
}

void sb_doc_op_free(struct sb_doc_op *op)
{
    if (!op)
        return;
    sb__handle_end(&op->handle);
    op_free(&op->child);
}

void sb_doc_op_drop(struct sb_doc_op *op)
{
    if (op)
        sb__handle_drop(&op->handle);
}

// Executing ------------------------------------------------------------------

int sb__doc_op_room(const struct sb_doc_op *op, struct sb_con_priv *c,
    const struct sb_doc_value *values, uint32_t n, size_t *room)
{
    size_t need = op->len;

    if (SB_UNLIKELY(n != op->nargs))
        return sb__error_usage(c,
            "the compiled document has %u placeholder%s, but %u value%s given",
            op->nargs, op->nargs == 1 ? "" : "s", n,
            n == 1 ? " was" : "s were");
    for (uint32_t i = 0; i < n; i++)
        need += sb__value_room(&values[i]) * op->uses[i];
    if (SB_UNLIKELY(need > INT32_MAX))
        return sb__error_usage(
            c, "a document with these values would have more than 2 GB");
    *room = need;
    return 0;
}

static size_t value_failed(struct sb_con_priv *c, unsigned number)
{
    sb__error_usage(c, "value %u %.400s", number, c->err.msg);
    return 0;
}

size_t sb__doc_op_write(const struct sb_doc_op *op, struct sb_con_priv *c,
    const struct sb_doc_value *values, uint8_t *out)
{
    uint8_t *open[SB_BSON_DEPTH], *p = out;
    unsigned depth = 0;

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
            p = sb__value_put(&values[x->arg], (enum sb__want)x->want,
                p - x->back, p, &c->err);
            if (SB_UNLIKELY(!p))
                return value_failed(c, x->arg + 1u);
            break;
        default:
            break;
        }
    }
    assert(depth == 0);
    return (size_t)(p - out);
}

static int send_filled(struct sb_doc_op *op, struct sb_con_priv *c,
    const struct sb_doc_value *values, uint32_t n)
{
    struct sb_buf *b = &c->doc_body;
    size_t need, len;
    uint8_t *out;
    int rc = sb__doc_op_room(op, c, values, n, &need);

    if (rc)
        return rc;
    out = (uint8_t *)sb_buf_room(b, need > ROOM_MIN ? need : ROOM_MIN);
    if (!out)
        return sb__error_no_memory(c);
    len = sb__doc_op_write(op, c, values, out);
    assert(len <= need);
    if (!len)
        return c->err.code;
    rc = sb__doc_run(c, out, len, op->name);
    sb_buf_trim(b, KEEP_MAX);
    return rc;
}

int sb_doc_execute(
    struct sb_doc_op *op, const struct sb_doc_value *values, uint32_t n)
{
    struct sb_con_priv *c = op->child.con;
    int rc;

    if (!c) {
        sb_log(SB_LOG_ALERT, "attempt to use an already closed connection");
        return SB_EUSAGE;
    }
    rc = sb__doc_begin(c);
    if (rc)
        return rc;
    if (SB_UNLIKELY(op->len == SB_BSON_EMPTY || op->raw[5] == '\0'))
        return sb__doc_check(c, op->raw, op->len);
    if (op->nargs == 0 && n == 0)
        return sb__doc_run(c, op->raw, op->len, op->name);
    return send_filled(op, c, values, n);
}
