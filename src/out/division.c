// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/division.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "measure/erlang.h"

// A smaller share of the mean response time does not change what a run says:
// means of two runs of the same thing differ by as much.
#define MATTERS 0.05

// Sums over ranks, weighted by their events.
struct sums {
    double events, users, response, lag, service, wait;
};

static bool add_rank(struct sums *s, const struct sb_rank_figures *f)
{
    double n = (double)f->events;

    if (f->lost)
        return false;
    s->users += f->users;
    if (f->events == 0)
        return true;
    s->events += n;
    s->response += n * f->mean;
    s->lag += n * f->lag;
    s->service += n * f->service;
    s->wait += n * f->service * sb_erlang_c_wait(f->users, f->load);
    return true;
}

bool sb_division_of(
    struct sb_division *d, const struct sb_rank_figures *f, unsigned n)
{
    struct sums s = { 0 };
    double load = 0;

    for (unsigned i = 0; i < n; i++) {
        if (!add_rank(&s, &f[i]))
            return false;
        load += f[i].load;
    }
    if (n < 2 || s.events == 0 || load <= 0 || load >= s.users)
        return false;
    *d = (struct sb_division){ .ranks = n,
        .load = load,
        .response = s.response / s.events,
        .lag = s.lag / s.events,
        .wait = s.wait / s.events };
    d->wait_undivided = s.service / s.events *
                        sb_erlang_c_wait((unsigned)s.users, load);
    // If arrivals or service times are regular, the measured lag is less than
    // the wait of the formula. The formula then only gives the share of the
    // measured lag that the division causes.
    if (d->wait > d->wait_undivided)
        d->cost = fmin(d->wait, d->lag) * (1 - d->wait_undivided / d->wait);
    return true;
}

static double ms(double ns)
{
    return ns / 1e6;
}

bool sb_division_matters(const struct sb_division *d, char *why, size_t size)
{
    char wait[64] = "one has more load than users";

    if (!(d->cost > MATTERS * d->response))
        return false;
    if (isfinite(d->wait))
        snprintf(
            wait, sizeof(wait), "%.3g ms with %u ranks", ms(d->wait), d->ranks);
    snprintf(why, size,
        "the division among %u ranks costs about %.3g ms of the mean response "
        "time of %.3g ms, because users of one rank cannot serve arrivals of "
        "another (wait according to Erlang C: %s, %.3g ms with all users in "
        "one process): give each rank more users (--threads)",
        d->ranks, ms(d->cost), ms(d->response), wait, ms(d->wait_undivided));
    return true;
}

void sb_division_warn(const struct sb_rank_figures *f, unsigned n)
{
    struct sb_division d;
    char why[400];

    if (sb_division_of(&d, f, n) && sb_division_matters(&d, why, sizeof(why)))
        sb_log(SB_LOG_WARNING, "%s", why);
}
