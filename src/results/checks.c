// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/checks.h"

#include <math.h>

static bool is_doubt(const struct sb_check *c)
{
    return c->made &&
           (c->state == SB_VALIDITY_DOUBTFUL || c->state == SB_VALIDITY_BAD);
}

void sb_checks_add(struct sb_checks *c, const json_t *run)
{
    enum sb_validity_state state;
    struct sb_validity v;

    sb_validity_read(&v, json_object_get(run, "validity"));
    state = sb_validity_worst(&v);
    c->runs++;
    c->doubtful += state == SB_VALIDITY_DOUBTFUL;
    c->bad += state == SB_VALIDITY_BAD;
    if (state > c->worst)
        c->worst = state;
    c->censored = fmax(c->censored, sb_validity_censored(&v));
    for (int i = 0; i < SB_CHECKS; i++)
        c->failed[i] += is_doubt(&v.check[i]);
}

void sb_checks_sum(struct sb_checks *c, const struct sb_checks *other)
{
    c->runs += other->runs;
    c->doubtful += other->doubtful;
    c->bad += other->bad;
    if (other->worst > c->worst)
        c->worst = other->worst;
    c->censored = fmax(c->censored, other->censored);
    for (int i = 0; i < SB_CHECKS; i++)
        c->failed[i] += other->failed[i];
}

const char *sb_checks_names(const struct sb_checks *c, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (int i = 0; i < SB_CHECKS && used < size; i++) {
        char number[24] = "";

        if (!c->failed[i])
            continue;
        if (c->runs > 1)
            snprintf(number, sizeof(number), " in %u", c->failed[i]);
        used += (size_t)snprintf(out + used, size - used, "%s%s%s",
            used ? ", " : "", sb_check_name((enum sb_check_id)i), number);
    }
    return out;
}

json_t *sb_checks_json(const struct sb_checks *c)
{
    json_t *checks = json_object();
    int rc = 0;

    for (int i = 0; rc == 0 && i < SB_CHECKS; i++) {
        if (c->failed[i])
            rc = json_object_set_new(checks, sb_check_name((enum sb_check_id)i),
                json_integer((json_int_t)c->failed[i]));
    }
    json_t *o = json_pack("{s:i,s:i,s:o}", "doubtful", (int)c->doubtful, "bad",
        (int)c->bad, "checks", checks);

    if (rc) {
        json_decref(o);
        return NULL;
    }
    return o;
}
