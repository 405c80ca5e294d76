// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs of a mix: which component executes an event, figures, users that come
// with another component.
#include "run/mix_user.h"
#include "run/run_state.h"
#include "runs.h"

#define USERS      8
#define PARTS      2
#define EVENTS_MAX 100000

// What the component with this number did.
struct part {
    struct seen *s;
    _Atomic int inits, dones, frees, here[USERS];
    _Atomic uint64_t events;
    bool ends;  // its loop ends in its third event
    bool waits; // its loop begins when that of the other one has ended
    bool fast;  // events without a pause, also in stages
};

static struct part part[PARTS];
// The components of the events of user 0, in order.
static uint8_t order[EVENTS_MAX];
static unsigned norder;

static struct part *part_of(struct sb_workload *w)
{
    return w->data;
}

static int part_init(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    part_of(w)->inits++;
    CHECK(u->part[w->slot] == NULL);
    CHECK_STR(u->prefix, w->slot ? "b/" : "a/");
    CHECK_INT(++part_of(w)->here[u->id], 1);
    u->part[w->slot] = w;
    return 0;
}

static int part_run(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct part *p = part_of(w);

    CHECK(u->part[w->slot] == w);
    while (p->waits && part[1].dones == 0)
        nap(MS);
    while (sb_user_next(u) == 1) {
        CHECK_STR(u->prefix, w->slot ? "b/" : "a/");
        if (u->id == 0 && norder < EVENTS_MAX)
            order[norder++] = (uint8_t)w->slot;
        if (p->ends && p->events == 2) {
            sb_user_drop(u);
            return 0;
        }
        p->events++;
        if (p->s->o.rate > 0 || (p->s->o.stages.n && !part[0].fast))
            nap(MS / 10);
        sb_user_op_record(u, sb_user_op(u, "step"), sb_user_op_now(u));
    }
    return 0;
}

static int part_done(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    part_of(w)->dones++;
    return 0;
}

static void part_free(struct sb_workload *w, struct sb_user *u)
{
    if (!u->part[w->slot])
        return;
    part_of(w)->frees++;
    part_of(w)->here[u->id]--;
    u->part[w->slot] = NULL;
}

static void part_cancel(struct sb_workload *w, struct sb_user *u)
{
}

static const struct sb_workload_ops part_ops = {
    .user_init = part_init,
    .user_run = part_run,
    .user_done = part_done,
    .user_free = part_free,
    .cancel = part_cancel,
};

// What reports had.
static uint64_t op_count(const struct sb_report *r, const struct sb_snap *s,
    const char *name, enum sb_op_kind kind)
{
    for (unsigned i = 0; i < s->nops; i++)
        if (strcmp(r->stats->op[i].name, name) == 0) {
            CHECK_INT(r->stats->op[i].kind, kind);
            CHECK_INT(s->op[i].count, s->op[i].hist.total);
            return s->op[i].count;
        }
    return 0;
}

static struct {
    uint64_t a, b, a_steps, b_steps, queue;
    uint64_t stages_a, stages_b; // sums over the stages
    uint64_t last_a;             // of the last one
} figures;

// In each stage, the workloads have the events of the stage.
static void stage(void *data, const struct sb_report *r)
{
    uint64_t a = op_count(r, r->snap, "a", SB_OP_WORKLOAD);
    uint64_t b = op_count(r, r->snap, "b", SB_OP_WORKLOAD);

    CHECK_INT(a + b, r->snap->c.completed);
    CHECK_INT(a + b, r->latency->total);
    figures.stages_a += a;
    figures.stages_b += b;
    figures.last_a = a;
    on_stage(data, r);
}

static void final(void *data, const struct sb_report *r)
{
    figures.a = op_count(r, r->whole, "a", SB_OP_WORKLOAD);
    figures.b = op_count(r, r->whole, "b", SB_OP_WORKLOAD);
    figures.a_steps = op_count(r, r->whole, "a/step", SB_OP_CUSTOM);
    figures.b_steps = op_count(r, r->whole, "b/step", SB_OP_CUSTOM);
    if (r->nstages) {
        CHECK_INT(figures.stages_a, figures.a);
        CHECK_INT(figures.stages_b, figures.b);
    }
    on_final(data, r);
}

