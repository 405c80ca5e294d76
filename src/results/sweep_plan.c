// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/sweep_plan.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/opts.h"
#include "kit/rng.h"
#include "kit/units.h"
#include "out/json_parts.h"
#include "out/result_file.h"

#define ITEM_SIZE 256

// A number with a unit: "64K".
struct quantity {
    double number;
    int decimals; // as written
    char unit[8];
};

static int out_of_memory(struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM, "out of memory");
}

static int too_many(const struct sb_sweep_list *l, struct sb_err *err)
{
    return sb_err_set(err, SB_ERANGE,
        "--sweep: %s has too many values; the maximum is %u", l->name,
        SB_SWEEP_VALUES_MAX);
}

static int add_value(
    struct sb_sweep_list *l, const char *value, struct sb_err *err)
{
    for (unsigned i = 0; i < l->n; i++)
        if (strcmp(l->value[i], value) == 0)
            return 0;
    if (l->n == SB_SWEEP_VALUES_MAX)
        return too_many(l, err);
    assert(!l->shown[l->n]); // masked when all values are known
    l->value[l->n] = strdup(value);
    return l->value[l->n++] ? 0 : out_of_memory(err);
}

// Adds a number in plain notation: options of integers accept no exponent. It
// has the decimals of the numbers that it was computed from, without zeros at
// the end.
static int add_number(struct sb_sweep_list *l, double number, int decimals,
    const char *unit, struct sb_err *err)
{
    char text[3 * ITEM_SIZE];
    size_t len = (size_t)snprintf(text, sizeof(text), "%.*f", decimals, number);

    while (decimals > 0 && text[len - 1] == '0')
        len--;
    if (decimals > 0 && text[len - 1] == '.')
        len--;
    snprintf(text + len, sizeof(text) - len, "%s", unit);
    return add_value(l, strcmp(text, "-0") == 0 ? "0" : text, err);
}

// Parses a number and its unit at *p and moves *p after them.
static bool read_quantity(const char **p, struct quantity *q)
{
    const char *digits = *p + (**p == '-' || **p == '+');
    char text[ITEM_SIZE];
    size_t n, unit;

    // strtod() would take the first dot of "4..8".
    n = strspn(digits, "0123456789");
    q->decimals = 0;
    if (digits[n] == '.' && digits[n + 1] != '.') {
        q->decimals = (int)strspn(digits + n + 1, "0123456789");
        n += 1 + (size_t)q->decimals;
    }
    if (n == 0 || (n == 1 && *digits == '.'))
        return false;
    snprintf(text, sizeof(text), "%.*s", (int)(digits + n - *p), *p);
    q->number = strtod(text, NULL);
    for (unit = 0; isalpha((unsigned char)digits[n + unit]); unit++)
        ;
    if (unit >= sizeof(q->unit))
        return false;
    snprintf(q->unit, sizeof(q->unit), "%.*s", (int)unit, digits + n);
    *p = digits + n + unit;
    return true;
}

