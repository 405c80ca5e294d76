// SPDX-License-Identifier: GPL-2.0-or-later
//
// Samples how busy this process and its machine are, for result files and for
// the notice that the client was the bottleneck.
#include <assert.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "app/private.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/procstat.h"

// Shorter runs do not show saturation.
#define SECONDS_MIN 1.0

static void take_sample(struct sb_client_sample *s)
{
    struct sb_proc_self self;
    struct sb_proc_machine machine;

    *s = (struct sb_client_sample){ .ns = sb_clock_monotonic() };
    if (sb_procstat_self(&self, NULL) == 0) {
        s->cpu_ns = self.cpu_ns;
        s->run_ns = self.run_ns;
        s->wait_ns = self.wait_ns;
        s->threads = self.has_wait ? self.threads : 0;
    }
    if (sb_procstat_machine(&machine, NULL) == 0) {
        s->busy_ns = machine.busy * sb_procstat_tick_ns();
        s->processors = machine.processors;
    }
}

void sb_app_client_start(struct sb_app *a)
{
    // There may have been an earlier run.
    memset(&a->client, 0, sizeof(a->client));
    take_sample(&a->client.last);
    a->client.machine = a->client.last;
    // Users have their connections now, or create them in each event.
    sb_peers_look(&a->client.seen, a->client.last.ns);
}

// Short intervals have no value; the next one includes them.
static double machine(struct sb_app *a)
{
    const struct sb_client_sample *to = &a->client.last;
    double used = sb_client_machine(
        &a->client.machine, to, sb_procstat_tick_ns());

    if (!isnan(used))
        a->client.machine = *to;
    return used;
}

void sb_app_client_interval(
    struct sb_app *a, const struct sb_report *r, struct sb_series *row)
{
    const struct sb_client_sample last = a->client.last;
    struct sb_client_sum sum = { 0 };
    struct sb_client_usage u;

    // Neither a file nor the notice needs it.
    if (!row && !sb_drivers_used_server(a->drivers))
        return;
    take_sample(&a->client.last);
    if (sb_drivers_used_server(a->drivers))
        sb_peers_look(&a->client.seen, a->client.last.ns);
    bool steady = sb_client_add(&sum, &last, &a->client.last);
    sb_client_usage(&sum, &u);
    if (row) {
        sb_series_set(row, "client", "cpu", "value", "processors", u.cpu);
        sb_series_set(row, "client", "wait", "value", "", u.wait);
        sb_series_set(
            row, "client", "machine", "value", "processors", machine(a));
    }
    if (r->warmup)
        return;
    sb_client_add(&a->client.whole, &last, &a->client.last);
    if (steady)
        sb_client_add(&a->client.steady, &last, &a->client.last);
}

// The time in which the waiting of threads is known, if that is most of it.
static const struct sb_client_sum *measured(const struct sb_app *a)
{
    return 2 * a->client.steady.ns >= a->client.whole.ns ? &a->client.steady
                                                         : &a->client.whole;
}

// Whether users, or their workers, use processors while they wait for times.
static bool waits_busily(const struct sb_app *a, unsigned workers)
{
    if (a->facts.open_loop && a->run.pace == SB_PACE_SPIN)
        return true;
    return workers > 0 && a->run.pace != SB_PACE_SLEEP &&
           (a->facts.open_loop || a->run.think_time[0]);
}

void sb_app_client_final(struct sb_app *a, const struct sb_report *r)
{
    unsigned workers = sb__app_workers(a);
    const struct sb_client_limits limits = {
        .processors = sb_host_processors(&a->facts.host),
        .machine = a->client.last.processors,
        .threads = workers > 0 ? workers : (unsigned)a->run.share.users,
        .loops = workers > 0,
        .remote_server = a->client.seen.peers == SB_PEERS_REMOTE,
    };
    const struct sb_counters *c = &r->whole->c;
    const struct sb_client_delays delays = { c->client_delays,
        c->client_delay_ns, c->service_ns };
    struct sb_client_usage u;
    char why[200];

    assert(r->final);
    // A database inside this process is what was measured.
    if (!sb_drivers_used_server(a->drivers) || r->warmup ||
        r->total_s < SECONDS_MIN)
        return;
    sb_client_usage(measured(a), &u);
    if ((!waits_busily(a, workers) &&
            sb_client_is_bottleneck(&u, &limits, why, sizeof(why))) ||
        sb_client_delays_matter(&delays, &u, &limits, why, sizeof(why)))
        sb_log(SB_LOG_WARNING,
            "the client was the bottleneck, not the server: %s", why);
}
