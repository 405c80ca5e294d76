// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads: once per interval, the finder looks for servers that the script has
// begun to use, and reads the process of --server-pid. Each server has a thread
// of its own, with a probe, because a server that hangs must not delay the
// samples of the others.
#include "db/sampler.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/log.h"
#include "db/probe.h"
#include "db/sampler_private.h"
#include "db/texts.h"
#include "kit/locale.h"
#include "loop/waiter.h"

static const char *const statements_choices[] = {
    [SB_STATEMENTS_AUTO] = "auto",
    [SB_STATEMENTS_ON] = "on",
    [SB_STATEMENTS_OFF] = "off",
    [SB_STATEMENTS_OFF + 1] = NULL,
};

static const struct sb_opt sampler_opts[] = {
    { .name = "server-stats",
        .type = SB_OPT_LIST,
        .offset = offsetof(struct sb_sampler_opts, stats),
        .def = "auto",
        .flags = SB_OPT_YIELDS,
        .help = "counters of the server to sample in each interval: off, "
                "default (a short list), all, patterns such as "
                "'Innodb_row_lock*'; auto: default if a report shows them, "
                "otherwise off" },
    { .name = "server-pid",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sb_sampler_opts, pid),
        .flags = SB_OPT_YIELDS,
        .help = "id of the server's process on this machine, whose processor "
                "time, memory and disk I/O are sampled with those of its "
                "children; auto: the process that listens at the address" },
    { .name = "server-waits",
        .type = SB_OPT_BOOL,
        .offset = offsetof(struct sb_sampler_opts, waits),
        .def = "off",
        .flags = SB_OPT_YIELDS,
        .help = "look ten times per second at what the sessions of the server "
                "wait for, and report it by class of waits and by operation" },
    { .name = "server-statements",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct sb_sampler_opts, statements),
        .def = "auto",
        .choices = statements_choices,
        .flags = SB_OPT_YIELDS,
        .help = "read what the server counts of each statement, by "
                "pg_stat_statements or performance_schema {auto: if a result "
                "file is written and the server counts them; on: print it, "
                "too; off: never}" },
    { 0 },
};

const struct sb_opt_table sb_sampler_opt_table = {
    .title = "Server statistics options",
    .section = "server",
    .opts = sampler_opts,
};

int sb_sampler_check(const struct sb_sampler_opts *o, struct sb_err *err)
{
    struct sb__process p;
    int rc = sb__picks_check(&o->stats, err);

    return rc < 0 ? rc : sb__process_init(&p, o->pid, err);
}

// When the threads of the sampler take samples, and when they end.

// Samples are taken this long before the end of an interval, or twice as long
// as the last one took, but at most half of the period.
#define LEAD_NS UINT64_C(50000000)

static uint64_t lead(const struct sb_sampler *s, uint64_t took)
{
    uint64_t most = s->period / 2;
    uint64_t ns = took * 2 > LEAD_NS ? took * 2 : LEAD_NS;

    return ns < most ? ns : most;
}

// Returns the time of the sample after one that began at `last` and took so
// long.
static uint64_t next_sample(
    const struct sb_sampler *s, uint64_t last, uint64_t took)
{
    uint64_t period = s->period;
    uint64_t first = s->phase % period + period - lead(s, took);
    uint64_t after = last + period / 4;

    return after + period - (after + period - first % period) % period;
}