static int perform_mix(struct seen *s, const char *mix, int by)
{
    struct sb_workload w[PARTS];
    const struct sb_listener l = { .data = s, .stage = stage, .final = final };
    struct sb_mixed m = { .mix = &s->o.mix };
    struct sb_err err;

    CHECK_INT(sb_mix_parse(&s->o.mix, mix, &err), 0);
    s->o.mix.by = by;
    norder = 0;
    figures.stages_a = figures.stages_b = 0;
    for (int i = 0; i < PARTS; i++) {
        const struct part was = part[i];

        part[i] = (struct part){
            .s = s, .ends = was.ends, .waits = was.waits, .fast = was.fast
        };
        w[i] = (struct sb_workload){ .ops = &part_ops, .data = &part[i] };
        m.part[i] = &w[i];
    }
    sb_mixed_init(&m);
    int rc = sb_run(&m.workload, &s->o, &s->random, &l, &s->res);
    if (rc)
        printf("# %s: %s\n", sb_err_text(rc), s->res.err.msg);
    for (int i = 0; i < PARTS; i++) {
        CHECK_INT(part[i].inits, part[i].frees);
        CHECK_INT(part[i].inits, part[i].dones);
    }
    CHECK_INT(figures.a, part[0].events);
    CHECK_INT(figures.b, part[1].events);
    CHECK_INT(figures.a_steps, part[0].events);
    CHECK_INT(figures.b_steps, part[1].events);
    CHECK_INT(s->whole.completed, part[0].events + part[1].events);
    return rc;
}

static void by_events(void)
{
    static uint8_t first[EVENTS_MAX];
    unsigned changes = 0;
    struct seen s;

    prepare(&s, 1);
    s.o.events = 9000;
    CHECK_INT(perform_mix(&s, "a:8,b:1", SB_MIX_EVENTS), 0);
    CHECK_INT(s.whole.completed, 9000);
    CHECK_INT(part[0].inits, 1);
    CHECK_INT(part[1].inits, 1);
    CHECK_NEAR((double)figures.b, 1000, 4 * sqrt(9000 * 8 / 81.0));
    // Draws, not a pattern: two events in succession are independent.
    for (unsigned i = 1; i < 9000; i++)
        changes += order[i] != order[i - 1];
    CHECK_NEAR(changes, 9000 * 16 / 81.0, 4 * sqrt(9000 * 16 / 81.0));
    memcpy(first, order, 9000);
    // The same seed repeats the events, another one does not.
    prepare(&s, 1);
    s.o.events = 9000;
    CHECK_INT(perform_mix(&s, "a:8,b:1", SB_MIX_EVENTS), 0);
    CHECK(memcmp(first, order, 9000) == 0);
    prepare(&s, 1);
    s.o.events = 9000;
    s.random.seed++;
    CHECK_INT(perform_mix(&s, "a:8,b:1", SB_MIX_EVENTS), 0);
    CHECK(memcmp(first, order, 9000) != 0);
}

// The order of a user does not depend on how many users there are.
static void many_users(void)
{
    static uint8_t first[EVENTS_MAX];
    struct seen s;

    prepare(&s, 1);
    s.o.events = 1000;
    CHECK_INT(perform_mix(&s, "a:2,b:1", SB_MIX_EVENTS), 0);
    memcpy(first, order, 1000);
    prepare(&s, USERS);
    s.o.events = 4000;
    CHECK_INT(perform_mix(&s, "a:2,b:1", SB_MIX_EVENTS), 0);
    CHECK_INT(s.whole.completed, 4000);
    CHECK_INT(part[0].inits, USERS);
    CHECK_INT(part[1].inits, USERS);
    CHECK(memcmp(first, order, norder < 1000 ? norder : 1000) == 0);
}

static void open_loop(void)
{
    struct seen s;

    for (int64_t ns = 100 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 3);
        s.o.rate = 2000;
        s.o.time = ns;
        s.o.warmup_time = ns / 4;
        // perform_mix() compares counts of the measured part with all events.
        s.o.warmup_time = 0;
        CHECK_INT(perform_mix(&s, "a:3,b:1", SB_MIX_EVENTS), 0);
        if (figures.a > 0 && figures.b > 0)
            break;
    }
    CHECK(figures.a > figures.b);
    CHECK(figures.b > 0);
}

