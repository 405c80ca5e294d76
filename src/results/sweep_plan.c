// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/sweep_plan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kit/rng.h"
#include "out/json_parts.h"
#include "out/result_file.h"

#define AT(field) offsetof(struct sb_sweep_opts, field)

static const char *const orders[] = { "listed", "random", NULL };

static const struct sb_opt sweep_options[] = {
    { .name = "sweep",
        .type = SB_OPT_STRING,
        .offset = AT(sweep),
        .flags = SB_OPT_COMMON | SB_OPT_YIELDS,
        .help = "measure one run for each value of an option: "
                "threads=1,2,4..256 (4..256 doubles, 1..9:2 adds 2). Several "
                "--sweep: all combinations" },
    { .name = "repeat",
        .type = SB_OPT_INT,
        .offset = AT(repeat),
        .def = "1",
        .min = 1,
        .max = SB_SWEEP_RUNS_MAX,
        .flags = SB_OPT_YIELDS,
        .help = "number of runs of each combination; one after the other in "
                "rounds, so that drift affects all alike" },
    { .name = "sweep-order",
        .type = SB_OPT_ENUM,
        .offset = AT(order),
        .def = "listed",
        .choices = orders,
        .flags = SB_OPT_YIELDS,
        .help = "order of the runs of a round: as listed, or random (depends "
                "on --rand-seed)" },
    { .name = "sweep-pause",
        .type = SB_OPT_DURATION,
        .offset = AT(pause),
        .def = "0",
        .min = 0,
        .max = 86400,
        .flags = SB_OPT_YIELDS,
        .help = "time to wait between two runs of a sweep" },
    { .name = "sweep-before",
        .type = SB_OPT_LIST,
        .offset = AT(before),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "commands of the workload to execute before each run of a "
                "sweep, with its options: cleanup,prepare" },
    { .name = "sweep-after",
        .type = SB_OPT_LIST,
        .offset = AT(after),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "commands of the workload to execute after each run of a "
                "sweep, with its options: cleanup" },
    { .name = "sweep-stop",
        .type = SB_OPT_BOOL,
        .offset = AT(stop),
        .def = "off",
        .flags = SB_OPT_YIELDS,
        .help = "end a sweep after the first run that failed, or whose "
                "commands failed" },
    { .name = "sweep-resume",
        .type = SB_OPT_BOOL,
        .offset = AT(resume),
        .def = "off",
        .flags = SB_OPT_YIELDS | SB_OPT_NOFILE,
        .help = "continue an interrupted sweep: execute only the runs that "
                "are missing or failed" },
    { .name = NULL },
};

const struct sb_opt_table sb_sweep_opt_table = {
    .title = "Sweep options",
    .section = "sweep",
    .opts = sweep_options,
};

bool sb_sweep_wanted(const struct sb_opts *opts)
{
    struct sb_opt_view view;

    if (sb_opts_given(opts, "sweep", false) ||
        sb_opts_given(opts, "sweep-resume", false))
        return true;
    return sb_opts_find(opts, "repeat", &view) &&
           view.source > SB_SRC_DEFAULT && strcmp(view.text, "1") != 0;
}

// Reading ---------------------------------------------------------------------

struct reading {
    struct sb_sweep_plan *plan;
    struct sb_opts *opts;
    struct sb_err *err;
};

// The option that is set by this name: that of an alias is another one.
static const char *target_of(const struct sb_opts *opts, const char *name)
{
    struct sb_opt_view view;

    return sb_opts_find(opts, name, &view) && view.opt->alias_of
               ? view.opt->alias_of
               : name;
}

static int use_target(
    struct sb_sweep_list *l, const struct sb_opts *opts, struct sb_err *err)
{
    char *name = strdup(target_of(opts, l->name));

    if (!name)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    free(l->name);
    l->name = name;
    return 0;
}

static int add_list(void *arg, const char *text)
{
    struct reading *r = arg;
    struct sb_sweep_plan *p = r->plan;

    if (p->noptions == SB_SWEEP_OPTIONS_MAX)
        return sb_err_set(r->err, SB_ERANGE,
            "--sweep: too many options; the maximum is %u",
            SB_SWEEP_OPTIONS_MAX);
    struct sb_sweep_list *l = &p->option[p->noptions++];
    int rc = sb_sweep_list_parse(l, text, r->err);

    if (rc == 0)
        rc = use_target(l, r->opts, r->err);
    for (unsigned i = 0; rc == 0 && i + 1 < p->noptions; i++)
        if (strcmp(p->option[i].name, l->name) == 0)
            rc = sb_err_set(
                r->err, SB_EUSAGE, "--sweep: --%s is swept twice", l->name);
    return rc;
}