void sb__sampler_wait_until(struct sb_sampler *s, uint64_t ns)
{
    struct timespec t = sb_clock_timespec(ns);

    pthread_cond_timedwait(&s->changed, &s->lock, &t);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool sb__sampler_is_base(
    struct sb_sampler *s, struct sb__sampler_rebased *r, uint64_t now)
{
    pthread_mutex_lock(&s->lock);
    bool measured = now >= s->measured_at;
    pthread_mutex_unlock(&s->lock);
    // A server that does not answer is tried once, then in the next interval.
    r->tried = r->tried || measured;
    return measured && !r->done;
}

bool sb__sampler_wait_next(struct sb_sampler *s,
    const struct sb__sampler_target *t, uint64_t last, uint64_t limit)
{
    const struct sb__sampler_rebased *r = t ? &t->rebased : &s->rebased;
    uint64_t took = sb_clock_monotonic() - last, next;
    bool go;

    pthread_mutex_lock(&s->lock);
    while (!s->stop && !(t && s->last && !t->last)) {
        next = earlier(next_sample(s, last, took), limit);
        if (!r->tried)
            next = earlier(next, s->measured_at);
        if (t && !t->explained)
            next = earlier(next, s->plans_at);
        if (sb_clock_monotonic() >= next)
            break;
        sb__sampler_wait_until(s, next);
    }
    go = !s->stop;
    pthread_mutex_unlock(&s->lock);
    return go;
}

bool sb__sampler_stopped(struct sb_sampler *s)
{
    bool stop;

    pthread_mutex_lock(&s->lock);
    stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return stop;
}

void sb__sampler_thread_ends(struct sb_sampler *s)
{
    pthread_mutex_lock(&s->lock);
    assert(s->running > 0);
    s->running--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

// One server of the sampler: its facts, the names of its counters, its samples.

#define CLOSE_NS 100000000

// Describing -----------------------------------------------------------------

bool sb__sampler_same(
    const struct sb_server_facts *a, const struct sb_server_facts *b)
{
    return strcmp(a->driver, b->driver) == 0 && a->server.address[0] &&
           strcmp(a->server.address, b->server.address) == 0;
}

static bool all_before_tried(
    const struct sb_sampler *s, const struct sb__sampler_target *t)
{
    for (size_t i = 0; i < s->ntargets && s->target[i] != t; i++) {
        if (!s->target[i]->tried)
            return false;
    }
    return true;
}

const struct sb__sampler_target *sb__sampler_first(const struct sb_sampler *s)
{
    for (size_t i = 0; i < s->ntargets; i++) {
        if (s->target[i]->facts.server.address[0])
            return s->target[i];
    }
    return NULL;
}

// Names the counters of the target. The first server that is described has
// plain names.
static void choose_suffix(struct sb__sampler_target *t)
{
    const struct sb_server *f = &t->facts.server;
    char text[sizeof(t->suffix)];

    t->suffix[0] = '\0';
    if (!f->address[0])
        return;
    if (!t->s->plain)
        t->s->plain = t;
    snprintf(text, sizeof(text), "@%s%s%s", f->address,
        f->database[0] ? "/" : "", f->database);
    if (t->s->plain != t)
        sb_escape_line(t->suffix, sizeof(t->suffix), text);
}

// Compares the target with the earlier ones when each of them has been tried,
// so that the result does not depend on which server answers first. The lock is
// held.
static void compare(struct sb_sampler *s, struct sb__sampler_target *t)
{
    while (!s->stop && !all_before_tried(s, t))
        pthread_cond_wait(&s->changed, &s->lock);
    for (size_t i = 0; s->target[i] != t; i++) {
        const struct sb_server_facts *f = &s->target[i]->facts;

        t->same = t->same || (sb__sampler_same(f, &t->facts) &&
                                 strcmp(f->server.database,
                                     t->facts.server.database) == 0);
    }
    choose_suffix(t);
}

// The first attempt to describe the server has ended.
static void sampler_tried(struct sb__sampler_target *t)
{
    pthread_mutex_lock(&t->s->lock);
    t->tried = true;
    pthread_cond_broadcast(&t->s->changed);
    pthread_mutex_unlock(&t->s->lock);
}

static int describe(struct sb__sampler_target *t, struct sb_err *err)
{
    struct sb_server_facts f;
    int rc;

    sb__probe_client(t->probe, &f);
    rc = sb__probe_describe(t->probe, &f, err);
    if (rc) {
        sb_server_facts_done(&f);
        return rc;
    }
    pthread_mutex_lock(&t->s->lock);
    sb_server_facts_done(&t->facts);
    t->facts = f;
    t->described = true;
    compare(t->s, t);
    pthread_mutex_unlock(&t->s->lock);
    return 0;
}

// Sampling -------------------------------------------------------------------

static const char *short_list(const struct sb__sampler_target *t)
{
    return sb__probe_driver(t->probe)->info->counters_default;
}

static bool sink_wanted(void *arg, const char *prefix)
{
    struct sb__sampler_target *t = arg;

    return sb__picked_prefix(&t->s->setup.opts->stats, short_list(t), prefix);
}

// Returns the minimum time of a rate, which is also the time until a server
// that counts late has added what the users do. It is a little less than the
// server's delay: the users begin when the sampler does, and samples are as
// regular as the server's additions.
static uint64_t least(const struct sb__sampler_target *t)
{
    const struct sb_info_ops *ops = sb__probe_driver(t->probe)->info;

    return ops ? ops->counters_delay / 10 * 9 : 0;
}

static int sink_take(void *arg, const struct sb_counter *c)
{
    struct sb__sampler_target *t = arg;
    struct sb_sampler *s = t->s;
    bool warn;

    if (!sb__picked(&s->setup.opts->stats, short_list(t), c->name))
        return 0;
    pthread_mutex_lock(&s->lock);
    sb__picks_found(&s->setup.opts->stats, c->name, s->found);
    sb__counters_put(
        &s->table, c, t->suffix, sb_clock_monotonic(), least(t), t->base);
    warn = s->table.full && !s->full_warned;
    s->full_warned = s->table.full;
    pthread_mutex_unlock(&s->lock);
    if (warn)
        sb_log(SB_LOG_WARNING,
            "--server-stats: only the first %u counters are kept",
            SB__COUNTERS_MAX);
    return 0;
}

static void sink_missing(
    void *arg, const char *source, const struct sb_err *why)
{
    struct sb__sampler_target *t = arg;

    for (unsigned i = 0; i < t->nmissing; i++) {
        if (strcmp(t->missing[i], source) == 0)
            return;
    }
    if (t->nmissing == MISSING_MAX)
        return;
    snprintf(t->missing[t->nmissing++], sizeof(t->missing[0]), "%s", source);
    sb_log(SB_LOG_WARNING,
        "--server-stats: the counters of %s cannot be read from %s: %s", source,
        t->facts.server.address, why->msg);
}

void sb__sampler_check_found(struct sb_sampler *s, unsigned samples)
{
    char list[400];
    bool ready = s->samples, any = false;
    size_t n = 0;

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->ntargets; i++) {
        const struct sb__sampler_target *t = s->target[i];

        ready = ready && (t->same || t->samples >= samples);
        any = any || t->samples > 0;
    }
    ready = ready && any && !s->found_warned;
    if (ready)
        n = sb__picks_unknown(
            &s->setup.opts->stats, s->found, list, sizeof(list));
    s->found_warned = s->found_warned || ready;
    pthread_mutex_unlock(&s->lock);
    if (n > 0)
        sb_log(SB_LOG_WARNING, "--server-stats: no counter matches %s", list);
}

// Some counters appear with their first use, so the first sample does not show
// which patterns are wrong.
static void sampled(struct sb__sampler_target *t)
{
    pthread_mutex_lock(&t->s->lock);
    t->samples++;
    pthread_mutex_unlock(&t->s->lock);
    sb__sampler_check_found(t->s, 2);
}

// first: the first sample of the measured part.
static int sample(struct sb__sampler_target *t, bool first, struct sb_err *err)
{
    const struct sb_counter_sink sink = { .arg = t,
        .wanted = sink_wanted,
        .take = sink_take,
        .missing = sink_missing };
    uint64_t now = sb_clock_monotonic();
    int rc;

    assert(t->described && !t->same);
    if (t->settled_at == 0)
        t->settled_at = now + least(t);
    // Until the server has settled, and in the first sample after that, rates
    // start again.
    t->base = t->settled ? 0 : SB__BASE_RATE;
    if (first)
        t->base |= SB__BASE_GROWTH;
    t->settled = t->settled || now >= t->settled_at;
    rc = sb__probe_counters(t->probe, &sink, err);
    if (rc == 0) {
        t->rebased.done = t->rebased.done || first;
        sampled(t);
    }
    return rc;
}

// The first failure is logged, unless only the facts are asked for. Later ones
// are expected: the server may be restarted during the run.
static void target_failed(
    struct sb__sampler_target *t, const struct sb_err *err)
{
    bool first = !t->warned && !t->described;

    sb__probe_disconnect(t->probe);
    // A target that was never described has no counters, and no suffix yet.
    if (t->described && !t->same) {
        pthread_mutex_lock(&t->s->lock);
        sb__counters_forget(&t->s->table, t->suffix);
        pthread_mutex_unlock(&t->s->lock);
    }
    if (sb__sampler_stopped(t->s))
        return;
    t->warned = true;
    sb_log(first && t->s->samples ? SB_LOG_WARNING : SB_LOG_DEBUG,
        "server statistics: %s: %s", t->facts.driver, err->msg);
}

// Asks the server about itself. A server that does not answer has no
// inspection; its samples fail, too.
// again: what else was found before is kept.
static int inspect(struct sb__sampler_target *t, struct sb_inspected *out,
    bool again, struct sb_err *err)
{
    unsigned all = t->s->setup.inspects;
    unsigned parts = again ? all & SB_INSPECT_TOTALS : all;
    struct sb_inspected now;
    int rc = sb__inspect(t->probe, parts, out == &t->after, &now, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->s->lock);
    if (again) {
        sb_inspected_update(out, &now, parts);
    } else {
        sb_inspected_done(out);
        *out = now;
    }
    pthread_mutex_unlock(&t->s->lock);
    return 0;
}

static bool last_is_due(struct sb__sampler_target *t)
{
    pthread_mutex_lock(&t->s->lock);
    bool due = t->s->last && !t->last;
    pthread_mutex_unlock(&t->s->lock);
    return due;
}

// Before the first sample, if there was no look before the users connected; the
// totals again when the measured part begins. So the questions are not part of
// what the samples count. A server that fails to answer is not asked again.
static int inspect_before(
    struct sb__sampler_target *t, bool first, struct sb_err *err)
{
    bool again = t->inspected || t->before.asked;
    int rc;

    if (!t->s->setup.inspects || t->same || (again && !first))
        return 0;
    t->inspected = true;
    if (again && !t->before.asked)
        return 0;
    rc = inspect(t, &t->before, again, err);
    if (rc == 0)
        t->based_at = sb_clock_monotonic();
    return rc;
}

// Whether the server says which sessions wait for locks, instead of counting
// waits.
static bool says_waiters(const struct sb__sampler_target *t)
{
    return t->s->setup.inspects && !t->same && t->before.asked &&
           !isnan(t->before.fact[SB_FACT_LOCK_WAITERS]);
}

// Looks at the sessions that wait for locks, while users run. first: the
// measured part begins.
static int inspect_waiters(
    struct sb__sampler_target *t, bool first, struct sb_err *err)
{
    struct sb_inspected now;
    const struct sb_inspect_sink sink = sb_inspect_into(
        &now, 1u << SB_PART_LOCKS);
    int rc;

    if (!says_waiters(t) || last_is_due(t))
        return 0;
    rc = sb__probe_inspect(t->probe, &sink, err);
    if (rc == 0 && !isnan(now.fact[SB_FACT_LOCK_WAITERS])) {
        pthread_mutex_lock(&t->s->lock);
        t->looks = first ? 1 : t->looks + 1;
        t->waiters = now.fact[SB_FACT_LOCK_WAITERS] + (first ? 0 : t->waiters);
        pthread_mutex_unlock(&t->s->lock);
    }
    sb_inspected_done(&now);
    return rc;
}

// Totals that are read late lack as much of the measured part: a twentieth does
// not change what checks and costs say. In short runs, the thread itself may be
// late by a larger share.
#define LATE_SHARE 20
#define LATE_NS    UINT64_C(100000000)
#define NO_BASE    "the server's totals were read too late"

// Whether the totals of `before` are not those with which the measured part
// began. The lock is held.
static bool lacks_base(const struct sb__sampler_target *t)
{
    const struct sb_sampler *s = t->s;
    bool later = s->measured_at <= t->after.ns; // than the users
    uint64_t start = later ? s->measured_at : s->started;
    uint64_t most = (t->after.ns - start) / LATE_SHARE;

    if (t->based_at < start)
        return later;
    return t->based_at - start > (most > LATE_NS ? most : LATE_NS);
}

static int inspect_after(struct sb__sampler_target *t, struct sb_err *err)
{
    int rc;

    if (!t->s->setup.inspects || t->same)
        return 0;
    rc = inspect(t, &t->after, false, err);
    if (rc || !t->before.asked)
        return rc;
    pthread_mutex_lock(&t->s->lock);
    if (lacks_base(t)) {
        sb_inspected_miss(&t->before, SB_INSPECT_TOTALS, NO_BASE);
        t->looks = 0;
        t->waiters = 0;
    }
    pthread_mutex_unlock(&t->s->lock);
    return 0;
}

// Before the users connected, or else at the first visit; and when the measured
// part begins after a warm-up.
static int count_before(
    struct sb__sampler_target *t, bool first, struct sb_err *err)
{
    struct sb_statements now;
    uint64_t start;
    int rc;

    if (!t->s->setup.statements || t->same || (t->counted.asked && !first))
        return 0;
    rc = sb__statements_read(t->probe, &now, err);
    if (rc) {
        sb_statements_done(&now);
        return rc;
    }
    pthread_mutex_lock(&t->s->lock);
    start = first ? t->s->measured_at : t->s->started;
    sb_statements_done(&t->counted);
    t->counted = now;
    t->counted_late = now.ns > start ? now.ns - start : 0;
    pthread_mutex_unlock(&t->s->lock);
    return 0;
}

static int count_after(struct sb__sampler_target *t, struct sb_err *err)
{
    struct sb_statements_growth growth = { 0 };
    struct sb_statements now = { 0 };
    int rc;

    if (!t->s->setup.statements || t->same)
        return 0;
    rc = sb__statements_read(t->probe, &now, err);
    pthread_mutex_lock(&t->s->lock);
    if (t->counted.ns < t->s->measured_at && t->s->measured_at <= now.ns)
        snprintf(t->counted.why, sizeof(t->counted.why), NO_BASE);
    pthread_mutex_unlock(&t->s->lock);
    if (rc == 0)
        rc = sb__statements_grow(t->probe, &t->counted, &now, &growth, err);
    sb_statements_done(&now);
    pthread_mutex_lock(&t->s->lock);
    sb_statements_growth_done(&t->growth);
    t->growth = growth;
    pthread_mutex_unlock(&t->s->lock);
    return rc;
}

// How long statements are explained before the measured part, and after it.
#define PLANS_NS UINT64_C(1000000000)

// Whether plans are to be explained before the measured part: once, and not
// later.
static bool plans_are_due(struct sb__sampler_target *t)
{
    uint64_t now = sb_clock_monotonic();
    bool before;

    pthread_mutex_lock(&t->s->lock);
    before = now < t->s->measured_at;
    t->explained = t->explained || now >= t->s->plans_at;
    before = before && t->explained && !t->plans_before.asked;
    pthread_mutex_unlock(&t->s->lock);
    return before && t->s->setup.inspects && !t->same;
}

static int explain(struct sb__sampler_target *t, struct sb_plans *out,
    struct sb__explain_limit limit, struct sb_err *err)
{
    struct sb_plans now;
    int rc = sb__plans_explain(t->probe, &limit, &now, err);

    pthread_mutex_lock(&t->s->lock);
    if (rc == 0) {
        sb_plans_done(out);
        *out = now;
    } else if (!out->asked) {
        snprintf(out->why, sizeof(out->why), "the server did not answer");
    }
    pthread_mutex_unlock(&t->s->lock);
    return rc;
}

static int explain_before(struct sb__sampler_target *t, struct sb_err *err)
{
    uint64_t until;

    pthread_mutex_lock(&t->s->lock);
    until = t->s->measured_at;
    pthread_mutex_unlock(&t->s->lock);
    return explain(
        t, &t->plans_before, (struct sb__explain_limit){ until, true }, err);
}

static int explain_after(struct sb__sampler_target *t, struct sb_err *err)
{
    if (!t->s->setup.inspects || t->same)
        return 0;
    const struct sb__explain_limit limit = { sb_clock_monotonic() + PLANS_NS,
        false };

    return explain(t, &t->plans_after, limit, err);
}

static int ask_before(
    struct sb__sampler_target *t, bool first, bool last, struct sb_err *err)
{
    int rc;

    if (last)
        return 0;
    rc = inspect_before(t, first, err);
    if (rc == 0)
        rc = count_before(t, first, err);
    // With counters, their first sample does it.
    t->rebased.done = t->rebased.done || (rc == 0 && first && !t->s->samples);
    return rc;
}

static int ask_after(struct sb__sampler_target *t, struct sb_err *err)
{
    int rc = inspect_after(t, err);

    if (rc == 0)
        rc = count_after(t, err);
    return rc ? rc : explain_after(t, err);
}

// Without counters, a server is visited only to inspect it. Its connection is
// closed meanwhile, unless it is asked during the run.
static bool has_nothing_to_do(
    const struct sb__sampler_target *t, bool first, bool plans, bool last)
{
    return t->described && !t->s->samples && !first && !plans && !last &&
           !says_waiters(t);
}

// last: the run is over.
static void visit_target(struct sb__sampler_target *t, bool last)
{
    bool first = sb__sampler_is_base(t->s, &t->rebased, sb_clock_monotonic());
    bool plans = plans_are_due(t) && !last;
    struct sb_err err = { 0 };
    int rc = 0;

    if (sb__sampler_stopped(t->s) || has_nothing_to_do(t, first, plans, last))
        return;
    if (!sb__probe_connected(t->probe))
        rc = sb__probe_connect(t->probe, &err);
    if (rc == 0 && !t->described)
        rc = describe(t, &err);
    if (rc == 0)
        rc = ask_before(t, first, last, &err);
    sampler_tried(t);
    if (rc == 0 && !t->same && t->s->samples && !sb__sampler_stopped(t->s))
        rc = sample(t, first, &err);
    if (rc == 0)
        rc = inspect_waiters(t, first, &err);
    if (rc == 0)
        rc = plans ? explain_before(t, &err) : 0;
    if (rc == 0 && last)
        rc = ask_after(t, &err);
    if (rc)
        target_failed(t, &err);
    else if (!t->s->samples && !says_waiters(t))
        sb__probe_disconnect(t->probe); // it would be idle during the run
}

// Whether servers are asked before and after the run.
static bool asks(const struct sb_sampler *s)
{
    return s->setup.inspects || s->setup.statements;
}

static bool has_more_to_do(const struct sb__sampler_target *t)
{
    return !t->described || (!t->same && (t->s->samples || asks(t->s)));
}

// Even if intervals are long, the sample with which rates begin is taken in
// time.
static uint64_t latest(const struct sb__sampler_target *t, uint64_t last)
{
    return !t->settled && t->settled_at > last ? t->settled_at : UINT64_MAX;
}

static void last_is_done(struct sb__sampler_target *t)
{
    pthread_mutex_lock(&t->s->lock);
    assert(t->s->last && !t->last);
    t->last = true;
    pthread_cond_broadcast(&t->s->changed);
    pthread_mutex_unlock(&t->s->lock);
}

// A late server adds what a connection did when it closes it, a moment after
// the user has done so.
static void wait_for_server(const struct sb__sampler_target *t)
{
    if (least(t) > 0)
        nanosleep(&(struct timespec){ .tv_nsec = CLOSE_NS }, NULL);
}

void *sb__sampler_target_main(void *arg)
{
    struct sb__sampler_target *t = arg;
    uint64_t last;

    sb_locale_keep();
    do {
        bool due = last_is_due(t);

        if (due)
            wait_for_server(t);
        last = sb_clock_monotonic();
        visit_target(t, due);
        if (due)
            last_is_done(t);
    } while (has_more_to_do(t) &&
             sb__sampler_wait_next(t->s, t, last, latest(t, last)));
    sb__probe_disconnect(t->probe);
    sb__sampler_thread_ends(t->s);
    return NULL;
}

// The thread that samples what the sessions of a server wait for.

// From the end of a sample to the next one: MySQL's list of transactions is not
// renewed for 0.1 s after it was read.
#define WAITS_PAUSE_NS UINT64_C(101000000)
// After a failure.
#define WAITS_RETRY_NS UINT64_C(1000000000)

static bool is_own_session(void *arg, uint64_t session)
{
    struct sb_sampler *s = arg;
    bool own = false;

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->ntargets && !own; i++) {
        const struct sb__sampler_target *t = s->target[i];

        own = sb__probe_session(t->probe) == session ||
              (t->waits && sb__waits_sampler_session(t->waits) == session);
    }
    pthread_mutex_unlock(&s->lock);
    return own;
}

