// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mysql/mysql_priv.h"

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
