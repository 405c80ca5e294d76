// SPDX-License-Identifier: GPL-2.0-or-later
//
// Samples how busy this process and its machine are, for result files and for
// the notice that the client was the bottleneck.
#include "app.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/procstat.h"

// Shorter runs say nothing about saturation.
#define SECONDS_MIN 1.0

static void take(struct sb_client_sample *s)
{
    struct sb_proc_self self;
    struct sb_proc_machine machine;

    *s = (struct sb_client_sample){ .ns = sb_clock_monotonic() };
    if (sb_procstat_self(&self, NULL) == 0) {
        s->cpu_ns = self.cpu_ns;
        s->run_ns = self.run_ns;
        s->wait_ns = self.wait_ns;
        s->has_wait = self.has_wait;
    }
    if (sb_procstat_machine(&machine, NULL) == 0) {
        s->busy_ns = machine.busy * sb_procstat_tick_ns();
        s->has_machine = true;
    }
}

void sb_app_client_start(struct sb_app *a)
{
    take(&a->client.start);
    a->client.last = a->client.start;
    a->client.with_users = a->client.start;
}

void sb_app_client_interval(
    struct sb_app *a, const struct sb_report *r, struct sb_series *row)
{
    struct sb_client_sample now;
    struct sb_client_usage u;

    take(&now);
    sb_client_usage(&a->client.last, &now, &u);
    if (row) {
        sb_series_set(row, "client", "cpu", "value", "processors", u.cpu);
        sb_series_set(row, "client", "wait", "value", "", u.wait);
        sb_series_set(
            row, "client", "machine", "value", "processors", u.machine);
    }
    a->client.last = now;
    // The threads of users have ended when the rest of a run is reported.
    if (!r->partial)
        a->client.with_users = now;
    if (r->warmup)
        a->client.start = now;
}

void sb_app_client_final(struct sb_app *a, const struct sb_report *r)
{
    struct sb_client_sample now;
    struct sb_client_usage u, waiting;
    char why[200];

    // A database inside this process is what was measured.
    if (!sb_drivers_used_server(a->drivers) || r->total_s < SECONDS_MIN ||
        r->warmup)
        return;
    take(&now);
    sb_client_usage(&a->client.start, &now, &u);
    sb_client_usage(&a->client.start, &a->client.with_users, &waiting);
    u.wait = waiting.wait;
    if (sb_client_is_bottleneck(
            &u, &a->facts.host, (unsigned)a->run.threads, why, sizeof(why)))
        sb_log(SB_LOG_WARNING,
            "the client was the bottleneck: %s; the figures show this machine "
            "rather than the server",
            why);
}