static int bad_range(const char *item, const char *why, struct sb_err *err)
{
    return sb_err_set(
        err, SB_EUSAGE, "--sweep: '%s' is not a range: %s", item, why);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int add_doubling(struct sb_sweep_list *l, const char *item,
    const struct quantity *from, const struct quantity *to, struct sb_err *err)
{
    int rc = 0;

    if (!(from->number > 0))
        return bad_range(item,
            "a range that doubles begins above 0; give a step: A..B:STEP", err);
    for (double v = from->number; rc == 0 && v < to->number; v *= 2)
        rc = add_number(l, v, from->decimals, from->unit, err);
    return rc ? rc : add_number(l, to->number, to->decimals, from->unit, err);
}

static int add_steps(struct sb_sweep_list *l, const char *item,
    const struct quantity *from, const struct quantity *to,
    const struct quantity *step, struct sb_err *err)
{
    int decimals = larger(from->decimals, step->decimals), rc = 0;

    if (!(step->number > 0))
        return bad_range(item, "the step must be above 0", err);
    if (from->number + step->number == from->number ||
        to->number - step->number == to->number)
        return bad_range(item, "the step is too small for its numbers", err);
    // A tolerance, so that 0.1..1:0.1 ends with 1.
    double steps = floor((to->number - from->number) / step->number + 1e-9);

    if (!(steps < SB_SWEEP_VALUES_MAX))
        return too_many(l, err);
    for (unsigned i = 0; rc == 0 && i <= (unsigned)steps; i++)
        rc = add_number(
            l, from->number + i * step->number, decimals, from->unit, err);
    return rc;
}

static int add_range(struct sb_sweep_list *l, const char *item, const char *p,
    const struct quantity *from, struct sb_err *err)
{
    struct quantity to, step;

    if (!read_quantity(&p, &to) || (*p && *p != ':'))
        return bad_range(item, "write A..B or A..B:STEP", err);
    if (strcmp(from->unit, to.unit) != 0)
        return bad_range(item, "both ends must have the same unit", err);
    if (to.number < from->number)
        return bad_range(item, "the end is below the start", err);
    if (!*p)
        return add_doubling(l, item, from, &to, err);
    p++;
    if (!read_quantity(&p, &step) || *p)
        return bad_range(item, "write A..B or A..B:STEP", err);
    if (*step.unit && strcmp(step.unit, from->unit) != 0)
        return bad_range(item, "the step must have the unit of the ends", err);
    return add_steps(l, item, from, &to, &step, err);
}

static int add_item(
    struct sb_sweep_list *l, const char *item, struct sb_err *err)
{
    const char *p = item;
    struct quantity from;

    if (read_quantity(&p, &from) && strncmp(p, "..", 2) == 0)
        return add_range(l, item, p + 2, &from, err);
    return add_value(l, item, err);
}

// Splits the list at commas. Spaces around items are ignored.
static int add_items(
    struct sb_sweep_list *l, const char *list, struct sb_err *err)
{
    char item[ITEM_SIZE];

    for (const char *p = list;; p++) {
        size_t n;

        p += strspn(p, " \t");
        n = strcspn(p, ",");
        const char *next = p + n;

        while (n > 0 && isspace((unsigned char)p[n - 1]))
            n--;
        if (n == 0)
            return sb_err_set(err, SB_EUSAGE,
                "--sweep: the list of %s has an empty item", l->name);
        if (n >= sizeof(item))
            return sb_err_set(err, SB_EUSAGE,
                "--sweep: a value of %s is too long; the maximum is %zu "
                "characters",
                l->name, sizeof(item) - 1);
        snprintf(item, sizeof(item), "%.*s", (int)n, p);
        int rc = add_item(l, item, err);

        if (rc || !*next)
            return rc;
        p = next;
    }
}

int sb_sweep_list_parse(
    struct sb_sweep_list *l, const char *text, struct sb_err *err)
{
    const char *name = text + strspn(text, "-");
    const char *sign = strchr(name, '=');

    *l = (struct sb_sweep_list){ 0 };
    if (!sign || sign == name)
        return sb_err_set(err, SB_EUSAGE,
            "--sweep: '%s' is not of the form OPTION=VALUE,VALUE,...",
            SB_SHOWN(text));
    if (!sign[1])
        return sb_err_set(err, SB_EUSAGE, "--sweep: %.*s has no values",
            (int)(sign - name), name);
    l->name = strndup(name, (size_t)(sign - name));
    l->value = calloc(SB_SWEEP_VALUES_MAX, sizeof(*l->value));
    l->shown = calloc(SB_SWEEP_VALUES_MAX, sizeof(*l->shown));
    if (!l->name || !l->value || !l->shown)
        return out_of_memory(err);
    for (char *p = l->name; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return add_items(l, sign + 1, err);
}

void sb_sweep_list_done(struct sb_sweep_list *l)
{
    for (unsigned i = 0; i < l->n; i++)
        free(l->value[i]);
    free(l->value);
    free(l->shown);
    free(l->name);
    *l = (struct sb_sweep_list){ 0 };
}

int sb_sweep_number(const char *value, double *number)
{
    int64_t whole;

    if (sb_units_number(value, number) == 0)
        return 0;
    if (sb_units_size(value, &whole) && sb_units_duration(value, 1, &whole))
        return SB_EUSAGE;
    *number = (double)whole;
    return 0;
}

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
    { .name = "launch",
        .type = SB_OPT_STRING,
        .offset = AT(launch),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "start each run of a sweep, and the commands before and after "
                "it, with this launcher: 'mpirun -n 4 --host a,b,c,d'" },
    { .name = "launch-timeout",
        .type = SB_OPT_DURATION,
        .offset = AT(launch_timeout),
        .def = "60s",
        .min = 0.1,
        .max = 86400,
        .flags = SB_OPT_YIELDS,
        .help = "time that the launcher has to start all ranks" },
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
                "--%s is given, and %s%s is also swept: use only one of them",
                name, target == name ? "it" : "--",
                target == name ? "" : target);
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

// Fails if results could not distinguish two values, because the shown parts
// are the same.
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

int sb_sweep_plan_sides(struct sb_sweep_plan *p, const struct sb_ab_opts *o,
    const struct sb_ab_side *side, uint64_t seed, struct sb_err *err)
{
    struct sb_buf text = { 0 };

    *p = (struct sb_sweep_plan){ .rounds = (unsigned)(o->aa + o->pairs),
        .random = true,
        .seed = seed,
        .side = side,
        .aa = (unsigned)o->aa,
        .planned = (unsigned)o->pairs };
    sb_buf_addf(&text, "side=%s,%s,%s", SB_AB_SAME, side[0].name, side[1].name);
    int rc = text.failed ? sb_err_set(err, SB_ENOMEM, "out of memory")
                         : sb_sweep_list_parse(&p->option[0], text.data, err);

    sb_buf_done(&text);
    p->noptions = 1;
    if (rc)
        return rc;
    memcpy(p->option[0].shown, p->option[0].value,
        p->option[0].n * sizeof(*p->option[0].shown));
    p->npoints = 2;
    p->nruns = 2 * p->rounds;
    if (p->nruns > SB_SWEEP_RUNS_MAX)
        return sb_err_set(err, SB_ERANGE,
            "ab: %u runs are too many; the maximum is %u", p->nruns,
            SB_SWEEP_RUNS_MAX);
    sb_sweep_plan_order(p);
    return 0;
}

void sb_sweep_plan_done(struct sb_sweep_plan *p)
{
    for (unsigned i = 0; i < p->noptions; i++)
        sb_sweep_list_done(&p->option[i]);
    p->noptions = 0;
}

static void exchange(unsigned *a, unsigned *b)
{
    unsigned old = *a;

    *a = *b;
    *b = old;
}

static void order_pairs(struct sb_sweep_plan *p, struct sb_rng *rng)
{
    bool b_first = false;

    for (unsigned i = p->aa; i < p->rounds; i++) {
        b_first = (i - p->aa) % 2 ? !b_first : sb_rng_below(rng, 2) == 1;
        if (b_first)
            exchange(&p->order[2 * i], &p->order[2 * i + 1]);
    }
}

void sb_sweep_plan_order(struct sb_sweep_plan *p)
{
    struct sb_rng rng;

    assert(p->nruns <= SB_SWEEP_RUNS_MAX && p->nruns == p->npoints * p->rounds);
    sb_rng_init(&rng, p->seed, 0);
    for (unsigned i = 0; i < p->nruns; i++)
        p->order[i] = i;
    if (p->side) {
        order_pairs(p, &rng);
        return;
    }
    for (unsigned round = 0; p->random && round < p->rounds; round++) {
        unsigned *o = p->order + round * p->npoints;

        for (unsigned n = p->npoints; n > 1; n--) {
            exchange(&o[n - 1], &o[sb_rng_below(&rng, n)]);
        }
    }
}

static void find_values(const struct sb_sweep_plan *p, unsigned run, bool shown,
    struct sb_fact *fact)
{
    assert(run < p->nruns);
    unsigned rest = run % p->npoints;

    if (p->side) {
        unsigned k = sb_sweep_is_same(p, run) ? 0 : 1 + rest;

        fact[0] = (struct sb_fact){ p->option[0].name, p->option[0].value[k] };
        return;
    }
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

unsigned sb_sweep_raw_values(
    const struct sb_sweep_plan *p, unsigned run, struct sb_fact *fact)
{
    if (p->side)
        return 0;
    find_values(p, run, false, fact);
    return p->noptions;
}

unsigned sb_sweep_side(const struct sb_sweep_plan *p, unsigned run)
{
    return sb_sweep_is_same(p, run) ? 0 : run % 2;
}

bool sb_sweep_is_same(const struct sb_sweep_plan *p, unsigned run)
{
    return run / 2 < p->aa;
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
        "repeat", "pairs", "debug", "config-file", "config-strict",
        "launch-timeout" };

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
    json_t *o = json_pack("{s:s,s:i,s:o,s:o,s:o,s:b,s:s}", "format",
        "sysbench-sweep", "version", 1, "test",
        sb_json_text(p->test ? p->test : ""), "sweep", sweep, "settings",
        settings, "random", p->random, "seed", seed);

    if (p->side)
        rc = json_object_update_new(o,
            json_pack("{s:[o,o],s:i}", "sides", sb_json_text(p->side[0].shown),
                sb_json_text(p->side[1].shown), "planned", (int)p->planned));
    else
        rc = json_object_set_new(o, "repeat", json_integer(p->rounds));
    if (rc == 0)
        return o;
    json_decref(o);
    return NULL;
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
    static const char *const parts[] = { "test", "sweep", "repeat", "sides" };
    // The names of sides are the values of a sweep.
    const char *const shown[] = { "the test",
        p->side ? "--a or --b" : "--sweep", "--repeat", "--a or --b" };
    const json_t *a = json_object_get(kept, "settings");
    const json_t *b = json_object_get(now, "settings");

    if (!sb_sweep_plan_is(kept) ||
        json_integer_value(json_object_get(kept, "version")) != 1)
        return sb_err_set(
            err, SB_EUSAGE, "it was not written by this version of sysbench");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (json_object_get(kept, parts[i]) != json_object_get(now, parts[i]) &&
            !json_equal(json_object_get(kept, parts[i]),
                json_object_get(now, parts[i])))
            return sb_err_set(err, SB_EUSAGE,
                "%s differs from that of the interrupted sweep", shown[i]);
    const char *name = find_missing(a, b);

    if (!name)
        name = find_missing(b, a);
    if (name)
        return sb_err_set(err, SB_EUSAGE,
            "--%s differs from that of the interrupted sweep", name);
    if (p->side)
        p->planned = (unsigned)json_integer_value(
            json_object_get(kept, "planned"));
    p->random = json_is_true(json_object_get(kept, "random"));
    p->seed = strtoull(sb_result_member(kept, "seed"), NULL, 10);
    sb_sweep_plan_order(p);
    return 0;
}
