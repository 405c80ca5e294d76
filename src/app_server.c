// SPDX-License-Identifier: GPL-2.0-or-later
//
// The servers of a run: starts and stops the sampler, and logs for debugging
// what it returns.
#include "app.h"
#include "base/clock.h"
#include "base/log.h"

#define DEFAULT_INTERVAL INT64_C(1000000000)

static bool debugging(void)
{
    return sb_log_level() >= SB_LOG_DEBUG;
}

void sb_app_server_start(struct sb_app *a)
{
    const struct sb_sampler_setup setup = {
        .drivers = a->drivers,
        .opts = &a->sampler_opts,
        .wanted = false,
        .interval = (uint64_t)(a->run.report_interval ? a->run.report_interval
                                                      : DEFAULT_INTERVAL),
    };
    struct sb_err err = { 0 };

    if (!sb_sampler_samples(setup.opts, setup.wanted) && !debugging())
        return;
    a->sampler = sb_sampler_start(&setup, &err);
    if (!a->sampler)
        sb_log(SB_LOG_WARNING, "%s", err.msg);
}

static void log_value(
    void *arg, unsigned index, const struct sb_server_value *v)
{
    (void)arg;
    if (v->has_value)
        sb_log_each(SB_LOG_DEBUG, "server counter %u: %s %.6g %s (%.6f s)",
            index, v->name, v->value, v->unit, (double)(v->to - v->from) / 1e9);
    else
        sb_log_each(
            SB_LOG_DEBUG, "server counter %u: %s has no value", index, v->name);
}

void sb_app_server_interval(struct sb_app *a)
{
    uint64_t now = sb_clock_monotonic();

    if (!a->sampler)
        return;
    sb_sampler_align(a->sampler, now);
    if (debugging())
        sb_sampler_read(a->sampler, now, log_value, NULL);
}

static void log_server(void *arg, const struct sb_server_facts *f)
{
    (void)arg;
    sb_log_each(SB_LOG_DEBUG, "server: %s, %s, %s, %s, bypass %s", f->driver,
        f->client, f->server.name, f->server.address,
        f->server.bypass ? "yes" : "no");
    for (size_t i = 0; i < f->nsettings; i++)
        sb_log_each(SB_LOG_DEBUG, "server setting: %s = %s", f->setting[i].name,
            f->setting[i].value);
}

void sb_app_server_stop(struct sb_app *a)
{
    if (!a->sampler)
        return;
    if (!sb_sampler_stop(a->sampler))
        a->leave = true;
    if (debugging())
        sb_sampler_servers(a->sampler, log_server, NULL);
    sb_sampler_free(a->sampler);
    a->sampler = NULL;
}