// Waits for the next sample. Returns false if the sampler is stopped.
static bool wait_for_waits(struct sb_sampler *s, uint64_t ns)
{
    uint64_t until = sb_clock_monotonic() + ns;

    pthread_mutex_lock(&s->lock);
    while (!s->stop && sb_clock_monotonic() < until)
        sb__sampler_wait_until(s, until);
    bool go = !s->stop;
    pthread_mutex_unlock(&s->lock);
    return go;
}

// Waits until it is known whether another target has the same sessions.
static bool has_own_sessions(struct sb__sampler_target *t)
{
    pthread_mutex_lock(&t->s->lock);
    while (!t->s->stop && !t->tried)
        pthread_cond_wait(&t->s->changed, &t->s->lock);
    bool own = !t->same && !t->s->stop;
    pthread_mutex_unlock(&t->s->lock);
    return own;
}

static void *waits_main(void *arg)
{
    struct sb__sampler_target *t = arg;
    struct sb_sampler *s = t->s;
    bool go = has_own_sessions(t), warned = false;

    sb_locale_keep();
    while (go) {
        struct sb_err err = { 0 };

        pthread_mutex_lock(&s->lock);
        uint64_t measured_at = s->measured_at;
        pthread_mutex_unlock(&s->lock);
        int rc = sb__waits_sampler_sample(t->waits, measured_at, &err);

        // Later failures are expected: the server may be restarted during the
        // run.
        if (rc && !warned && !sb__sampler_stopped(s))
            sb_log(SB_LOG_WARNING, "--server-waits: %s", err.msg);
        warned = warned || rc;
        go = rc != SB_EUNSUPPORTED &&
             wait_for_waits(s, rc ? WAITS_RETRY_NS : WAITS_PAUSE_NS);
    }
    sb__waits_sampler_disconnect(t->waits);
    sb__sampler_thread_ends(s);
    return NULL;
}

