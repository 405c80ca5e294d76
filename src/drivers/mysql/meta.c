// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "drivers/mysql/internal.h"

enum enum_field_types sbmy_meta_type(const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
    case SB_VALUE_UINT:
        return MYSQL_TYPE_LONGLONG;
    case SB_VALUE_DOUBLE:
        return MYSQL_TYPE_DOUBLE;
    case SB_VALUE_BLOB:
        return MYSQL_TYPE_BLOB;
    default:
        return MYSQL_TYPE_STRING;
    }
}

void sbmy_meta_drop(struct sbmy_stmt *p)
{
    if (p->meta)
        mysql_free_result(p->meta);
    p->meta = NULL;
}

MYSQL_FIELD *sbmy_meta_fields(struct sbmy_stmt *p)
{
    assert(p->st);
    // After a change of the table, the server prepared the statement again on
    // its own.
    if (p->meta && mysql_num_fields(p->meta) != mysql_stmt_field_count(p->st))
        sbmy_meta_drop(p);
    if (!p->meta)
        p->meta = mysql_stmt_result_metadata(p->st);
    return p->meta ? mysql_fetch_fields(p->meta) : NULL;
}

struct sbmy_shape sbmy_meta_shape(const MYSQL_FIELD *f)
{
    return (struct sbmy_shape){
        .type = (uint8_t)f->type,
        .decimals = (uint8_t)f->decimals,
        .flags = (uint16_t)f->flags,
        .length = (uint32_t)f->length,
    };
}

static bool rename_column(struct sbmy_stmt *p, uint32_t i, const char *name)
{
    char *copy = strdup(name);

    if (!copy)
        return false;
    free(p->names[i]);
    p->names[i] = copy;
    p->st->fields[i].name = copy;
    return true;
}

static bool make_names(struct sbmy_stmt *p, uint32_t n)
{
    char **names;

    if (n <= p->nnames)
        return true;
    names = realloc(p->names, n * sizeof(*names));
    if (!names)
        return false;
    memset(names + p->nnames, 0, (n - p->nnames) * sizeof(*names));
    p->names = names;
    p->nnames = n;
    return true;
}

// Libraries update the types of the columns, but keep the names. If a server
// omits the definitions because they have not changed since, MariaDB's library
// uses those of the statement: therefore the names are changed there.
bool sbmy_names_take(const struct sbmy_conn *c, struct sbmy_stmt *p)
{
    uint32_t n = mysql_stmt_field_count(p->st);
    const MYSQL_FIELD *sent = c->my->fields;
    bool renamed = true;

    if (!sent || c->my->field_count != n)
        return true;
    for (uint32_t i = 0; i < n && renamed; i++) {
        if (strcmp(sent[i].name, p->st->fields[i].name) != 0)
            renamed = make_names(p, n) && rename_column(p, i, sent[i].name);
    }
    return renamed;
}

void sbmy_names_done(struct sbmy_stmt *p)
{
    for (uint32_t i = 0; i < p->nnames; i++)
        free(p->names[i]);
    free(p->names);
}
