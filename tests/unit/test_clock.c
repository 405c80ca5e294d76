// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.h"

#include "kit/rng.h"
#include "check.h"

#define US     UINT64_C(1000)
#define MS     (1000 * US)
#define SECOND (1000 * MS)

// A time-stamp counter of `hz`, and a kernel clock that runs `ppm` faster.
struct world {
    double hz, ppm;
    uint64_t tsc; // now
    double ns;
};

static void world_pass(struct world *w, uint64_t ns)
{
    w->tsc += (uint64_t)((double)ns * w->hz / 1e9);
    w->ns += (double)ns * (1 + w->ppm / 1e6);
}

// Returns a clock as sb_clock_init() sets it up, if the calibration has the
// relative error `error`.
static struct sb_clock clock_in(struct world *w, double error)
{
    struct sb_clock c = { .tsc = true };

    c.first_tsc = c.mid_tsc = w->tsc;
    c.first_ns = c.mid_ns = (uint64_t)w->ns;
    world_pass(w, 2 * MS);
    c.tsc0 = w->tsc;
    c.ns0 = (uint64_t)w->ns;
    c.mult = (uint64_t)(1e9 / w->hz * (1 + error) * 0x1p32);
    c.anchor_ns = c.ns0 + 10 * MS;
    return c;
}

static uint64_t clock_at(const struct sb_clock *c, uint64_t tsc)
{
    return c->ns0 + sb_clock_ticks_ns(tsc - c->tsc0, c->mult);
}

// Lets `length` ns pass and sets anchors when they are due, with up to 50 ns of
// noise. Returns the largest difference from the kernel's clock after the first
// `settle` ns.
static double drive(
    struct sb_clock *c, struct world *w, uint64_t length, uint64_t settle)
{
    double begin = w->ns, worst = 0;
    struct sb_rng r;

    sb_rng_init(&r, 1, 1);
    while (w->ns < begin + (double)length) {
        uint64_t before = clock_at(c, w->tsc), after;

        if (before >= c->anchor_ns) {
            CHECK(sb_clock_steer(
                c, w->tsc, (uint64_t)w->ns + sb_rng_below(&r, 50)));
            after = clock_at(c, w->tsc);
            CHECK_INT(after, before);
            CHECK(c->anchor_ns > after);
        }
        if (w->ns > begin + (double)settle)
            worst = fmax(worst, fabs((double)clock_at(c, w->tsc) - w->ns));
        world_pass(w, MS);
        CHECK(clock_at(c, w->tsc) > before);
    }
    return worst;
}

static void follows_the_kernel(void)
{
    struct world w = { 2.6e9, 0, 123456789, 5e12 };
    struct sb_clock c = clock_in(&w, 25e-6);

    CHECK(drive(&c, &w, 120 * SECOND, 3 * SECOND) < 150);
}

// An error of 1 % in the calibration is corrected.
static void bad_calibration_is_corrected(void)
{
    struct world w = { 3.7e9, 0, 5, 1e9 };
    struct sb_clock c = clock_in(&w, 0.01);

    CHECK(drive(&c, &w, 20 * SECOND, 10 * SECOND) < 150);
}

// NTP begins to slew the kernel's clock by 100 ppm. The rate window must drop
// old anchors, so that no lasting difference remains.
static void follows_a_changed_rate(void)
{
    struct world w = { 1e9, 0, 0, 1e9 };
    struct sb_clock c = clock_in(&w, 0);

    drive(&c, &w, 200 * SECOND, 0);
    w.ppm = 100;
    CHECK(drive(&c, &w, 10 * SECOND, 0) < 250 * US);
    CHECK(drive(&c, &w, 100 * SECOND, 40 * SECOND) < 300);
}

// A thread that was in one call for minutes sets no anchors. Its clock may
// drift by 1 ppm: the noise of the last anchor divided by the time between
// anchors.
static void minutes_without_anchor(void)
{
    struct world w = { 2.6e9, 0, 0, 1e9 };
    struct sb_clock c = clock_in(&w, 25e-6);

    drive(&c, &w, SECOND, 0);
    world_pass(&w, 600 * SECOND);
    CHECK_NEAR((double)clock_at(&c, w.tsc), w.ns, 600.0 * US);
    CHECK(sb_clock_steer(&c, w.tsc, (uint64_t)w.ns));
    CHECK(drive(&c, &w, 30 * SECOND, 20 * SECOND) < 150);
}

// Two such times in a row: the correction after the first must not cause an
// error in the second.
static void minutes_without_anchor_twice(void)
{
    struct world w = { 2.6e9, 0, 0, 1e9 };
    struct sb_clock c = clock_in(&w, 25e-6);

    world_pass(&w, 100 * SECOND);
    CHECK(sb_clock_steer(&c, w.tsc, (uint64_t)w.ns));
    world_pass(&w, 100 * SECOND);
    CHECK_NEAR((double)clock_at(&c, w.tsc), w.ns, 25.0 * MS);
    CHECK(sb_clock_steer(&c, w.tsc, (uint64_t)w.ns));
}

