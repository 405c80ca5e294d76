// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/division.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"

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

// Erlang's C formula ----------------------------------------------------------

// A. K. Erlang, "Solution of some problems in the theory of probabilities of
// significance in automatic telephone exchanges", 1917; in textbooks: L.
// Kleinrock, Queueing Systems, volume 1, 1975, sections 3.5 and 3.6.
//
// B(c), the share of arrivals that find all of c users busy if arrivals do not
// wait, follows from B(0) = 1 by
//
//     B(n) = a B(n - 1) / (n + a B(n - 1)),    a = load
//
// and the probability that an arrival waits is
//
//     C = c B(c) / (c - a (1 - B(c))).
//
// The mean wait is C / (c - a) mean service times. Every term is positive, so
// nothing is cancelled, and no power or factorial overflows.

// The recursion may begin later than at 0: below the load, an error of B(n - 1)
// shrinks in B(n) by the factor n / a, so that one at a - K sqrt(a) is less
// than exp(-K^2 / 2) of it at a.
#define BEGIN 10
// Above the load, B decreases: from here on, the wait is 0.
#define NOTHING 1e-15

double sb_erlang_c_wait(unsigned users, double load)
{
    double n = floor(load - BEGIN * sqrt(load));
    // Users that are far fewer than the load are always busy: B = 1 - n / a.
    double b = n > 0 ? 1 - n / load : 1;

    if (load >= users)
        return INFINITY;
    for (n = n > 0 ? n : 0; n < users; n++) {
        b = load * b / (n + 1 + load * b);
        if (n > load && b < NOTHING)
            return 0;
    }
    return users * b / (users - load * (1 - b)) / (users - load);
}
