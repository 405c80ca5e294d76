// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether a run measures hot rows: how its draws of keys are spread, beside
// what servers said about locks. docs/internals/validity.md has the rules.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "measure/skew.h"
#include "out/validity.h"

#define LOCKS_DOUBTFUL 5 // waits per 100 events, or percent of the users
#define LOOKS_MIN      3 // at sessions that wait
#define WAITERS_MIN    3 // found by them
#define DRAWS_MIN      100
#define SPREAD         5 // percent of the draws, to the hottest 1 % of keys

// How much a total has grown; NaN: unknown.
static double grown(const struct sb_inspection *i, enum sb_fact_id id)
{
    const char *why;

    return sb_inspected_growth(&i->before, &i->after, id, &why);
}

// What the servers say about waits for the locks of rows, and what the client
// saw.
struct contention {
    double waits;     // per 100 events; NaN: not counted
    double waiting;   // percent of the users, at a look; NaN: unknown
    double waiters;   // sum of all looks
    double repeated;  // percent of the attempts at an event
    double deadlocks; // NaN: unknown
};

static void find_contention(const struct sb__listening *t,
    const struct sb_report *r, struct contention *out)
{
    const struct sb_counters *n = &r->snap->c;
    double waits = 0, looks = 0;

    *out = (struct contention){ 0 };
    if (t->server.ninspections == 0)
        waits = out->deadlocks = NAN;
    for (unsigned i = 0; i < t->server.ninspections; i++) {
        const struct sb_inspection *s = &t->server.inspection[i];

        waits += grown(s, SB_FACT_LOCK_WAITS);
        out->deadlocks += grown(s, SB_FACT_DEADLOCKS);
        out->waiters += s->waiters;
        looks = fmax(looks, s->looks);
    }
    out->waits = isnan(waits) ? NAN
                              : sb_check_percent(waits, (double)n->completed);
    // Sessions of all ranks wait. With stages, some users have gone.
    out->waiting = looks < LOOKS_MIN
                       ? NAN
                       : 100 * out->waiters / looks /
                             fmax(r->threads, (double)t->a->run.share.users);
    // Lost connections are no conflicts.
    out->repeated = n->restarts > n->reconnects
                        ? sb_check_percent(
                              (double)(n->restarts - n->reconnects),
                              (double)n->tries)
                        : 0;
}

static bool is_contended(const struct contention *n)
{
    return n->waits >= LOCKS_DOUBTFUL || n->repeated >= LOCKS_DOUBTFUL ||
           (n->waiters >= WAITERS_MIN && n->waiting >= LOCKS_DOUBTFUL);
}

static void describe_contention(struct sb_check *c, const struct contention *n)
{
    size_t used = strlen(c->meaning), size = sizeof(c->meaning);

    if (!isnan(n->waits))
        used += (size_t)snprintf(c->meaning + used, size - used,
            "; the server counted %.3g waits for locks of rows per 100 events",
            n->waits);
    else if (!isnan(n->waiting))
        used += (size_t)snprintf(c->meaning + used, size - used,
            "; %.3g %% of the users waited for locks of rows", n->waiting);
    if (used < size && n->deadlocks > 0)
        used += (size_t)snprintf(c->meaning + used, size - used,
            "; %.0f deadlock%s", n->deadlocks, n->deadlocks > 1 ? "s" : "");
    if (used < size && n->repeated > 0)
        snprintf(c->meaning + used, size - used,
            "; %.3g %% of the attempts at an event were repeated", n->repeated);
}

static void describe_draws(struct sb_check *c, const struct sb_skew *k)
{
    char keys[60];

    c->state = k->draws == 0          ? SB_VALIDITY_NOT_APPLICABLE
               : k->draws < DRAWS_MIN ? SB_VALIDITY_UNKNOWN
                                      : SB_VALIDITY_OK;
    if (k->draws == 0) {
        snprintf(c->meaning, sizeof(c->meaning),
            "no keys were drawn by sysbench.rand");
        return;
    }
    if (k->draws < DRAWS_MIN) {
        snprintf(c->meaning, sizeof(c->meaning),
            "%zu keys were drawn; %d are needed to tell how they are spread",
            k->draws, DRAWS_MIN);
        snprintf(c->advice, sizeof(c->advice), "measure longer");
        return;
    }
    c->value = 100 * k->share;
    c->unit = "%";
    if (k->hot > 1)
        snprintf(keys, sizeof(keys), "1 %% of %.0f keys", k->keys);
    else
        snprintf(keys, sizeof(keys), "of %.0f key%s", k->keys,
            k->keys > 1 ? "s" : "");
    snprintf(c->meaning, sizeof(c->meaning),
        "the hottest %s got %.3g %% of the accesses (rand.%s)", keys, c->value,
        sb_draw_name(k->kind));
}

// False: out of memory.
static bool find_skew(const struct sb__listening *t, struct sb_skew *out)
{
    const struct sb_draws *draws = t->a->random.draws;
    struct sb_draw *draw = draws ? calloc(SB_DRAWS_MAX, sizeof(*draw)) : NULL;

    if (!draw)
        return false;
    sb_skew(draw, sb_draws_take(draws, draw), out);
    free(draw);
    return true;
}

void sb__app_check_skew(const struct sb__listening *t,
    const struct sb_report *whole, struct sb_validity *v)
{
    struct sb_check *c = sb_validity_make(
        v, SB_CHECK_SKEW, SB_VALIDITY_NOT_APPLICABLE);
    struct contention n;
    struct sb_skew skew;

    if (!sb_drivers_used(t->a->drivers)) {
        snprintf(c->meaning, sizeof(c->meaning), "no database was used");
        return;
    }
    if (!find_skew(t, &skew)) {
        c->state = SB_VALIDITY_UNKNOWN;
        snprintf(c->meaning, sizeof(c->meaning), "out of memory");
        return;
    }
    describe_draws(c, &skew);
    // Without a server, users wait for the database and not for rows.
    if (!sb_drivers_used_server(t->a->drivers))
        return;
    find_contention(t, whole, &n);
    describe_contention(c, &n);
    if (is_contended(&n)) {
        c->state = SB_VALIDITY_DOUBTFUL;
        snprintf(c->advice, sizeof(c->advice),
            "use a larger table or --rand-type=uniform, unless hot rows are "
            "what you want to measure");
    } else if (c->value >= SPREAD && isnan(n.waits) && isnan(n.waiting) &&
               whole->snap->c.writes > 0) {
        size_t used = strlen(c->meaning);

        c->state = SB_VALIDITY_UNKNOWN;
        snprintf(c->meaning + used, sizeof(c->meaning) - used,
            "; whether users waited for locks of rows is unknown");
    }
}
