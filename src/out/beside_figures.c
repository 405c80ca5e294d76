// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/beside_figures.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "out/json_value.h"

// Times of an interval are rounded to nanoseconds.
#define ROUNDING 1e-6

void sb_beside_figures_done(struct sb_beside_figures *f)
{
    for (unsigned i = 0; i < SB_BESIDE_PHASES; i++) {
        struct sb_beside_phase *p = &f->phase[i];

        for (unsigned k = 0; k < SB_BESIDE_VALUES; k++)
            free(p->value[k]);
        free(p->length);
        sb_hist_snap_done(&p->latency);
    }
    memset(f->phase, 0, sizeof(f->phase));
}

// Intervals ------------------------------------------------------------------

static unsigned phase_of(
    const struct sb_beside_command *c, double from, double to)
{
    if (!c->started || to <= c->start + ROUNDING)
        return SB_BESIDE_BEFORE;
    if (c->ended && from >= c->end - ROUNDING)
        return SB_BESIDE_AFTER;
    if (from >= c->start - ROUNDING && (!c->ended || to <= c->end + ROUNDING))
        return SB_BESIDE_DURING;
    return SB_BESIDE_EDGES;
}

static bool grow_list(double **list, size_t room)
{
    double *more = realloc(*list, room * sizeof(**list));

    *list = more ? more : *list;
    return more != NULL;
}

static int reserve(struct sb_beside_phase *p)
{
    size_t room = p->room ? 2 * p->room : 64;
    bool ok = true;

    if (p->n < p->room)
        return 0;
    for (unsigned k = 0; ok && k < SB_BESIDE_VALUES; k++)
        ok = grow_list(&p->value[k], room);
    ok = ok && grow_list(&p->length, room);
    p->room = ok ? room : p->room;
    return ok ? 0 : SB_ENOMEM;
}

int sb_beside_figures_add(
    struct sb_beside_figures *f, const struct sb_report *r)
{
    double length = r->interval_s, to = r->total_s;
    unsigned phase = phase_of(&f->command, to - length, to);
    uint64_t n = r->latency->total;

    if (r->warmup || r->final || (r->partial && phase != SB_BESIDE_EDGES))
        return 0;
    struct sb_beside_phase *p = &f->phase[phase];

    if (reserve(p) || sb_hist_snap_add(&p->latency, r->latency))
        return SB_ENOMEM;
    assert(p->n < p->room);
    p->value[SB_BESIDE_RATE][p->n] = (double)r->snap->c.completed / length;
    p->value[SB_BESIDE_AVG][p->n] = n ? (double)r->lat_sum / (double)n / 1e6
                                      : NAN;
    p->value[SB_BESIDE_PCT][p->n] =
        n ? sb_hist_snap_percentile(r->latency, f->pct, r->lat_max) / 1e6 : NAN;
    p->length[p->n] = length;
    p->n++;
    p->seconds += length;
    p->events += r->snap->c.completed;
    p->errors += r->errors;
    p->lat_sum += r->lat_sum;
    if (r->lat_max > p->lat_max)
        p->lat_max = r->lat_max;
    return 0;
}

// Figures --------------------------------------------------------------------

double sb_beside_figure(
    const struct sb_beside_figures *f, unsigned phase, unsigned value)
{
    const struct sb_beside_phase *p = &f->phase[phase];
    double n = (double)p->latency.total;

    assert(phase < SB_BESIDE_PHASES && value < SB_BESIDE_VALUES);
    if (value == SB_BESIDE_RATE)
        return p->n ? (double)p->events / p->seconds : NAN;
    if (!(n > 0))
        return NAN;
    if (value == SB_BESIDE_AVG)
        return (double)p->lat_sum / n / 1e6;
    return sb_hist_snap_percentile(&p->latency, f->pct, p->lat_max) / 1e6;
}

unsigned sb_beside_base(const struct sb_beside_figures *f)
{
    return f->phase[SB_BESIDE_BEFORE].n ? SB_BESIDE_BEFORE : SB_BESIDE_AFTER;
}

static void mean(const struct sb_beside_figures *f, unsigned phase,
    unsigned value, struct sb_mean *m)
{
    const struct sb_beside_phase *p = &f->phase[phase];
    const struct sb_values v = { .value = p->value[value],
        .seconds = p->length,
        .n = p->n,
        .whole = sb_beside_figure(f, phase, value) };

    sb_mean(&v, m);
}