// The minimum time between two samples. With shorter intervals, some get no
// values.
#define PERIOD_MIN_NS UINT64_C(100000000)
// How long sb_sampler_stop() waits: for samples in progress, and after it has
// canceled them.
#define FINISH_NS UINT64_C(50000000)
#define CANCEL_NS UINT64_C(100000000)
#define STOP_NS   UINT64_C(1500000000)

// Finding servers ------------------------------------------------------------

static void target_free(struct sb__sampler_target *t)
{
    sb__probe_free(t->probe);
    sb__waits_sampler_free(t->waits);
    sb_inspected_done(&t->before);
    sb_inspected_done(&t->after);
    sb_plans_done(&t->plans_before);
    sb_plans_done(&t->plans_after);
    sb_statements_done(&t->counted);
    sb_statements_growth_done(&t->growth);
    sb_server_facts_done(&t->facts);
    free(t);
}

// Threads have the signal mask of their creator: signals are left to the thread
// that waits for them.
static bool start_thread(struct sb_sampler *s, pthread_t *thread, bool *started,
    void *(*main)(void *), void *arg)
{
    pthread_mutex_lock(&s->lock);
    s->running++;
    pthread_mutex_unlock(&s->lock);
    bool ok = pthread_create(thread, NULL, main, arg) == 0;
    pthread_mutex_lock(&s->lock);
    *started = ok;
    pthread_mutex_unlock(&s->lock);
    if (!ok)
        sb__sampler_thread_ends(s);
    return ok;
}

