// SPDX-License-Identifier: GPL-2.0-or-later
//
// One server of the sampler: its facts, the names of its counters, its samples.
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/log.h"
#include "db/sampler_private.h"
#include "kit/locale.h"

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

void sb__sampler_tried(struct sb__sampler_target *t)
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
    t->tried = t->described = true;
    pthread_cond_broadcast(&t->s->changed);
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

// The time after which a late server has added what the users do, and the
// minimum time of a rate: a little less than the delay, because the users begin
// together, when the sampler does, and samples are as regular as the additions.
static uint64_t least(const struct sb__sampler_target *t)
{
    return sb__probe_driver(t->probe)->info->counters_delay / 10 * 9;
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
    sb__counters_put_late(
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
    // A sample before or at the time at which the server has settled.
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

static void visit_target(struct sb__sampler_target *t)
{
    bool first = sb__sampler_is_base(t->s, &t->rebased, sb_clock_monotonic());
    struct sb_err err = { 0 };
    int rc = 0;

    if (sb__sampler_stopped(t->s))
        return;
    if (!sb__probe_connected(t->probe))
        rc = sb__probe_connect(t->probe, &err);
    if (rc == 0 && !t->described)
        rc = describe(t, &err);
    if (rc == 0 && !t->same && t->s->samples && !sb__sampler_stopped(t->s))
        rc = sample(t, first, &err);
    if (rc)
        target_failed(t, &err);
    sb__sampler_tried(t);
}

static bool has_more_to_do(const struct sb__sampler_target *t)
{
    return !t->described || (!t->same && t->s->samples);
}

// The base of rates is sampled in time also if intervals are long.
static uint64_t latest(const struct sb__sampler_target *t, uint64_t last)
{
    return !t->settled && t->settled_at > last ? t->settled_at : UINT64_MAX;
}

static bool last_is_due(struct sb__sampler_target *t)
{
    pthread_mutex_lock(&t->s->lock);
    bool due = t->s->last && !t->last;
    pthread_mutex_unlock(&t->s->lock);
    return due;
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
        visit_target(t);
        if (due)
            last_is_done(t);
    } while (has_more_to_do(t) &&
             sb__sampler_wait_next(t->s, t, last, latest(t, last)));
    sb__probe_disconnect(t->probe);
    sb__sampler_thread_ends(t->s);
    return NULL;
}