void sb_beside_compare(
    const struct sb_beside_figures *f, struct sb_compare c[SB_BESIDE_VALUES])
{
    // Both phases belong to one run: there is no difference between runs.
    static const struct sb_compare_opts o = { .confidence = 0.95 };

    for (unsigned k = 0; k < SB_BESIDE_VALUES; k++) {
        struct sb_mean a, b;

        mean(f, sb_beside_base(f), k, &a);
        mean(f, SB_BESIDE_DURING, k, &b);
        sb_compare(&a, 1, &b, 1, &o, &c[k]);
    }
}

// Summary ---------------------------------------------------------------------

static void summarize_phase(const struct sb_beside_figures *f, unsigned phase,
    struct sb_beside_column *c)
{
    const struct sb_beside_phase *p = &f->phase[phase];

    *c = (struct sb_beside_column){ .intervals = (double)p->n,
        .seconds = p->seconds,
        .events = (double)p->events,
        .errors = (double)p->errors,
        .max = p->latency.total ? (double)p->lat_max / 1e6 : NAN };
    for (unsigned k = 0; k < SB_BESIDE_VALUES; k++)
        c->value[k] = sb_beside_figure(f, phase, k);
}

void sb_beside_summarize(
    const struct sb_beside_figures *f, struct sb_beside_summary *s)
{
    struct sb_compare c[SB_BESIDE_VALUES];

    *s = (struct sb_beside_summary){ .name = f->name,
        .pct = f->pct,
        .tried_alone = f->tried_alone,
        .alone = f->alone,
        .command = f->command,
        .base = sb_beside_base(f) };
    for (unsigned i = 0; i < SB_BESIDE_PHASES; i++)
        summarize_phase(f, i, &s->column[i]);
    sb_beside_compare(f, c);
    for (unsigned k = 0; k < SB_BESIDE_VALUES; k++)
        s->difference[k] = (struct sb_beside_difference){
            .value = c[k].difference, .low = c[k].low, .high = c[k].high
        };
}

static const char *const phase_names[] = { "before", "during", "edges",
    "after" };
static const char *const value_names[] = { "events_per_s", "latency_avg",
    "latency_pct" };

// Text ------------------------------------------------------------------------

static void print_value(FILE *out, double value, int decimals)
{
    if (isfinite(value))
        fprintf(out, " %12.*f", decimals, value);
    else
        fprintf(out, " %12s", "-");
}

static void print_difference(FILE *out, const struct sb_beside_difference *d)
{
    if (!isfinite(d->value))
        fprintf(out, " %12s", "-");
    else
        fprintf(out, " %+10.1f %%", 100 * d->value);
    if (isfinite(d->value) && isfinite(d->low) && isfinite(d->high))
        fprintf(out, "  (%+.1f %% .. %+.1f %%)", 100 * d->low, 100 * d->high);
    else if (isfinite(d->value))
        fprintf(out, "  (too few intervals)");
}

static void print_row(
    FILE *out, const struct sb_beside_summary *s, unsigned value)
{
    char label[40];

    if (value == SB_BESIDE_PCT)
        snprintf(label, sizeof(label), "p%.9g (ms)", s->pct);
    else
        snprintf(label, sizeof(label), "%s",
            value == SB_BESIDE_RATE ? "events/s" : "average (ms)");
    fprintf(out, "    %-16s", label);
    for (unsigned i = 0; i < SB_BESIDE_PHASES; i++)
        print_value(
            out, s->column[i].value[value], value == SB_BESIDE_RATE ? 1 : 3);
    print_difference(out, &s->difference[value]);
    fprintf(out, "\n");
}

// Without a comparison, the reader has to know what was missing.
static void print_missing(const struct sb_beside_summary *s, FILE *out)
{
    if (!(s->column[SB_BESIDE_DURING].intervals > 0))
        fprintf(out, "    there is no whole interval during the command: "
                     "shorten --report-interval\n");
    else if (!(s->column[s->base].intervals > 0))
        fprintf(out, "    there is no whole interval before or after the "
                     "command to compare with: see --beside-start\n");
}