// What was seen of the server before the users connected.
static void take_first_look(struct sb_sampler *s, struct sb__sampler_target *t,
    const struct sb__inst *inst, uint64_t number)
{
    struct sb_first_look *first = s->setup.first;

    if (!first || first->inst != inst || number != 0)
        return;
    t->before = first->seen;
    t->counted = first->counted;
    first->seen = (struct sb_inspected){ 0 };
    first->counted = (struct sb_statements){ 0 };
}

static void make_waits(
    struct sb__sampler_target *t, struct sb__inst *inst, uint64_t number)
{
    struct sb_err err = { 0 };

    if (!t->s->setup.opts->waits)
        return;
    t->waits = sb__waits_sampler_new(
        t->s->setup.drivers, inst, number, is_own_session, t->s, &err);
    if (!t->waits)
        sb_log(SB_LOG_WARNING, "--server-waits: %s", err.msg);
}

static void add_target(
    struct sb_sampler *s, struct sb__inst *inst, uint64_t number)
{
    struct sb__sampler_target *t = calloc(1, sizeof(*t));
    struct sb_err err = { 0 };

    if (!t)
        return;
    t->s = s;
    t->probe = sb__probe_new(inst, number, &err);
    if (!t->probe) {
        sb_log(SB_LOG_DEBUG, "server statistics: %s", err.msg);
        free(t);
        return;
    }
    sb__probe_client(t->probe, &t->facts);
    take_first_look(s, t, inst, number);
    make_waits(t, inst, number);
    pthread_mutex_lock(&s->lock);
    assert(s->ntargets < TARGETS_MAX);
    s->target[s->ntargets++] = t;
    pthread_mutex_unlock(&s->lock);
    if (!start_thread(
            s, &t->thread, &t->has_thread, sb__sampler_target_main, t))
        sampler_tried(t);
    if (t->waits)
        start_thread(s, &t->waits_thread, &t->has_waits_thread, waits_main, t);
}