static void by_users(void)
{
    struct seen s;

    prepare(&s, 4);
    s.o.events = 4000;
    CHECK_INT(perform_mix(&s, "a:3,b:1", SB_MIX_USERS), 0);
    CHECK_INT(part[0].inits, 3);
    CHECK_INT(part[1].inits, 1);
    CHECK_INT(s.whole.completed, 4000);
}

// A loop that ends by itself ends its user, and not the others.
static void loops_that_end(void)
{
    struct seen s;

    prepare(&s, 1);
    part[1].ends = true;
    s.o.events = 1000;
    CHECK_INT(perform_mix(&s, "a:1,b:1", SB_MIX_EVENTS), 0);
    CHECK_INT(s.res.end, SB_END_SCRIPT);
    CHECK_INT(figures.b, 2);
    CHECK(figures.a < 100);
    prepare(&s, 2);
    part[1].ends = part[0].waits = true;
    s.o.events = 1000;
    CHECK_INT(perform_mix(&s, "a:1,b:1", SB_MIX_USERS), 0);
    CHECK_INT(s.res.end, SB_END_LIMIT);
    CHECK_INT(figures.b, 2);
    part[1].ends = part[0].waits = false;
}

static void set_stages(struct seen *s, const char *text, int64_t unit)
{
    struct sb_stages *st = &s->o.stages;
    struct sb_mix m;
    struct sb_err err;

    CHECK_INT(sb_mix_parse(&m, "a,b", &err), 0);
    CHECK_INT(
        sb_stages_parse(st, text, (uint32_t)s->o.threads, s->o.rate, &m, &err),
        0);
    for (unsigned i = 0; i < st->n; i++)
        st->stage[i].ns = st->stage[i].ns / 1000000 * (uint64_t)unit / 1000;
    st->ns = st->ns / 1000000 * (uint64_t)unit / 1000;
    s->o.time = (int64_t)st->ns;
}

// Returns whether the first events were all a, and then many were all b.
static bool a_then_b(void)
{
    unsigned i = 0, k;

    while (i < norder && order[i] == 0)
        i++;
    for (k = i; k < norder && order[k] == 1; k++)
        ;
    return i > 10 && k - i > 10;
}

static void stages_change_the_mix(void)
{
    struct seen s;

    for (int64_t ns = 40 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 1);
        set_stages(&s, "mix=a for 1s; mix=b for 1s; mix=a/b for 1s", ns);
        CHECK_INT(perform_mix(&s, "a,b", SB_MIX_EVENTS), 0);
        CHECK_INT(s.stage_events, s.whole.completed);
        if (s.stages == 3 && a_then_b())
            break;
    }
    CHECK(a_then_b());
}

static void users_change_their_component(void)
{
    struct seen s;

    for (int64_t ns = 40 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 4);
        set_stages(&s, "mix=a for 1s; mix=a/b for 1s; mix=b for 3s", ns);
        CHECK_INT(perform_mix(&s, "a,b", SB_MIX_USERS), 0);
        if (part[0].inits == 4 && part[1].inits == 4)
            break;
    }
    // Two change with the second stage, two with the third.
    CHECK_INT(part[0].inits, 4);
    CHECK_INT(part[1].inits, 4);
    CHECK_INT(s.connects, 4);
    CHECK(figures.last_a <= 4); // events that began before the stage
}

// The figures of stages are taken while users complete events, thousands of
// them per millisecond.
static void stages_add_up(void)
{
    struct seen s;

    part[0].fast = true;
    for (int open = 0; open <= 1; open++) {
        prepare(&s, 4);
        s.o.rate = open ? 100000 : 0;
        set_stages(&s,
            "mix=a for 1s; mix=a/b for 1s; mix=b for 1s; mix=a/b for 1s; "
            "mix=a:3/b for 1s; mix=a/b for 1s",
            20 * MS);
        CHECK_INT(perform_mix(&s, "a,b", SB_MIX_EVENTS), 0);
        CHECK_INT(s.stage_events, s.whole.completed);
    }
    part[0].fast = false;
}

CHECK_FILE
{
    RUN(by_events);
    RUN(many_users);
    RUN(open_loop);
    RUN(by_users);
    RUN(loops_that_end);
    RUN(stages_change_the_mix);
    RUN(users_change_their_component);
    RUN(stages_add_up);
    return check_done();
}
