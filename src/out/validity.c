// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/validity.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/opts.h"
#include "out/json_value.h"

static const char *const checks[SB_CHECKS] = {
    [SB_CHECK_STEADY] = "steady",
    [SB_CHECK_CACHED] = "cached",
    [SB_CHECK_DEBT] = "debt",
    [SB_CHECK_DURABLE] = "durable",
    [SB_CHECK_STATISTICS] = "statistics",
    [SB_CHECK_PLANS] = "plans",
    [SB_CHECK_MACHINE] = "machine",
    [SB_CHECK_NETWORK] = "network",
    [SB_CHECK_CLIENT] = "client",
    [SB_CHECK_SAMPLES] = "samples",
    [SB_CHECK_CENSORED] = "censored",
    [SB_CHECK_SKEW] = "skew",
    [SB_CHECK_MISSES] = "misses",
    [SB_CHECK_ERRORS] = "errors",
};

static const char *const states[SB_VALIDITY_STATES] = {
    [SB_VALIDITY_OK] = "ok",
    [SB_VALIDITY_DOUBTFUL] = "doubtful",
    [SB_VALIDITY_BAD] = "bad",
    [SB_VALIDITY_UNKNOWN] = "unknown",
    [SB_VALIDITY_NOT_APPLICABLE] = "n/a",
};

const char *sb_check_name(enum sb_check_id id)
{
    return checks[id];
}

enum sb_check_id sb_check_named(const char *name, size_t len)
{
    int i = 0;

    while (i < SB_CHECKS &&
           (strlen(checks[i]) != len || memcmp(checks[i], name, len) != 0))
        i++;
    return (enum sb_check_id)i;
}

const char *sb_validity_name(enum sb_validity_state state)
{
    return states[state];
}

enum sb_validity_state sb_validity_named(const char *name)
{
    int i = 0;

    while (i < SB_VALIDITY_STATES && strcmp(states[i], name) != 0)
        i++;
    return (enum sb_validity_state)i;
}

struct sb_check *sb_validity_make(
    struct sb_validity *v, enum sb_check_id id, enum sb_validity_state state)
{
    struct sb_check *c = &v->check[id];

    *c = (struct sb_check){
        .made = true, .state = state, .value = NAN, .unit = ""
    };
    return c;
}

enum sb_validity_state sb_check_grade(
    double percent, double doubtful, double bad)
{
    if (percent >= bad)
        return SB_VALIDITY_BAD;
    return percent >= doubtful ? SB_VALIDITY_DOUBTFUL : SB_VALIDITY_OK;
}

// How much a state matters where several are found.
static int rank_of(enum sb_validity_state state)
{
    switch (state) {
    case SB_VALIDITY_BAD:
        return 3;
    case SB_VALIDITY_DOUBTFUL:
        return 2;
    case SB_VALIDITY_UNKNOWN:
        return 1;
    default:
        return 0;
    }
}

void sb_check_find(struct sb_check *c, enum sb_validity_state state,
    const char *advice, const char *format, ...)
{
    size_t used = strlen(c->meaning);
    va_list args;

    if (rank_of(state) > rank_of(c->state) || !c->advice[0])
        snprintf(c->advice, sizeof(c->advice), "%s", advice);
    if (rank_of(state) > rank_of(c->state))
        c->state = state;
    if (used > 0)
        used += (size_t)snprintf(
            c->meaning + used, sizeof(c->meaning) - used, "; ");
    if (used >= sizeof(c->meaning))
        return;
    va_start(args, format);
    vsnprintf(c->meaning + used, sizeof(c->meaning) - used, format, args);
    va_end(args);
}

void sb_check_keep_lowest(struct sb_check *c, double value, const char *unit)
{
    c->value = isnan(c->value) ? value : fmin(c->value, value);
    c->unit = unit;
}

double sb_check_percent(double part, double all)
{
    return all > 0 || isnan(all) ? 100 * part / all : 0;
}

void sb_validity_add(
    struct sb_validity *to, const struct sb_validity *run, unsigned number)
{
    for (int i = 0; i < SB_CHECKS; i++) {
        const struct sb_check *from = &run->check[i];
        struct sb_check *c = &to->check[i];
        bool first = c->state == SB_VALIDITY_NOT_APPLICABLE || !c->made;
        // The largest share says which percentiles are lower bounds.
        bool larger = i == SB_CHECK_CENSORED && from->state == c->state &&
                      from->value > c->value;

        if (!from->made ||
            (c->made && !(first && from->state == SB_VALIDITY_OK) && !larger &&
                rank_of(from->state) <= rank_of(c->state)))
            continue;
        *c = *from;
        if (rank_of(c->state) > 0)
            snprintf(c->meaning, sizeof(c->meaning), "run %u: %.460s", number,
                from->meaning);
    }
}

static bool is_known(const struct sb_check *c)
{
    return c->made && c->state <= SB_VALIDITY_BAD;
}

double sb_validity_censored(const struct sb_validity *v)
{
    const struct sb_check *c = &v->check[SB_CHECK_CENSORED];

    return is_known(c) && c->value > 0 ? c->value : 0;
}

enum sb_validity_state sb_validity_worst(const struct sb_validity *v)
{
    enum sb_validity_state worst = SB_VALIDITY_OK;

    for (int i = 0; i < SB_CHECKS; i++) {
        const struct sb_check *c = &v->check[i];

        if (is_known(c) && c->state > worst)
            worst = c->state;
    }
    return worst;
}

unsigned sb_validity_known(const struct sb_validity *v)
{
    unsigned n = 0;

    for (int i = 0; i < SB_CHECKS; i++)
        n += is_known(&v->check[i]);
    return n;
}