static void find_insts(struct sb_sampler *s)
{
    s->ninsts += sb__insts_used(
        s->setup.drivers, s->inst, s->ninsts, TARGETS_MAX);
}

static void find_targets(struct sb_sampler *s)
{
    find_insts(s);
    for (; s->searched_insts < s->ninsts; s->searched_insts++) {
        struct sb__inst *inst = s->inst[s->searched_insts];
        uint64_t n = sb__probe_servers(inst);

        for (uint64_t k = 0; k < n && s->ntargets < TARGETS_MAX; k++)
            add_target(s, inst, k);
    }
}

// The process of --server-pid -------------------------------------------------

static void take_process(void *arg, const struct sb_counter *c)
{
    struct sb_sampler *s = arg;

    pthread_mutex_lock(&s->lock);
    sb__picks_found(&s->setup.opts->stats, c->name, s->found);
    sb__counters_put(&s->table, c, "", sb_clock_monotonic(), 0,
        s->base ? SB__BASE_GROWTH : 0);
    pthread_mutex_unlock(&s->lock);
}

static void sample_process(struct sb_sampler *s)
{
    const struct sb__sampler_target *t;
    char address[sizeof(t->facts.server.address)] = "";

    s->base = sb__sampler_is_base(s, &s->rebased, sb_clock_monotonic());
    pthread_mutex_lock(&s->lock);
    t = sb__sampler_first(s);
    if (t)
        memcpy(address, t->facts.server.address, sizeof(address));
    pthread_mutex_unlock(&s->lock);
    sb__process_find(&s->process, address);
    sb__process_sample(&s->process, take_process, s);
    s->rebased.done = s->rebased.done || s->base;
}