static void print_table(const struct sb_beside_summary *s, FILE *out)
{
    fprintf(out, "    %-16s %12s %12s %12s %12s %12s  %s\n", "", "before",
        "during", "start/end", "after", "difference",
        s->base == SB_BESIDE_BEFORE ? "(during to before, 95 % interval)"
                                    : "(during to after, 95 % interval)");
    for (unsigned k = 0; k < SB_BESIDE_VALUES; k++)
        if (k != SB_BESIDE_PCT || s->pct > 0)
            print_row(out, s, k);
    fprintf(out, "    %-16s", "maximum (ms)");
    for (unsigned i = 0; i < SB_BESIDE_PHASES; i++)
        print_value(out, s->column[i].max, 3);
    fprintf(out, "\n    %-16s", "errors");
    for (unsigned i = 0; i < SB_BESIDE_PHASES; i++)
        print_value(
            out, s->column[i].intervals > 0 ? s->column[i].errors : NAN, 0);
    fprintf(out, "\n    %-16s", "intervals");
    for (unsigned i = 0; i < SB_BESIDE_PHASES; i++)
        print_value(out, s->column[i].intervals, 0);
    fprintf(out, "\n");
    print_missing(s, out);
}

static void print_end(const struct sb_beside_command *c, FILE *out)
{
    fprintf(out, "%.3f s (CPU %.3f s user, %.3f s system, %.0f MiB), ",
        c->seconds, c->cpu_user, c->cpu_system, (double)c->rss / 1048576);
    if (c->stopped)
        fprintf(out, "stopped at the end of the run\n");
    else if (c->signal)
        fprintf(out, "ended by signal %d\n", c->signal);
    else if (c->status < 0)
        fprintf(out, "exit status unknown\n");
    else
        fprintf(out, "exit status %d\n", c->status);
}

// Only whole executions can be compared.
static bool is_whole(const struct sb_beside_command *c)
{
    return c->ended && !c->stopped && c->status == 0;
}

static void print_commands(const struct sb_beside_summary *s, FILE *out)
{
    const struct sb_beside_command *a = &s->alone, *b = &s->command;

    if (s->tried_alone && a->ended) {
        fprintf(out, "    %-37s", "alone:");
        print_end(a, out);
    }
    if (!b->started) {
        fprintf(out, "    the run ended before the command was started\n");
        return;
    }
    if (b->ended) {
        fprintf(out, "    %-37s", "with the workload:");
        print_end(b, out);
    }
    if (s->tried_alone && is_whole(a) && is_whole(b) && a->seconds > 0)
        fprintf(out, "    %-37s%+.1f %% (one execution each)\n",
            "difference of the times:", 100 * (b->seconds / a->seconds - 1));
}

void sb_beside_print(const struct sb_beside_summary *s, FILE *out)
{
    char name[200];

    sb_escape_line(name, sizeof(name), s->name);
    fprintf(out, "Beside the run: %s", name);
    if (s->command.ended)
        fprintf(
            out, ", from %.3f s to %.3f s", s->command.start, s->command.end);
    fprintf(out, "\n");
    print_commands(s, out);
    if (s->command.started)
        print_table(s, out);
    fprintf(out, "\n");
    fflush(out);
}

// JSON ------------------------------------------------------------------------

static json_t *command_json(const struct sb_beside_command *c)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o}", "start",
        c->started ? sb_json_number(c->start) : json_null(), "end",
        c->ended ? sb_json_number(c->end) : json_null(), "seconds",
        c->ended ? sb_json_number(c->seconds) : json_null(), "status",
        c->ended && c->status >= 0 ? json_integer(c->status) : json_null(),
        "signal", c->ended && c->signal ? json_integer(c->signal) : json_null(),
        "stopped", c->stopped, "cpu_user", sb_json_number(c->cpu_user),
        "cpu_system", sb_json_number(c->cpu_system), "rss_bytes",
        sb_json_count(c->rss));
}

static json_t *column_json(const struct sb_beside_column *c)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "intervals",
        sb_json_number(c->intervals), "seconds", sb_json_number(c->seconds),
        "events", sb_json_number(c->events), "errors",
        sb_json_number(c->errors), "latency_avg_ms",
        sb_json_number(c->value[SB_BESIDE_AVG]), "latency_pct_ms",
        sb_json_number(c->value[SB_BESIDE_PCT]), "latency_max_ms",
        sb_json_number(c->max));
}