static int find_given(
    void *arg, const char *name, const char *value, enum sb_opt_source source)
{
    const struct reading *r = arg;
    const char *target = target_of(r->opts, name);

    (void)value;
    for (unsigned i = 0; i < r->plan->noptions; i++)
        if (source == SB_SRC_CMDLINE &&
            strcmp(target, r->plan->option[i].name) == 0)
            return sb_err_set(r->err, SB_EUSAGE,
                "--%s is given, and %s%s is also swept: use one of both", name,
                target == name ? "it" : "--", target == name ? "" : target);
    return 0;
}

// Options that a sweep uses itself, or that end the program.
static int check_name(
    const struct reading *r, const char *name, struct sb_err *err)
{
    static const char *const others[] = { "report", "repeat", "test" };
    struct sb_opt_view view;
    bool refused = strncmp(name, "sweep", 5) == 0;

    if (sb_opts_find(r->opts, name, &view))
        refused = refused || (view.opt->flags & SB_OPT_NOFILE);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        refused = refused || strcmp(name, others[i]) == 0;
    return refused ? sb_err_set(
                         err, SB_EUSAGE, "--sweep: --%s cannot be swept", name)
                   : 0;
}

// Results tell runs apart by what is shown of their values.
static int check_shown(
    const struct sb_sweep_list *l, unsigned value, struct sb_err *err)
{
    if (strcmp(l->shown[value], "***") == 0)
        return sb_err_set(err, SB_EUSAGE,
            "--sweep: the value of --%s is a secret, which cannot be swept",
            l->name);
    for (unsigned i = 0; i < value; i++)
        if (strcmp(l->shown[i], l->shown[value]) == 0)
            return sb_err_set(err, SB_EUSAGE,
                "--sweep: two values of --%s differ only in a secret, which "
                "results do not show",
                l->name);
    return 0;
}

int sb_sweep_plan_mask(
    struct sb_sweep_plan *p, struct sb_opts *opts, struct sb_err *err)
{
    int rc = 0;

    for (unsigned i = 0; i < p->noptions; i++) {
        struct sb_sweep_list *l = &p->option[i];

        for (unsigned k = 0; rc == 0 && k < l->n; k++) {
            l->shown[k] = sb_opts_shown(opts, l->name, l->value[k]);
            rc = l->shown[k] ? check_shown(l, k, err)
                             : sb_err_set(err, SB_ENOMEM, "out of memory");
        }
    }
    return rc;
}

static int count_runs(struct sb_sweep_plan *p, struct sb_err *err)
{
    double runs = p->rounds;

    assert(p->rounds > 0);
    p->npoints = 1;
    for (unsigned i = 0; i < p->noptions; i++)
        runs *= p->option[i].n;
    if (runs > SB_SWEEP_RUNS_MAX)
        return sb_err_set(err, SB_ERANGE,
            "--sweep: %.0f runs are too many; the maximum is %u", runs,
            SB_SWEEP_RUNS_MAX);
    for (unsigned i = 0; i < p->noptions; i++)
        p->npoints *= p->option[i].n;
    p->nruns = p->npoints * p->rounds;
    return 0;
}

int sb_sweep_plan_init(struct sb_sweep_plan *p, const struct sb_sweep_opts *o,
    struct sb_opts *opts, uint64_t seed, struct sb_err *err)
{
    struct reading r = { p, opts, err };
    struct sb_opt_view view;
    int rc = 0;

    *p = (struct sb_sweep_plan){ .rounds = (unsigned)o->repeat,
        .random = o->order == SB_SWEEP_RANDOM,
        .seed = seed };
    if (sb_opts_find(opts, "sweep", &view) && view.source > SB_SRC_DEFAULT)
        rc = sb_opts_values(opts, "sweep", view.source, add_list, &r);
    for (unsigned i = 0; rc == 0 && i < p->noptions; i++)
        rc = check_name(&r, p->option[i].name, err);
    if (rc == 0)
        rc = sb_opts_settings(opts, find_given, &r);
    if (rc == 0)
        rc = sb_sweep_plan_mask(p, opts, err);
    if (rc == 0)
        rc = count_runs(p, err);
    if (rc == 0)
        sb_sweep_plan_order(p);
    return rc;
}

void sb_sweep_plan_done(struct sb_sweep_plan *p)
{
    for (unsigned i = 0; i < p->noptions; i++)
        sb_sweep_list_done(&p->option[i]);
    p->noptions = 0;
}

void sb_sweep_plan_order(struct sb_sweep_plan *p)
{
    struct sb_rng rng;

    assert(p->nruns <= SB_SWEEP_RUNS_MAX && p->nruns == p->npoints * p->rounds);
    sb_rng_init(&rng, p->seed, 0);
    for (unsigned i = 0; i < p->nruns; i++)
        p->order[i] = i;
    for (unsigned round = 0; p->random && round < p->rounds; round++) {
        unsigned *o = p->order + round * p->npoints;

        for (unsigned n = p->npoints; n > 1; n--) {
            unsigned k = (unsigned)sb_rng_below(&rng, n), last = o[n - 1];

            o[n - 1] = o[k];
            o[k] = last;
        }
    }
}