static void note_search(struct sb_sampler *s)
{
    pthread_mutex_lock(&s->lock);
    s->searched = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void *finder_main(void *arg)
{
    struct sb_sampler *s = arg;
    uint64_t last;

    sb_locale_keep();
    do {
        last = sb_clock_monotonic();
        find_targets(s);
        note_search(s);
        sample_process(s);
    } while (sb__sampler_wait_next(s, NULL, last, UINT64_MAX));
    sb__sampler_thread_ends(s);
    return NULL;
}

// Interface ------------------------------------------------------------------

bool sb_sampler_samples(const struct sb_sampler_opts *o, bool wanted)
{
    int picks = sb__picks_check(&o->stats, NULL);

    return picks == SB__PICK_SOME || (picks == SB__PICK_AUTO && wanted);
}

static struct sb_sampler *sampler_new(const struct sb_sampler_setup *setup)
{
    struct sb_sampler *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->found = calloc(setup->opts->stats.count + 1, sizeof(*s->found));
    if (!s->found || sb_lock_init(&s->lock, &s->changed)) {
        free(s->found);
        free(s);
        return NULL;
    }
    s->setup = *setup;
    s->samples = sb_sampler_samples(setup->opts, setup->wanted);
    s->period = setup->interval > PERIOD_MIN_NS ? setup->interval
                                                : PERIOD_MIN_NS;
    s->phase = s->started = sb_clock_monotonic();
    s->measured_at = s->plans_at = UINT64_MAX;
    return s;
}

static void sampler_free(struct sb_sampler *s)
{
    assert(s->running == 0);
    for (size_t i = 0; i < s->ntargets; i++)
        target_free(s->target[i]);
    for (size_t i = 0; i < s->ninsts; i++)
        sb__inst_put(s->inst[i]);
    sb__counters_done(&s->table);
    free(s->found);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

struct sb_sampler *sb_sampler_start(
    const struct sb_sampler_setup *setup, struct sb_err *err)
{
    struct sb_sampler *s = sampler_new(setup);
    bool started;

    if (!s) {
        sb_err_set(err, SB_ENOMEM, "out of memory");
        return NULL;
    }
    if (sb__process_init(&s->process, setup->opts->pid, err)) {
        sampler_free(s);
        return NULL;
    }
    // A run may end, and with it the use of an instance, before the thread
    // looks.
    find_insts(s);
    if (!start_thread(s, &s->finder, &started, finder_main, s)) {
        sb_err_set(err, SB_ESYS, "cannot start a thread for server statistics");
        sampler_free(s);
        return NULL;
    }
    return s;
}

// Sets the time of the next samples. The lock is held.
static void set_phase(struct sb_sampler *s, uint64_t end)
{
    // Shorter intervals would move the samples closer together.
    if (s->period != s->setup.interval)
        return;
    s->phase = end;
    pthread_cond_broadcast(&s->changed);
}

void sb_sampler_rebase(struct sb_sampler *s, uint64_t at)
{
    uint64_t time = sb_clock_monotonic();
    bool now = at <= time;

    pthread_mutex_lock(&s->lock);
    s->measured_at = at;
    s->plans_at = now ? UINT64_MAX : at - earlier((at - time) / 2, PLANS_NS);
    if (now)
        set_phase(s, at);
    for (size_t i = 0; now && i < s->table.n; i++)
        sb__counters_use(&s->table, i);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void sb_sampler_interval(struct sb_sampler *s, uint64_t end,
    void (*visit)(void *arg, unsigned index, const struct sb_server_value *v),
    void *arg)
{
    uint64_t interval = s->setup.interval;
    uint64_t oldest = end > interval ? end - interval : 0;

    pthread_mutex_lock(&s->lock);
    set_phase(s, end);
    for (size_t i = 0; i < s->table.n; i++) {
        struct sb_server_value v;

        sb__counters_get(&s->table, i, oldest, &v);
        v.has_value = v.has_value && sb__counters_use(&s->table, i);
        if (visit)
            visit(arg, (unsigned)i, &v);
    }
    pthread_mutex_unlock(&s->lock);
}

// The lock is held.
static bool has_last(const struct sb_sampler *s)
{
    bool all = true;

    for (size_t i = 0; i < s->ntargets; i++) {
        const struct sb__sampler_target *t = s->target[i];

        all = all && (t->last || t->same ||
                         (t->tried && t->samples == 0 && !t->before.asked &&
                             !t->counted.asked));
    }
    return all;
}

void sb_sampler_last(struct sb_sampler *s, uint64_t ns)
{
    uint64_t until = sb_clock_monotonic() + ns;

    if (!s->samples && !asks(s))
        return;
    pthread_mutex_lock(&s->lock);
    s->last = true;
    pthread_cond_broadcast(&s->changed);
    while (!has_last(s) && sb_clock_monotonic() < until)
        sb__sampler_wait_until(s, until);
    pthread_mutex_unlock(&s->lock);
}

void sb_sampler_totals(struct sb_sampler *s,
    void (*visit)(void *arg, const char *name, double growth), void *arg)
{
    const char *name;
    double growth;

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->table.n; i++) {
        if (sb__counters_growth(&s->table, i, &name, &growth))
            visit(arg, name, growth);
    }
    pthread_mutex_unlock(&s->lock);
}

void sb_sampler_servers(struct sb_sampler *s,
    void (*visit)(void *arg, const struct sb_server_facts *f), void *arg)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->ntargets; i++) {
        bool first = true;

        for (size_t k = 0; k < i && first; k++)
            first = !sb__sampler_same(
                &s->target[k]->facts, &s->target[i]->facts);
        if (first)
            visit(arg, &s->target[i]->facts);
    }
    pthread_mutex_unlock(&s->lock);
}

struct sb_inspection *sb_sampler_inspections(struct sb_sampler *s, unsigned *n)
{
    struct sb_inspection *all;

    *n = 0;
    pthread_mutex_lock(&s->lock);
    all = calloc(s->ntargets + 1, sizeof(*all));
    for (size_t i = 0; all && i < s->ntargets; i++) {
        struct sb__sampler_target *t = s->target[i];
        const struct sb_driver *drv = sb__probe_driver(t->probe);
        struct sb_inspection *one = &all[*n];

        if (t->same)
            continue;
        *one = (struct sb_inspection){ .documents = t->facts.documents,
            .embedded = (drv->caps & SB_CAP_EMBEDDED) != 0,
            .late_ns = t->facts.totals_late_ns,
            .before = t->before,
            .after = t->after,
            .looks = t->looks,
            .waiters = t->waiters,
            .plans_before = t->plans_before,
            .plans_after = t->plans_after };
        snprintf(one->driver, sizeof(one->driver), "%s", drv->name);
        snprintf(
            one->address, sizeof(one->address), "%s", t->facts.server.address);
        t->before = t->after = (struct sb_inspected){ 0 };
        t->plans_before = t->plans_after = (struct sb_plans){ 0 };
        ++*n;
    }
    pthread_mutex_unlock(&s->lock);
    return all;
}

