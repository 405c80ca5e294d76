// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/json.h"

#include "out/json_private.h"

json_t *sb_estimate_json(const struct sb_estimate *e, bool runs)
{
    json_t *o = json_object();
    bool ok = sb__json_set(o, "value", sb__json_number(e->value)) &&
              sb__json_set(o, "low", sb__json_number(e->low)) &&
              sb__json_set(o, "high", sb__json_number(e->high));

    if (runs)
        ok = sb__json_set(o, "runs", json_integer(e->runs)) && ok;
    return sb__json_complete(o, ok);
}

json_t *sb_number_json(double value)
{
    return sb__json_number(value);
}