// The counter is not used after a difference that no rate explains.
static void unstable_counter_is_not_used(void)
{
    static const double jumps[] = { 1e9, -1e9 };

    for (int i = 0; i < 2; i++) {
        struct world w = { 2.6e9, 0, 0, 10e9 };
        struct sb_clock c = clock_in(&w, 0);
        uint64_t before;

        drive(&c, &w, SECOND, 0);
        before = clock_at(&c, w.tsc);
        CHECK(!sb_clock_steer(&c, w.tsc, (uint64_t)(w.ns + jumps[i])));
        CHECK(!c.tsc);
        CHECK(c.anchor_ns == UINT64_MAX);
        CHECK(sb_clock_now(&c) >= before);
    }
}

static void counter_behind_is_no_jump(void)
{
    struct sb_clock c;
    uint64_t ahead = sb_clock_monotonic() + 500 * SECOND;

    sb_clock_init(&c);
    c.tsc0 += UINT64_C(1) << 40;
    c.ns0 = ahead;
    CHECK(!c.tsc || sb_clock_now(&c) == ahead);
    // Without the counter the clock stays at the last time.
    c.tsc = false;
    CHECK(sb_clock_now(&c) == ahead);
}

static void ticks_do_not_overflow(void)
{
    // A year at 5 GHz.
    CHECK_NEAR((double)sb_clock_ticks_ns(
                   UINT64_C(157680000000000000), (uint64_t)(0.2 * 0x1p32)),
        31536000e9, 31536000.0);
}

static void never_goes_back(void)
{
    struct sb_clock c;
    uint64_t last = 0;

    sb_clock_init(&c);
    for (int i = 0; i < 300000; i++) {
        uint64_t now = sb_clock_now(&c);

        CHECK(now >= last);
        last = now;
        if (i % 1000 == 0)
            sb_clock_anchor(&c);
    }
}

// Compares the clock with the kernel's for 30 ms and sets anchors when they are
// due. Reads the clock between two readings of the kernel's clock, and ignores
// pairs that are far apart, since the thread was interrupted. Returns true if a
// reading was off by more than 20 us.
static bool disagrees(struct sb_clock *c)
{
    uint64_t before, now, after, end = sb_clock_monotonic() + 30 * MS;

    do {
        before = sb_clock_monotonic();
        now = sb_clock_now(c);
        after = sb_clock_monotonic();
        if (after - before < 2 * US &&
            (now + 20 * US < before || now > after + 20 * US))
            return true;
        if (now >= c->anchor_ns)
            sb_clock_anchor(c);
    } while (after < end);
    return false;
}

// One of five clocks must agree: a machine that interrupts the program in every
// reading of a calibration can make one inaccurate. A wrong clock disagrees
// each time.
static void agrees_with_the_kernel(void)
{
    bool good = false;

    for (int i = 0; i < 5 && !good; i++) {
        struct sb_clock c;

        sb_clock_init(&c);
        good = !disagrees(&c);
    }
    CHECK(good);
}

static uint64_t reading(clockid_t clock)
{
    struct timespec t;

    CHECK(clock_gettime(clock, &t) == 0);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

// Compares with the clocks that the names say: a reading lies between two
// others of the same clock.
static void clocks_of_the_system(void)
{
    uint64_t before = reading(CLOCK_MONOTONIC), now = sb_clock_monotonic();

    CHECK(before <= now && now <= reading(CLOCK_MONOTONIC));
    before = reading(CLOCK_THREAD_CPUTIME_ID);
    now = sb_clock_read(CLOCK_THREAD_CPUTIME_ID);
    CHECK(before <= now && now <= reading(CLOCK_THREAD_CPUTIME_ID));
    // The clock of the host may be set meanwhile.
    CHECK_NEAR(
        (double)reading(CLOCK_REALTIME), (double)sb_clock_wall(), 3600e9);
}

static void as_timespec(void)
{
    struct timespec t = sb_clock_timespec(UINT64_C(5000000000));

    CHECK_INT(t.tv_sec, 5);
    CHECK_INT(t.tv_nsec, 0);
    t = sb_clock_timespec(UINT64_C(1999999999));
    CHECK_INT(t.tv_sec, 1);
    CHECK_INT(t.tv_nsec, 999999999);
    t = sb_clock_timespec(UINT64_MAX);
    CHECK(t.tv_sec == (time_t)UINT64_C(18446744073));
}

static void sleeps_until(void)
{
    uint64_t until = sb_clock_monotonic() + MS;

    sb_clock_sleep_until(until);
    CHECK(sb_clock_monotonic() >= until);
    sb_clock_sleep_until(until); // in the past: returns at once
}

CHECK_FILE
{
    RUN(follows_the_kernel);
    RUN(bad_calibration_is_corrected);
    RUN(follows_a_changed_rate);
    RUN(minutes_without_anchor);
    RUN(minutes_without_anchor_twice);
    RUN(unstable_counter_is_not_used);
    RUN(counter_behind_is_no_jump);
    RUN(ticks_do_not_overflow);
    RUN(never_goes_back);
    RUN(agrees_with_the_kernel);
    RUN(clocks_of_the_system);
    RUN(as_timespec);
    RUN(sleeps_until);
    return check_done();
}