void sb_inspection_done(struct sb_inspection *i)
{
    sb_inspected_done(&i->before);
    sb_inspected_done(&i->after);
    sb_plans_done(&i->plans_before);
    sb_plans_done(&i->plans_after);
}

void sb_sampler_waits_interval(struct sb_sampler *s,
    void (*visit)(void *arg, const char *name, double sessions), void *arg)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->ntargets; i++) {
        const struct sb__sampler_target *t = s->target[i];

        if (t->waits)
            sb__waits_sampler_interval(t->waits, t->suffix, visit, arg);
    }
    pthread_mutex_unlock(&s->lock);
}

struct sb_server_waits *sb_sampler_waits(
    struct sb_sampler *s, uint64_t end, unsigned *n)
{
    struct sb_server_waits *all;

    *n = 0;
    pthread_mutex_lock(&s->lock);
    all = calloc(s->ntargets + 1, sizeof(*all));
    for (size_t i = 0; all && i < s->ntargets; i++) {
        const struct sb__sampler_target *t = s->target[i];
        struct sb_server_waits *one = &all[*n];

        if (!t->waits || t->same)
            continue;
        // A thread that could not be ended may still take a sample.
        sb__waits_sampler_finish(t->waits, s->measured_at, end, s->joined, one);
        memcpy(one->address, t->facts.server.address, sizeof(one->address));
        ++*n;
    }
    pthread_mutex_unlock(&s->lock);
    return all;
}

struct sb_sampler_growth *sb_sampler_statements(
    struct sb_sampler *s, unsigned *n)
{
    struct sb_sampler_growth *all;

    *n = 0;
    pthread_mutex_lock(&s->lock);
    all = calloc(s->ntargets + 1, sizeof(*all));
    for (size_t i = 0; all && i < s->ntargets; i++) {
        struct sb__sampler_target *t = s->target[i];
        struct sb_sampler_growth *one = &all[*n];

        if (t->same)
            continue;
        *one = (struct sb_sampler_growth){
            .late_s = (double)t->counted_late / 1e9, .growth = t->growth
        };
        if (!one->growth.asked)
            snprintf(one->growth.why, sizeof(one->growth.why), "%s",
                t->counted.why[0] ? t->counted.why
                                  : "the server did not answer");
        snprintf(one->driver, sizeof(one->driver), "%s",
            sb__probe_driver(t->probe)->name);
        snprintf(
            one->address, sizeof(one->address), "%s", t->facts.server.address);
        t->growth = (struct sb_statements_growth){ 0 };
        ++*n;
    }
    pthread_mutex_unlock(&s->lock);
    return all;
}

// The lock is held.
static bool all_tried(const struct sb_sampler *s)
{
    bool all = s->searched;

    for (size_t i = 0; i < s->ntargets; i++)
        all = all && s->target[i]->tried;
    return all;
}

void sb_sampler_wait(struct sb_sampler *s, uint64_t ns)
{
    uint64_t until = sb_clock_monotonic() + ns;

    pthread_mutex_lock(&s->lock);
    while (!all_tried(s) && sb_clock_monotonic() < until)
        sb__sampler_wait_until(s, until);
    pthread_mutex_unlock(&s->lock);
}

// Waits until no thread runs. Returns whether that is so.
static bool wait_threads(struct sb_sampler *s, uint64_t until)
{
    while (s->running > 0 && sb_clock_monotonic() < until)
        sb__sampler_wait_until(s, until);
    return s->running == 0;
}

// Not called with the lock, because it may take a while.
static void cancel_all(struct sb_sampler *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sb__probe_cancel(s->target[i]->probe);
        if (s->target[i]->waits)
            sb__waits_sampler_cancel(s->target[i]->waits);
    }
}

static void join_all(struct sb_sampler *s)
{
    pthread_join(s->finder, NULL);
    for (size_t i = 0; i < s->ntargets; i++) {
        if (s->target[i]->has_thread)
            pthread_join(s->target[i]->thread, NULL);
        if (s->target[i]->has_waits_thread)
            pthread_join(s->target[i]->waits_thread, NULL);
    }
}

// Threads that cannot be ended free what they use of the system by themselves.
static void detach_all(struct sb_sampler *s)
{
    pthread_mutex_lock(&s->lock);
    pthread_detach(s->finder);
    for (size_t i = 0; i < s->ntargets; i++) {
        if (s->target[i]->has_thread)
            pthread_detach(s->target[i]->thread);
        if (s->target[i]->has_waits_thread)
            pthread_detach(s->target[i]->waits_thread);
    }
    pthread_mutex_unlock(&s->lock);
}

bool sb_sampler_stop(struct sb_sampler *s)
{
    uint64_t start = sb_clock_monotonic(), wait = FINISH_NS;
    bool ended;

    pthread_mutex_lock(&s->lock);
    if (s->joined || s->left) {
        pthread_mutex_unlock(&s->lock);
        return s->joined;
    }
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    while (!(ended = wait_threads(s, sb_clock_monotonic() + wait)) &&
           sb_clock_monotonic() - start < STOP_NS) {
        size_t n = s->ntargets;

        pthread_mutex_unlock(&s->lock);
        cancel_all(s, n);
        pthread_mutex_lock(&s->lock);
        wait = CANCEL_NS;
    }
    pthread_mutex_unlock(&s->lock);
    if (ended)
        join_all(s);
    else
        detach_all(s);
    s->joined = ended;
    s->left = !ended;
    sb__sampler_check_found(s, 0); // of a run without a second sample
    return ended;
}

void sb_sampler_free(struct sb_sampler *s)
{
    if (s && sb_sampler_stop(s))
        sampler_free(s);
}
