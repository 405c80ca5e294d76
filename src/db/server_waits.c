// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/server_waits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "db/probe.h"
#include "db/texts.h"

#define BETWEEN "(between statements)"
#define UNKNOWN "(unknown)"

struct sb__waits_sampler {
    struct sb_drivers *drivers;
    struct sb__probe *probe; // used by the thread that takes samples, except to
                             // cancel
    bool (*is_own)(void *arg, uint64_t session);
    void *arg;
    bool sampled;         // used by the same thread
    pthread_mutex_t lock; // protects what follows
    struct sb_waits *samples;
    uint64_t since; // when the measured part began that they belong to
    char note[400], why[200];
};

void sb_server_waits_done(struct sb_server_waits *w)
{
    sb_waits_figures_done(&w->figures);
    sb_waits_free(w->samples);
    *w = (struct sb_server_waits){ 0 };
}

struct sb__waits_sampler *sb__waits_sampler_new(struct sb_drivers *drivers,
    struct sb__inst *inst, uint64_t number,
    bool (*is_own)(void *arg, uint64_t session), void *arg, struct sb_err *err)
{
    struct sb__waits_sampler *w = calloc(1, sizeof(*w));
    struct sb_waits *samples = w ? sb_waits_new() : NULL;

    if (!samples) {
        free(w);
        sb_err_no_memory(err);
        return NULL;
    }
    *w = (struct sb__waits_sampler){
        .drivers = drivers, .is_own = is_own, .arg = arg, .samples = samples
    };
    pthread_mutex_init(&w->lock, NULL);
    w->probe = sb__probe_new(inst, number, err);
    if (w->probe)
        return w;
    sb__waits_sampler_free(w);
    return NULL;
}

void sb__waits_sampler_free(struct sb__waits_sampler *w)
{
    if (!w)
        return;
    sb__probe_free(w->probe);
    sb_waits_free(w->samples);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

// Samples ---------------------------------------------------------------------

// The operation that a session executes.
static const char *operation_of(
    const struct sb__waits_sampler *w, const struct sb_activity *a)
{
    const struct sb_driver *drv = sb__probe_driver(w->probe);
    const char *found;

    if (!a->text)
        return BETWEEN;
    if (drv->caps & SB_CAP_NO_SQL)
        return a->len > 0 ? a->text : UNKNOWN;
    found = a->len > 0
                ? sb_drivers_operation(w->drivers, drv->name, a->text, a->len)
                : NULL;
    return found ? found : UNKNOWN;
}

static int take_session(void *arg, const struct sb_activity *a)
{
    struct sb__waits_sampler *w = arg;

    if (a->session && w->is_own(w->arg, a->session))
        return 0;
    const char *operation = operation_of(w, a);

    pthread_mutex_lock(&w->lock);
    sb_waits_seen(w->samples, a->wait_class, a->event, operation);
    pthread_mutex_unlock(&w->lock);
    return 0;
}

static void take_note(void *arg, const char *text)
{
    struct sb__waits_sampler *w = arg;
    size_t used = strlen(w->note);

    pthread_mutex_lock(&w->lock);
    if (!strstr(w->note, text))
        snprintf(w->note + used, sizeof(w->note) - used, "%s%s",
            used ? "; " : "", text);
    pthread_mutex_unlock(&w->lock);
}

// The measured part began. The lock is held.
static void restart(struct sb__waits_sampler *w, uint64_t at)
{
    if (w->since != at)
        sb_waits_restart(w->samples, at);
    w->since = at;
}

int sb__waits_sampler_sample(
    struct sb__waits_sampler *w, uint64_t measured_at, struct sb_err *err)
{
    const struct sb_activity_sink sink = {
        .arg = w, .session = take_session, .note = take_note
    };
    int rc = sb__probe_connected(w->probe) ? 0
                                           : sb__probe_connect(w->probe, err);
    uint64_t begin = sb_clock_monotonic(), at;

    if (rc == 0)
        rc = sb__probe_activity(w->probe, &sink, err);
    at = begin + (sb_clock_monotonic() - begin) / 2;
    if (rc)
        sb__probe_disconnect(w->probe);
    w->sampled = w->sampled || rc == 0;
    pthread_mutex_lock(&w->lock);
    if (rc)
        sb_waits_drop(w->samples);
    if (rc == 0 && at >= measured_at)
        restart(w, measured_at);
    if (rc == 0)
        sb_waits_end(w->samples, at);
    // A call is canceled when there are to be no more samples.
    if (rc != SB_ECANCELED)
        snprintf(w->why, sizeof(w->why), "%.190s", rc ? err->msg : "");
    pthread_mutex_unlock(&w->lock);
    return rc == SB_EUNSUPPORTED && w->sampled ? SB_EQUERY : rc;
}

void sb__waits_sampler_disconnect(struct sb__waits_sampler *w)
{
    sb__probe_disconnect(w->probe);
}

uint64_t sb__waits_sampler_session(const struct sb__waits_sampler *w)
{
    return sb__probe_session(w->probe);
}

void sb__waits_sampler_cancel(struct sb__waits_sampler *w)
{
    sb__probe_cancel(w->probe);
}

// Figures ---------------------------------------------------------------------

struct visitor {
    const char *suffix;
    void (*visit)(void *arg, const char *name, double sessions);
    void *arg;
};

static void visit_class(void *arg, const char *wait_class, double sessions)
{
    const struct visitor *v = arg;
    char name[500];

    snprintf(name, sizeof(name), "%s%s", wait_class, v->suffix);
    v->visit(v->arg, name, sessions);
}

void sb__waits_sampler_interval(struct sb__waits_sampler *w, const char *suffix,
    void (*visit)(void *arg, const char *name, double sessions), void *arg)
{
    struct visitor v = { suffix, visit, arg };

    pthread_mutex_lock(&w->lock);
    sb_waits_interval(w->samples, visit_class, &v);
    pthread_mutex_unlock(&w->lock);
}

void sb__waits_sampler_finish(struct sb__waits_sampler *w, uint64_t measured_at,
    uint64_t end, bool take, struct sb_server_waits *out)
{
    *out = (struct sb_server_waits){ 0 };
    pthread_mutex_lock(&w->lock);
    if (measured_at <= end)
        restart(w, measured_at);
    sb_waits_finish(w->samples, end);
    memcpy(out->note, w->note, sizeof(out->note));
    if (!sb_waits_figures(w->samples, &out->figures))
        snprintf(out->why, sizeof(out->why), "out of memory");
    else if (out->figures.samples == 0)
        snprintf(out->why, sizeof(out->why), "%s",
            w->why[0] ? w->why
                      : "the measured part was over before the first sample");
    if (take) {
        out->samples = w->samples;
        w->samples = NULL;
    }
    pthread_mutex_unlock(&w->lock);
}
