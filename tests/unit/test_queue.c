// SPDX-License-Identifier: GPL-2.0-or-later
//
// Compares the schedule and the histogram with queueing theory, in virtual
// time. Users take arrivals from one cursor when they become free, as workers
// do.
//
// The tolerance. Waiting times of neighbours are strongly correlated, so the
// standard error of their mean comes from batch means: EVENTS events in
// BATCHES batches of 10,000, which is far more than the correlation time,
// 1 / (1 - sqrt(rho))^2, some 90 events at rho 0.8. The mean must lie within
// 4 standard errors of theory (by chance 1 of 15,000 right runs would not),
// and the standard error itself must be below 2 % of the mean, so that a
// model that is wrong by a tenth cannot pass.
// Not with tsan: one thread.
#include "measure/hist.h"
#include "measure/pace.h"

#include "kit/timedist.h"
#include "check.h"

#define EVENTS    1000000
#define BATCHES   100
#define BATCH     (EVENTS / BATCHES)
#define USERS_MAX 4
#define SERVICE   1e6 // mean service time, ns
#define SEEDS     3

struct queue {
    int users;
    bool exponential; // service times, else constant
    double rho;       // utilization: rate * SERVICE / users
    bool split;       // the deliberate error: each user has its own schedule
};

struct outcome {
    double wait, wait_error; // mean and its standard error, in SERVICE
    struct sb_hist_snap response;
    uint64_t response_max;
};

static int first_free(const uint64_t *free_at, int users)
{
    int first = 0;

    for (int i = 1; i < users; i++)
        if (free_at[i] < free_at[first])
            first = i;
    return first;
}

struct machine {
    const struct queue *q;
    struct sb_pace pace[USERS_MAX];
    _Atomic sb_pace_pos cursor[USERS_MAX];
    uint64_t free_at[USERS_MAX];
    struct sb_rng rng;
    struct sb_hist hist;
    uint64_t max;
};

static void machine_init(
    struct machine *m, const struct queue *q, uint64_t seed)
{
    int schedules = q->split ? q->users : 1;
    double rate = q->rho * q->users / SERVICE * 1e9 / schedules;

    *m = (struct machine){ .q = q };
    for (int i = 0; i < schedules; i++)
        sb_pace_init(
            &m->pace[i], SB_PACE_POISSON, rate, seed * USERS_MAX + (uint64_t)i);
    sb_rng_init(&m->rng, seed, 99);
    CHECK_INT(sb_hist_init(&m->hist, false), 0);
}

// Simulates one event. Returns its waiting time in ns.
static uint64_t machine_step(struct machine *m)
{
    int user = first_free(m->free_at, m->q->users);
    int schedule = m->q->split ? user : 0;
    uint64_t arrival = sb_pace_take(&m->pace[schedule], &m->cursor[schedule]);
    uint64_t start = arrival > m->free_at[user] ? arrival : m->free_at[user];
    double service = m->q->exponential
                         ? sb_timedist_exponential(&m->rng, SERVICE)
                         : SERVICE;
    uint64_t end = start + (uint64_t)service;

    m->free_at[user] = end;
    sb_hist_record(&m->hist, end - arrival);
    if (end - arrival > m->max)
        m->max = end - arrival;
    return start - arrival;
}

static struct outcome simulate(const struct queue *q, uint64_t seed)
{
    struct outcome out = { 0 };
    struct machine m;
    double sum = 0, squares = 0;

    machine_init(&m, q, seed);
    for (int b = 0; b < BATCHES; b++) {
        double batch = 0;

        for (int i = 0; i < BATCH; i++)
            batch += (double)machine_step(&m) / SERVICE / BATCH;
        sum += batch;
        squares += batch * batch;
    }
    out.wait = sum / BATCHES;
    out.wait_error = sqrt(
        (squares / BATCHES - out.wait * out.wait) / (BATCHES - 1));
    CHECK_INT(sb_hist_snap_add_live(&out.response, &m.hist), 0);
    out.response_max = m.max;
    sb_hist_done(&m.hist);
    return out;
}

static void wait_matches(const struct queue *q, double theory)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct outcome o = simulate(q, seed);

        CHECK_NEAR(o.wait, theory, 4 * o.wait_error);
        CHECK(o.wait_error < 0.02 * theory);
        CHECK_INT(o.response.total, EVENTS);
        sb_hist_snap_done(&o.response);
    }
}

static void m_d_1(void)
{
    static const double rhos[] = { 0.5, 0.8 };

    for (int i = 0; i < 2; i++) {
        double rho = rhos[i];

        wait_matches(
            &(struct queue){ 1, false, rho, false }, rho / (2 * (1 - rho)));
    }
}

static void m_m_1(void)
{
    static const double rhos[] = { 0.5, 0.8 };

    for (int i = 0; i < 2; i++)
        wait_matches(&(struct queue){ 1, true, rhos[i], false },
            rhos[i] / (1 - rhos[i]));
}

// Mean wait of M/M/c in service times: Erlang's C over the spare capacity.
static double erlang_wait(int c, double rho)
{
    double load = c * rho, term = 1, sum = 0;

    for (int k = 0; k < c; k++) {
        sum += term;
        term *= load / (k + 1);
    }
    term /= 1 - rho;
    return term / (sum + term) / (c * (1 - rho));
}

