// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/client.h"

#include <math.h>
#include <stdio.h>

// Shares from which a processor, or a thread, counts as saturated, and from
// which waiting for a processor does.
#define SATURATED 0.9
#define WAITING   0.2

static double growth(uint64_t from, uint64_t to)
{
    return to >= from ? (double)(to - from) : NAN;
}

void sb_client_usage(const struct sb_client_sample *from,
    const struct sb_client_sample *to, struct sb_client_usage *out)
{
    double ns = growth(from->ns, to->ns);
    // The sums shrink when a thread ends.
    double run = growth(from->run_ns, to->run_ns);
    double wait = growth(from->wait_ns, to->wait_ns);

    *out = (struct sb_client_usage){ NAN, NAN, NAN };
    if (!(ns > 0))
        return;
    out->cpu = growth(from->cpu_ns, to->cpu_ns) / ns;
    if (from->has_wait && to->has_wait && run + wait > 0)
        out->wait = wait / (run + wait);
    if (from->has_machine && to->has_machine)
        out->machine = growth(from->busy_ns, to->busy_ns) / ns;
}

double sb_client_processors(const struct sb_host_facts *host)
{
    double n = host->processors > 0 ? host->processors : 1;

    return host->container_cpus > 0 ? fmin(n, host->container_cpus) : n;
}

static size_t add(char *why, size_t size, size_t at, const char *text)
{
    int n = at < size ? snprintf(why + at, size - at, "%s", text) : 0;

    return at + (size_t)(n > 0 ? n : 0);
}

bool sb_client_is_bottleneck(const struct sb_client_usage *u,
    const struct sb_host_facts *host, unsigned threads, char *why, size_t size)
{
    double processors = sb_client_processors(host);
    bool own = u->cpu >= SATURATED * processors;
    bool each = threads < processors && u->cpu >= SATURATED * threads;
    bool starved = u->wait >= WAITING &&
                   u->machine >= SATURATED * host->processors;
    char text[160];
    size_t at = 0;

    if (!own && !each && !starved)
        return false;
    if (each && !own)
        snprintf(text, sizeof(text), "its %u thread%s used %.2f processors",
            threads, threads == 1 ? "" : "s", u->cpu);
    else
        snprintf(text, sizeof(text), "it used %.2f of %.4g processors", u->cpu,
            processors);
    at = add(why, size, at, text);
    if (u->wait >= WAITING) {
        snprintf(text, sizeof(text),
            ", and its threads waited for a processor %.0f %% of their time",
            100 * u->wait);
        add(why, size, at, text);
    }
    return true;
}
