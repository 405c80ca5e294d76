// SPDX-License-Identifier: GPL-2.0-or-later
//
// The values that the runs of a sweep have, for messages.
#include "results/sides.h"

#include <string.h>

static const char *value_of(const struct sb_result_run *r, const char *name)
{
    return json_string_value(
        json_object_get(json_object_get(r->json, "swept"), name));
}

static bool is_first(const struct sb_side *s, unsigned n, const char *name)
{
    const char *value = value_of(s->run[n], name);

    for (unsigned i = 0; value && i < n; i++) {
        const char *other = value_of(s->run[i], name);

        if (other && strcmp(other, value) == 0)
            return false;
    }
    return value != NULL;
}

void sb_side_values(const struct sb_side *s, struct sb_buf *out)
{
    json_t *swept = s->nruns ? json_object_get(s->run[0]->json, "swept") : NULL;
    const char *name;
    json_t *value;

    json_object_foreach(swept, name, value)
    {
        sb_buf_addf(out, "%s%s=", out->len ? "; " : "", name);
        for (unsigned i = 0; i < s->nruns; i++)
            if (is_first(s, i, name))
                sb_buf_addf(
                    out, "%s%s", i ? ", " : "", value_of(s->run[i], name));
    }
}
