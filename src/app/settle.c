// SPDX-License-Identifier: GPL-2.0-or-later
//
// --settle and --prewarm: before the users of a run connect, and after prepare.
// --settle also before the measured part, if something precedes it.
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/clock.h"
#include "base/log.h"

// The steps, for result files. The texts belong to it.
struct sb__app_settled {
    struct sb_settled facts;
    struct sb_settled_step *step;
    bool again; // those that are taken now
};

static void free_step(struct sb_settled_step *s)
{
    free((char *)s->name);
    free((char *)s->server);
    free((char *)s->text);
}

static void take_step(void *arg, const struct sb_settle_step *s)
{
    struct sb__app_settled *all = arg;
    struct sb_settled_step copy = { strdup(s->name), strdup(s->server),
        strdup(s->text), s->seconds, s->failed, all->again };
    struct sb_settled_step *more = realloc(
        all->step, (all->facts.n + 1) * sizeof(*more));

    if (more)
        all->step = more;
    if (!more || !copy.name || !copy.server || !copy.text)
        free_step(&copy);
    else
        all->step[all->facts.n++] = copy;
    all->facts.step = all->step;
}

// What was done from step `first` on, in its order.
static void print_done(const struct sb_app *a, const struct sb_settled *s,
    unsigned first, double seconds, bool asked)
{
    bool settles = strcmp(a->settle_opts.settle, "off");
    const char *when = first < s->n && s->step[first].again
                           ? " before the measured part"
                           : "";
    const char *before = ": ";
    unsigned done = 0;

    for (unsigned i = first; i < s->n; i++)
        done += !s->step[i].failed;
    if (done > 0)
        printf(
            "%s%s in %.2f s", settles ? "Settled" : "Prewarmed", when, seconds);
    else if (asked)
        printf("Nothing was %s%s (%.2f s)", settles ? "settled" : "prewarmed",
            when, seconds);
    else
        return;
    for (unsigned i = first; i < s->n; i++) {
        if (s->step[i].failed)
            continue;
        printf("%s%s (%.2f s%s%s)", before, s->step[i].text, s->step[i].seconds,
            *s->step[i].server ? ", " : "", s->step[i].server);
        before = ", ";
    }
    printf("\n%s", *when ? "\n" : "");
    fflush(stdout);
}

// From step `first` on: what was done on standard output, what was not as
// warnings.
static void print_steps(const struct sb_app *a, const struct sb_settled *s,
    unsigned first, double seconds)
{
    struct sb_opt_view view;
    // Otherwise sysbench ab did it.
    bool asked = a->settle_opts.prewarm ||
                 !sb_opts_find(a->opts, "settle", &view) ||
                 view.source != SB_SRC_DEFAULT;

    if (!sb__app_quiet(a))
        print_done(a, s, first, seconds, asked);
    for (unsigned i = first; i < s->n; i++) {
        // A driver that cannot settle, such as null, needs no warning.
        if (s->step[i].failed &&
            (asked || strcmp(s->step[i].name, "settle") != 0))
            sb_log(SB_LOG_WARNING, "%s%s%s: %s", s->step[i].name,
                *s->step[i].server ? " " : "", s->step[i].server,
                s->step[i].text);
    }
}

// Adds to a->settled.
static void settle(struct sb_app *a, const struct sb_settle_opts *o, bool again,
    const _Atomic bool *stop)
{
    uint64_t begin = sb_clock_monotonic();
    unsigned first = a->settled->facts.n;
    double seconds;

    a->settled->again = again;
    sb_settle(a->drivers, o, stop, take_step, a->settled);
    seconds = (double)(sb_clock_monotonic() - begin) / 1e9;
    a->settled->facts.seconds += seconds;
    a->facts.settled = &a->settled->facts;
    print_steps(a, a->facts.settled, first, seconds);
}

void sb__app_settle(struct sb_app *a)
{
    uint64_t limit;

    sb_app_settled_done(a);
    if (sb_settle_limit(&a->settle_opts, &limit, NULL) ||
        (limit == 0 && !a->settle_opts.prewarm) || a->rank_place.rank > 0)
        return;
    if (a->builtin) {
        sb_log(SB_LOG_WARNING,
            "%s has no effect on the built-in test '%s', which has no database",
            limit ? "--settle" : "--prewarm", a->builtin->name);
        return;
    }
    a->settled = calloc(1, sizeof(*a->settled));
    if (!a->settled) {
        sb_log(SB_LOG_WARNING, "--settle: out of memory");
        return;
    }
    settle(a, &a->settle_opts, false, NULL);
}

bool sb__app_settles_again(const struct sb_app *a)
{
    uint64_t limit;

    return a->settled && sb_settle_limit(&a->settle_opts, &limit, NULL) == 0 &&
           limit > 0 && a->run.share.ranks <= 1;
}

void sb__app_settle_again(struct sb_app *a, const _Atomic bool *stop)
{
    const struct sb_settle_opts o = { .settle = a->settle_opts.settle };

    settle(a, &o, true, stop);
}

void sb_app_settled_done(struct sb_app *a)
{
    if (!a->settled)
        return;
    for (unsigned i = 0; i < a->settled->facts.n; i++)
        free_step(&a->settled->step[i]);
    free(a->settled->step);
    free(a->settled);
    a->settled = NULL;
    a->facts.settled = NULL;
}
