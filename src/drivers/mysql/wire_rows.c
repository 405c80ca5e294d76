// SPDX-License-Identifier: GPL-2.0-or-later
//
// Rows and columns of the answer that wire.c received.
#include "drivers/mysql/internal.h"
#include "kit/array.h"

#define CR_MALFORMED 2027

static int malformed(struct sbmy_conn *c, struct sb_err *err)
{
    return sbmy_fail_with(c, CR_MALFORMED, "HY000", "Malformed packet", err);
}

// Reads the definition in the packet at p, which is complete. Returns the
// position after it, or NULL if it is invalid.
static const uint8_t *column_at(const uint8_t *p, struct sbmy_column_def *out)
{
    uint32_t len = sbmy_get24(p);

    if (!sbmy_column_read(p + SBMY_HEAD, len, out))
        return NULL;
    return p + SBMY_HEAD + len;
}

// Returns the definitions of the columns of the answer (columns_known() in
// wire.c). NULL: they are those of the preparation, which the library has.
static const uint8_t *definitions(const struct sbmy_conn *c)
{
    const struct sbmy_wire *w = &c->wire;

    return w->answer.columns ? sbmy_wire_in(w) + w->answer.columns
                             : c->stmt->defs;
}

static bool shapes_of_library(
    struct sbmy_wire *w, struct sbmy_stmt *p, uint32_t n)
{
    const MYSQL_FIELD *f;

    if (p->ndefs != n)
        return false;
    f = sbmy_meta_fields(p);
    for (uint32_t i = 0; f && i < n; i++)
        w->shape[i] = sbmy_meta_shape(&f[i]);
    return f != NULL;
}

static bool shapes_of(struct sbmy_wire *w, const uint8_t *p, uint32_t n)
{
    struct sbmy_column_def def;

    for (uint32_t i = 0; p && i < n; i++) {
        p = column_at(p, &def);
        if (p)
            w->shape[i] = (struct sbmy_shape){
                .type = def.type,
                .decimals = def.decimals,
                .flags = def.flags,
                .length = def.length,
            };
    }
    return p != NULL;
}

static int decode_columns(struct sbmy_conn *c, struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    const uint8_t *defs = definitions(c);
    uint32_t n = w->answer.nfields;
    struct sbmy_shape *shape = sb_array_room(
        w->shape, &w->cap_shapes, 0, n, sizeof(*shape));
    size_t room = 0;
    char *text;

    if (!shape)
        return sbmy_no_memory(err);
    w->shape = shape;
    if (!(defs ? shapes_of(w, defs, n) : shapes_of_library(w, c->stmt, n)))
        return malformed(c, err);
    for (uint32_t i = 0; i < n; i++)
        room += sbmy_binary_room(&w->shape[i]);
    text = sb_array_room(w->text, &w->cap_text, 0, room, 1);
    if (!text)
        return sbmy_no_memory(err);
    w->text = text;
    w->decoded = true;
    return 0;
}

// Returns the next row and stores its length in *len. A row of several packets
// is joined by overwriting the headers in between.
static const uint8_t *whole_row(struct sbmy_wire *w, size_t *len)
{
    uint8_t *in = sbmy_wire_in(w), *row = in + w->row + SBMY_HEAD, *next;
    size_t part = sbmy_get24(in + w->row);

    *len = part;
    next = row + part;
    while (part == SBMY_PACKET_FULL) {
        part = sbmy_get24(next);
        memmove(row + *len, next + SBMY_HEAD, part);
        *len += part;
        next += SBMY_HEAD + part;
    }
    w->row = (size_t)(next - in);
    // Otherwise answer.c has counted a row that did not arrive.
    assert(w->row <= w->in.len);
    return row;
}

int sbmy_wire_fetch(struct sbmy_conn *c, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    int rc = w->decoded || w->rows_left == 0 ? 0 : decode_columns(c, err);
    const uint8_t *row;
    size_t len;

    if (rc || w->rows_left == 0)
        return rc;
    w->rows_left--;
    row = whole_row(w, &len);
    if (!sbmy_binary_row(row, len, w->shape, w->answer.nfields, cells, w->text))
        return malformed(c, err);
    return 1;
}

const char *sbmy_wire_column(struct sbmy_conn *c, uint32_t i)
{
    struct sbmy_wire *w = &c->wire;
    const uint8_t *p = definitions(c);
    struct sbmy_column_def def = { 0 };
    MYSQL_FIELD *fields;
    char *name;

    if (!p) {
        fields = sbmy_meta_fields(c->stmt);
        return fields && i < mysql_stmt_field_count(c->stmt->st)
                   ? fields[i].name
                   : NULL;
    }
    for (uint32_t k = 0; p && k <= i; k++)
        p = column_at(p, &def);
    name = p ? sb_array_room(w->name, &w->cap_name, 0, def.name_len + 1, 1)
             : NULL;
    if (!name)
        return NULL;
    w->name = name;
    memcpy(name, def.name, def.name_len);
    name[def.name_len] = '\0';
    return name;
}