static void find_values(const struct sb_sweep_plan *p, unsigned run, bool shown,
    struct sb_fact *fact)
{
    assert(run < p->nruns);
    unsigned rest = run % p->npoints;

    // The last option changes fastest.
    for (unsigned i = p->noptions; i-- > 0;) {
        const struct sb_sweep_list *l = &p->option[i];
        unsigned k = rest % l->n;

        fact[i] = (struct sb_fact){ l->name,
            shown ? l->shown[k] : l->value[k] };
        rest /= l->n;
    }
    assert(rest == 0); // npoints is the product of all numbers of values
}

void sb_sweep_values(
    const struct sb_sweep_plan *p, unsigned run, struct sb_fact *fact)
{
    find_values(p, run, true, fact);
}

void sb_sweep_raw_values(
    const struct sb_sweep_plan *p, unsigned run, struct sb_fact *fact)
{
    find_values(p, run, false, fact);
}

void sb_sweep_text(
    const struct sb_fact *swept, unsigned n, char *out, size_t size)
{
    size_t at = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s=%s", i ? " " : "",
            swept[i].name, swept[i].value);
}

// Keeping ---------------------------------------------------------------------

// Options that may change when a sweep continues.
static bool may_change(const char *name)
{
    static const char *const names[] = { "report", "progress", "verbosity",
        "repeat", "debug", "config-file", "config-strict" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "sweep", 5) == 0;
}

static int keep_setting(
    void *arg, const char *name, const char *value, enum sb_opt_source source)
{
    (void)source;
    if (may_change(name))
        return 0;
    return json_object_set_new(arg, name, sb_json_text(value)) ? SB_ENOMEM : 0;
}

json_t *sb_sweep_plan_json(const struct sb_sweep_plan *p, struct sb_opts *opts)
{
    json_t *settings = json_object(), *sweep = json_array();
    char seed[24];
    int rc = settings && sweep ? 0 : SB_ENOMEM;

    snprintf(seed, sizeof(seed), "%" PRIu64, p->seed);
    if (rc == 0)
        rc = sb_opts_settings(opts, keep_setting, settings);
    for (unsigned i = 0; rc == 0 && i < p->noptions; i++) {
        json_t *o = json_array();

        rc = json_array_append_new(o, sb_json_text(p->option[i].name));
        for (unsigned k = 0; rc == 0 && k < p->option[i].n; k++)
            rc = json_array_append_new(o, sb_json_text(p->option[i].shown[k]));
        if (json_array_append_new(sweep, o))
            rc = SB_ENOMEM;
    }
    if (rc) {
        json_decref(settings);
        json_decref(sweep);
        return NULL;
    }
    return json_pack("{s:s,s:i,s:o,s:o,s:o,s:i,s:b,s:s}", "format",
        "sysbench-sweep", "version", 1, "test",
        sb_json_text(p->test ? p->test : ""), "sweep", sweep, "settings",
        settings, "repeat", (int)p->rounds, "random", p->random, "seed", seed);
}

// The first setting of a that b does not have with the same value.
static const char *find_missing(const json_t *a, const json_t *b)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)a, name, value)
    {
        if (!json_equal(value, json_object_get(b, name)))
            return name;
    }
    return NULL;
}

bool sb_sweep_plan_is(const json_t *kept)
{
    return strcmp(sb_result_member(kept, "format"), "sysbench-sweep") == 0;
}

int sb_sweep_plan_continue(struct sb_sweep_plan *p, const json_t *kept,
    const json_t *now, struct sb_err *err)
{
    static const char *const parts[] = { "test", "sweep", "repeat" };
    const json_t *a = json_object_get(kept, "settings");
    const json_t *b = json_object_get(now, "settings");

    if (!sb_sweep_plan_is(kept) ||
        json_integer_value(json_object_get(kept, "version")) != 1)
        return sb_err_set(
            err, SB_EUSAGE, "it was not written by this version of sysbench");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!json_equal(json_object_get(kept, parts[i]),
                json_object_get(now, parts[i])))
            return sb_err_set(err, SB_EUSAGE,
                "%s%s differs from that of the "
                "interrupted sweep",
                i ? "--" : "the ", parts[i]);
    const char *name = find_missing(a, b);

    if (!name)
        name = find_missing(b, a);
    if (name)
        return sb_err_set(err, SB_EUSAGE,
            "--%s differs from that of the interrupted sweep", name);
    p->random = json_is_true(json_object_get(kept, "random"));
    p->seed = strtoull(sb_result_member(kept, "seed"), NULL, 10);
    sb_sweep_plan_order(p);
    return 0;
}
