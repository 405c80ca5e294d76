// SPDX-License-Identifier: GPL-2.0-or-later
//
// Access to a run of a result file: members, options, values of its rows.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "out/result_private.h"

const char *sb_result_member(const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));

    return text ? text : "";
}

unsigned sb_result_column(const struct sb_result_run *r, const char *group,
    const char *name, const char *figure)
{
    unsigned i = 0;

    while (i < r->ncols && (strcmp(r->col[i].figure, figure) != 0 ||
                               strcmp(r->col[i].name, name) != 0 ||
                               strcmp(r->col[i].group, group) != 0))
        i++;
    return i;
}

double sb_result_value(const struct sb_result_run *r, size_t row, unsigned col)
{
    const struct sb_rows *rows = r->intervals;

    if (row >= rows->nrows)
        return NAN;
    assert(rows->first[row] <= rows->first[row + 1]);
    if (col >= rows->first[row + 1] - rows->first[row])
        return NAN;
    return rows->value[rows->first[row] + col];
}

const char *sb_result_text(const struct sb_result_run *r, const char *name)
{
    return sb_result_member(r->json, name);
}

const char *sb_result_option(const struct sb_result_run *r, const char *name)
{
    json_t *options = json_object_get(r->json, "options");

    for (size_t i = 0; i < json_array_size(options); i++) {
        const json_t *o = json_array_get(options, i);

        if (strcmp(sb_result_member(o, "name"), name) == 0)
            return sb_result_member(o, "value");
    }
    return NULL;
}