static void m_m_c(void)
{
    CHECK_NEAR(erlang_wait(1, 0.8), 4, 1e-12);
    wait_matches(&(struct queue){ 4, true, 0.5, false }, erlang_wait(4, 0.5));
    wait_matches(&(struct queue){ 4, true, 0.8, false }, erlang_wait(4, 0.8));
}

// A load generator that gives each of four users a quarter of the rate makes
// four queues with one server each. The test above must distinguish them from
// one queue with four servers.
static void split_rate_is_seen(void)
{
    struct queue q = { 4, true, 0.8, true };
    struct outcome o = simulate(&q, 1);

    CHECK(o.wait > 2 * erlang_wait(4, 0.8));
    CHECK(fabs(o.wait - erlang_wait(4, 0.8)) > 10 * o.wait_error);
    sb_hist_snap_done(&o.response);
}

// The response time of M/M/1 is exponential with mean 1 / (1 - rho) services.
// Quantiles near the mean err about as the mean does, 1 % here at rho 0.8
// (Daley: sqrt(rho (2 + 5 rho - 4 rho^2 + rho^3) / (1 - rho)^4 / EVENTS)
// = 0.044 of a mean of 5); 4 of these for the median and p95, 3 times that
// for p99.9, which rests on the few longest busy periods.
static void response_percentiles(void)
{
    const double mean = SERVICE / (1 - 0.8);
    const struct {
        double pct, tolerance;
    } at[] = { { 50, 0.04 }, { 95, 0.04 }, { 99, 0.06 }, { 99.9, 0.12 } };
    struct queue q = { 1, true, 0.8, false };

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct outcome o = simulate(&q, seed);

        for (int i = 0; i < 4; i++)
            CHECK_NEAR(sb_hist_snap_percentile(
                           &o.response, at[i].pct, o.response_max) /
                           mean / -log(1 - at[i].pct / 100),
                1, at[i].tolerance);
        CHECK_NEAR(sb_hist_snap_percentile(&o.response, 100, o.response_max),
            (double)o.response_max, 0);
        sb_hist_snap_done(&o.response);
    }
}

#define MS         UINT64_C(1000000)
#define SECOND     (1000 * MS)
#define STALL_FROM (5 * SECOND)
#define STALL_TO   (6 * SECOND)

// Returns the end of an event. The server answers in 0.1 ms, except from second
// 5 to 6, when it does not answer.
static uint64_t stalling_end(uint64_t start)
{
    uint64_t end = start + MS / 10;

    return end >= STALL_FROM && start < STALL_TO ? STALL_TO + MS / 10 : end;
}

struct stall_count {
    uint64_t during;       // scheduled during the stall
    uint64_t hidden;       // of these: the response time does not show it
    uint64_t slow_service; // events with a long service time
};

static struct stall_count stall_run(
    enum sb_pace_kind kind, struct sb_hist *response, uint64_t *events)
{
    struct stall_count n = { 0 };
    uint64_t free_at[USERS_MAX] = { 0 };
    struct sb_pace p;
    _Atomic sb_pace_pos cursor = 0;

    sb_pace_init(&p, kind, 1000, 1);
    for (*events = 0;; ++*events) {
        int user = first_free(free_at, USERS_MAX);
        uint64_t arrival = sb_pace_take(&p, &cursor);
        uint64_t start = arrival > free_at[user] ? arrival : free_at[user];
        uint64_t end = stalling_end(start);

        if (arrival > 10 * SECOND)
            return n;
        free_at[user] = end;
        sb_hist_record(response, end - arrival);
        n.slow_service += end - start > MS;
        if (arrival < STALL_FROM || arrival >= STALL_TO)
            continue;
        n.during++;
        n.hidden += end - arrival < STALL_TO - arrival;
    }
}

// No coordinated omission: each event scheduled during the stall waits until
// the stall ends. So a tenth of all events are delayed, by 0 to 1 s uniformly,
// and the 95th percentile is 0.5 s. Service times would show the stall in one
// event per user only.
static void stall_is_in_every_response(void)
{
    for (int kind = SB_PACE_POISSON; kind <= SB_PACE_CONSTANT; kind++) {
        struct sb_hist h;
        struct sb_hist_snap s = { 0 };
        struct stall_count n;
        uint64_t events;

        CHECK_INT(sb_hist_init(&h, false), 0);
        n = stall_run((enum sb_pace_kind)kind, &h, &events);
        CHECK_INT(sb_hist_snap_add_live(&s, &h), 0);
        CHECK_NEAR((double)events, 1e4, 4 * sqrt(1e4));
        CHECK_NEAR((double)n.during, 1e3, 4 * sqrt(1e3));
        CHECK_INT(n.hidden, 0);
        CHECK_INT(n.slow_service, USERS_MAX);
        CHECK_NEAR(sb_hist_snap_percentile(&s, 95, UINT64_MAX), 0.5e9, 0.1e9);
        CHECK(sb_hist_snap_percentile(&s, 99.9, UINT64_MAX) > 0.95e9);
        sb_hist_snap_done(&s);
        sb_hist_done(&h);
    }
}

CHECK_FILE
{
    RUN(m_d_1);
    RUN(m_m_1);
    RUN(m_m_c);
    RUN(split_rate_is_seen);
    RUN(response_percentiles);
    RUN(stall_is_in_every_response);
    return check_done();
}