static json_t *difference_json(const struct sb_beside_difference *d)
{
    return json_pack("{s:o,s:o,s:o}", "value", sb_json_number(d->value), "low",
        sb_json_number(d->low), "high", sb_json_number(d->high));
}

static json_t *differences_json(const struct sb_beside_summary *s)
{
    json_t *o = json_pack("{s:s}", "to", phase_names[s->base]);
    bool ok = o != NULL;

    for (unsigned k = 0; ok && k < SB_BESIDE_VALUES; k++)
        ok = sb__json_set(
            o, value_names[k], difference_json(&s->difference[k]));
    return sb__json_complete(o, ok);
}

json_t *sb_beside_json(const struct sb_beside_figures *f)
{
    struct sb_beside_summary s;
    sb_beside_summarize(f, &s);
    json_t *o = json_pack("{s:o,s:o,s:o,s:o}", "name", sb_json_text(s.name),
        "percentile", sb_json_number(s.pct), "command",
        command_json(&s.command), "alone",
        s.tried_alone ? command_json(&s.alone) : json_null());
    bool ok = o != NULL;

    for (unsigned i = 0; ok && i < SB_BESIDE_PHASES; i++)
        ok = sb__json_set(o, phase_names[i], column_json(&s.column[i]));
    ok = ok && sb__json_set(o, "difference", differences_json(&s));
    return sb__json_complete(o, ok);
}

// Reading --------------------------------------------------------------------

static double number_of(const json_t *o, const char *name)
{
    uint64_t n;

    if (sb__json_is_count(json_object_get(o, name), &n)) // text beyond 2^53
        return (double)n;
    return sb__json_number_of(o, name);
}

// A whole number from 0 to max, otherwise `other`.
static double count_of(
    const json_t *o, const char *name, double max, double other)
{
    double n = number_of(o, name);

    return n >= 0 && n <= max ? floor(n) : other;
}

static void read_command(const json_t *o, struct sb_beside_command *c)
{
    *c = (struct sb_beside_command){ .start = number_of(o, "start"),
        .end = number_of(o, "end"),
        .seconds = number_of(o, "seconds"),
        .stopped = json_is_true(json_object_get(o, "stopped")),
        .status = (int)count_of(o, "status", 255, -1),
        .signal = (int)count_of(o, "signal", 255, 0),
        .cpu_user = number_of(o, "cpu_user"),
        .cpu_system = number_of(o, "cpu_system"),
        .rss = (uint64_t)count_of(o, "rss_bytes", 1e18, 0) };
    c->started = isfinite(c->start);
    c->ended = isfinite(c->end);
}

static void read_column(const json_t *o, struct sb_beside_column *c)
{
    *c = (struct sb_beside_column){ .intervals = number_of(o, "intervals"),
        .seconds = number_of(o, "seconds"),
        .events = number_of(o, "events"),
        .errors = number_of(o, "errors"),
        .max = number_of(o, "latency_max_ms") };
    c->value[SB_BESIDE_RATE] = c->seconds > 0 ? c->events / c->seconds : NAN;
    c->value[SB_BESIDE_AVG] = number_of(o, "latency_avg_ms");
    c->value[SB_BESIDE_PCT] = number_of(o, "latency_pct_ms");
}

bool sb_beside_read(struct sb_beside_summary *s, const json_t *member)
{
    const json_t *difference = json_object_get(member, "difference");
    const char *to = json_string_value(json_object_get(difference, "to"));
    const char *name = json_string_value(json_object_get(member, "name"));

    *s = (struct sb_beside_summary){ .name = name,
        .pct = number_of(member, "percentile"),
        .tried_alone = json_is_object(json_object_get(member, "alone")),
        .base = to && strcmp(to, "after") == 0 ? SB_BESIDE_AFTER
                                               : SB_BESIDE_BEFORE };
    read_command(json_object_get(member, "alone"), &s->alone);
    read_command(json_object_get(member, "command"), &s->command);
    for (unsigned i = 0; i < SB_BESIDE_PHASES; i++)
        read_column(json_object_get(member, phase_names[i]), &s->column[i]);
    for (unsigned k = 0; k < SB_BESIDE_VALUES; k++) {
        const json_t *o = json_object_get(difference, value_names[k]);

        s->difference[k] = (struct sb_beside_difference){ .value = number_of(
                                                              o, "value"),
            .low = number_of(o, "low"),
            .high = number_of(o, "high") };
    }
    return name != NULL;
}