#define COLUMN 26 // of the sentences

void sb_validity_text(const struct sb_validity *v, FILE *out)
{
    unsigned known = sb_validity_known(v);

    fprintf(out, "Validity: %s (%u check%s known)\n",
        sb_validity_name(sb_validity_worst(v)), known, known == 1 ? "" : "s");
    for (int i = 0; i < SB_CHECKS; i++) {
        const struct sb_check *c = &v->check[i];

        if (!c->made)
            continue;
        fprintf(out, "    %-12s%-10s", checks[i], states[c->state]);
        sb_wrap(out, COLUMN, COLUMN, c->meaning);
        if (!c->advice[0])
            continue;
        fprintf(out, "%*s", COLUMN, "");
        sb_wrap(out, COLUMN, COLUMN, c->advice);
    }
    fputc('\n', out);
}

bool sb_validity_line(const struct sb_validity *v, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (int state = SB_VALIDITY_BAD; state > SB_VALIDITY_OK; state--) {
        for (int i = 0; i < SB_CHECKS; i++) {
            const struct sb_check *c = &v->check[i];

            if (!c->made || c->told || (int)c->state != state || used >= size)
                continue;
            used += (size_t)snprintf(out + used, size - used, "%s%s is %s: %s",
                used ? "; " : "", checks[i], states[c->state], c->meaning);
        }
    }
    return used > 0;
}

static json_t *check_json(enum sb_check_id id, const struct sb_check *c)
{
    json_t *o = json_object();
    bool ok = sb__json_set_text(o, "name", checks[id]) &&
              sb__json_set_text(o, "state", states[c->state]) &&
              sb__json_set(o, "value", sb_json_number(c->value)) &&
              sb__json_set_text(o, "unit", c->unit) &&
              sb__json_set_text(o, "meaning", c->meaning) &&
              sb__json_set_text(o, "advice", c->advice);

    return sb__json_complete(o, ok);
}

static json_t *percentile_json(const struct sb_percentile *p)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:b}", "percentile",
        sb_json_number(p->pct), "value", sb_json_number(p->value), "low",
        sb_json_number(p->low), "high", sb_json_number(p->high), "beyond",
        sb_json_number(p->beyond), "lower_bound", p->is_bound);
}

json_t *sb_validity_json(const struct sb_validity *v)
{
    json_t *o = json_object(), *list = json_array();
    json_t *percentiles = json_array();
    bool ok = sb__json_set_text(o, "state", states[sb_validity_worst(v)]) &&
              sb__json_set_count(o, "known", sb_validity_known(v));

    for (int i = 0; i < SB_CHECKS; i++) {
        if (v->check[i].made)
            ok = ok && sb__json_append(
                           list, check_json((enum sb_check_id)i, &v->check[i]));
    }
    ok = sb__json_set(o, "checks", list) && ok;
    for (unsigned i = 0; i < v->npercentiles; i++)
        ok = ok &&
             sb__json_append(percentiles, percentile_json(&v->percentile[i]));
    ok = sb__json_set(o, "percentiles", percentiles) && ok;
    return sb__json_complete(o, ok);
}

void sb_validity_read(struct sb_validity *v, const json_t *json)
{
    const json_t *list = json_object_get(json, "checks");

    *v = (struct sb_validity){ 0 };
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *name = sb__json_text_of(o, "name");
        enum sb_check_id id = sb_check_named(name, strlen(name));
        enum sb_validity_state state = sb_validity_named(
            sb__json_text_of(o, "state"));
        struct sb_check *c;

        if (id == SB_CHECKS || state == SB_VALIDITY_STATES)
            continue;
        c = sb_validity_make(v, id, state);
        c->value = sb__json_number_of(o, "value");
        c->unit = sb__json_text_of(o, "unit");
        snprintf(c->meaning, sizeof(c->meaning), "%s",
            sb__json_text_of(o, "meaning"));
        snprintf(
            c->advice, sizeof(c->advice), "%s", sb__json_text_of(o, "advice"));
    }
}

// --until ---------------------------------------------------------------------

void sb_until_print(const struct sb_until *u, double seconds, FILE *out)
{
    fprintf(out, "Until: %s %.1f s%s\n",
        u->reached ? "reached after" : "not reached in", seconds,
        u->unsteady     ? ": throughput or latency was not steady"
        : u->since == 0 ? ""
        : !u->reached   ? ": too late to end the run early"
                        : "");
    for (unsigned i = 0; i < u->n; i++) {
        char text[64], now[32] = "unknown";

        if (isfinite(u->goal[i].now))
            snprintf(now, sizeof(now), "%.2f %%", 100 * u->goal[i].now);
        fprintf(out, "    %-24s%12s\n",
            sb_until_text(&u->goal[i], text, sizeof(text)), now);
    }
    fputc('\n', out);
}

json_t *sb_until_json(const struct sb_until *u)
{
    json_t *o = json_object(), *goals = json_array();
    bool ok = sb__json_set(o, "reached", json_boolean(u->reached)) &&
              sb__json_set(o, "steady", json_boolean(!u->unsteady));

    for (unsigned i = 0; i < u->n; i++) {
        char text[64];
        json_t *goal = json_pack("{s:s,s:o}", "goal",
            sb_until_text(&u->goal[i], text, sizeof(text)), "within",
            sb_json_number(u->goal[i].now));

        ok = ok && sb__json_append(goals, goal);
    }
    ok = sb__json_set(o, "goals", goals) && ok;
    return sb__json_complete(o, ok);
}
