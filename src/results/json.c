// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/json.h"

#include "out/json_parts.h"

json_t *sb_estimate_json(const struct sb_estimate *e, bool runs)
{
    json_t *o = json_pack("{s:o,s:o,s:o}", "value", sb_json_number(e->value),
        "low", sb_json_number(e->low), "high", sb_json_number(e->high));

    if (o && runs && json_object_set_new(o, "runs", json_integer(e->runs))) {
        json_decref(o);
        return NULL;
    }
    return o;
}
