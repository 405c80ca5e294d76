// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef SERIES_VALUE_H
#define SERIES_VALUE_H

#include <math.h>
#include <string.h>

#include "out/series.h"

// Returns a value of the current row, NAN if there is no such column.
static inline double series_value(const struct sb_series *s, const char *group,
    const char *name, const char *figure)
{
    for (unsigned i = 0; i < s->ncols; i++) {
        const struct sb_column *c = &s->col[i];

        if (strcmp(c->figure, figure) == 0 && strcmp(c->name, name) == 0 &&
            strcmp(c->group, group) == 0)
            return s->value[i];
    }
    return NAN;
}

#endif
