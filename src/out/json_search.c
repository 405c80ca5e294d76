// SPDX-License-Identifier: GPL-2.0-or-later
//
// How a run found its rate, in result files: written and read.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/search.h"
#include "out/json_private.h"
#include "out/result_private.h"

// The names of enum sb_search_end in files.
static const char *const ends[] = {
    [SB_SEARCH_GOES_ON] = "interrupted",
    [SB_SEARCH_FOUND] = "found",
    [SB_SEARCH_BELOW] = "below",
    [SB_SEARCH_ABOVE] = "above",
    [SB_SEARCH_EXHAUSTED] = "exhausted",
};

#define ENDS (sizeof(ends) / sizeof(ends[0]))

static bool set_number(json_t *o, const char *name, double value)
{
    return sb__json_set(o, name, sb_json_number(value));
}

static json_t *trial_value(const struct sb_search_trial *t)
{
    json_t *o = json_object();
    bool ok = set_number(o, "rate", t->rate) &&
              set_number(o, "value", t->value) &&
              sb__json_set(o, "kept", json_boolean(t->kept)) &&
              sb__json_set(o, "queue_grew", json_boolean(t->grew)) &&
              sb__json_set(o, "missed",
                  t->missed == SB_SEARCH_NONE
                      ? json_null()
                      : json_integer((json_int_t)t->missed));

    return sb__json_complete(o, ok);
}

static json_t *trial_list(const struct sb_rate_search *f)
{
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && i < f->trials; i++)
        ok = json_array_append_new(a, trial_value(&f->trial[i])) == 0;
    return sb__json_complete(a, ok);
}

static bool set_search(json_t *o, const struct sb_rate_search *f)
{
    const struct sb_search_result *r = &f->result;
    bool known = r->trials > 0;

    return sb__json_set(o, "limit", sb_json_text(f->limit)) &&
           sb__json_set(o, "unit", sb_json_text(f->unit)) &&
           sb__json_set(o, "end", json_string(ends[r->end])) &&
           set_number(o, "highest", known ? r->rate : NAN) &&
           set_number(o, "low", known ? r->low : NAN) &&
           set_number(o, "high", known ? r->high : NAN) &&
           set_number(o, "safe", known ? r->safe : NAN) &&
           sb__json_set(
               o, "bounds", json_pack("[f, f]", f->lowest, f->highest)) &&
           sb__json_set(o, "measured_kept",
               f->judged ? json_boolean(f->kept) : json_null()) &&
           set_number(o, "measured_value", f->judged ? f->value : NAN) &&
           sb__json_set(o, "trials", trial_list(f));
}

json_t *sb__json_search(const struct sb_rate_search *f)
{
    json_t *o = json_object();
    bool ok = set_number(o, "percent", f->percent > 0 ? f->percent : NAN) &&
              set_number(o, "maximum", f->max > 0 ? f->max : NAN) &&
              set_number(o, "rate", f->rate > 0 ? f->rate : NAN);

    if (ok && f->limit)
        ok = set_search(o, f);
    return sb__json_complete(o, ok);
}

// Reading ---------------------------------------------------------------------

static double number_of(const json_t *o, const char *name)
{
    const json_t *v = json_object_get(o, name);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

static double positive(const json_t *o, const char *name)
{
    double v = number_of(o, name);

    return v > 0 ? v : 0;
}

static enum sb_search_end end_of(const json_t *o)
{
    const char *name = json_string_value(json_object_get(o, "end"));

    for (size_t i = 0; name && i < ENDS; i++)
        if (strcmp(ends[i], name) == 0)
            return (enum sb_search_end)i;
    return SB_SEARCH_GOES_ON;
}

static int read_trials(struct sb_result_run *r, const json_t *list)
{
    struct sb_rate_search *f = &r->search;
    size_t n = json_array_size(list);

    r->trials = calloc(n ? n : 1, sizeof(*r->trials));
    if (!r->trials)
        return SB_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const json_t *t = json_array_get(list, i);
        const json_t *missed = json_object_get(t, "missed");

        r->trials[i] = (struct sb_search_trial){
            .rate = number_of(t, "rate"),
            .value = number_of(t, "value"),
            .kept = json_is_true(json_object_get(t, "kept")),
            .grew = json_is_true(json_object_get(t, "queue_grew")),
            .missed = json_is_integer(missed)
                          ? (unsigned)json_integer_value(missed)
                          : SB_SEARCH_NONE,
        };
        f->result.kept += r->trials[i].kept;
    }
    f->trial = r->trials;
    f->trials = f->result.trials = (unsigned)n;
    return 0;
}

int sb__result_read_search(struct sb_result_run *r)
{
    const json_t *o = json_object_get(r->json, "search");
    const json_t *bounds = json_object_get(o, "bounds");
    const json_t *kept = json_object_get(o, "measured_kept");
    const char *unit = json_string_value(json_object_get(o, "unit"));

    if (!json_is_object(o))
        return 0;
    r->search = (struct sb_rate_search){
        .percent = positive(o, "percent"),
        .max = positive(o, "maximum"),
        .rate = positive(o, "rate"),
        .limit = json_string_value(json_object_get(o, "limit")),
        .unit = unit ? unit : "",
        .lowest = json_number_value(json_array_get(bounds, 0)),
        .highest = json_number_value(json_array_get(bounds, 1)),
        .judged = json_is_boolean(kept),
        .kept = json_is_true(kept),
        .value = number_of(o, "measured_value"),
        .result = { .end = end_of(o),
            .rate = number_of(o, "highest"),
            .low = number_of(o, "low"),
            .high = number_of(o, "high"),
            .safe = number_of(o, "safe") },
    };
    r->report.search = &r->search;
    return read_trials(r, json_object_get(o, "trials"));
}
