// SPDX-License-Identifier: GPL-2.0-or-later
//
// When the sampler takes samples. A sample that is due returns at once, one
// that is not waits until the limit: neither depends on how fast that is.
#include "base/clock.h"
#include "check.h"
#include "db/sampler_private.h"
#include "loop/waiter.h"

#define SECOND   UINT64_C(1000000000)
#define PERIOD_S 100
#define PERIOD   (PERIOD_S * SECOND)

static struct sb_sampler s;
static struct sb__sampler_target target;

static void begin(void)
{
    memset(&s, 0, sizeof(s));
    memset(&target, 0, sizeof(target));
    CHECK_INT(sb_lock_init(&s.lock, &s.changed), 0);
    s.period = PERIOD;
    s.measured_at = s.plans_at = UINT64_MAX;
}

static void end(void)
{
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.lock);
}

// Whether a sample is due, 30 s after the start of the last one, which has
// ended now. due_in: when it should be, in s. That is before the end of the
// interval, by half of the period after a sample that took so long.
static bool is_due(const struct sb__sampler_target *t, int due_in)
{
    uint64_t now = sb_clock_monotonic(), limit = now + 10 * SECOND;

    s.phase = now + PERIOD / 2 + (uint64_t)(PERIOD_S + due_in) * SECOND;
    if (due_in > 0)
        limit = now + SECOND / 50;
    CHECK(sb__sampler_wait_next(&s, t, now - 30 * SECOND, limit));
    return sb_clock_monotonic() < limit;
}

static void samples_have_a_time_in_each_period(void)
{
    begin();
    CHECK(is_due(NULL, -2));
    CHECK(is_due(NULL, -4));
    CHECK(!is_due(NULL, 10));
    CHECK(!is_due(NULL, 70));
    // -6: less than a quarter of the period after the last one, so the one
    // after that is meant.
    CHECK(!is_due(NULL, 94));
    end();
}

static void the_measured_part_begins_with_a_sample(void)
{
    begin();
    s.measured_at = 1;
    uint64_t now = sb_clock_monotonic(), limit = now + 60 * SECOND;

    s.phase = now + 10 * SECOND + PERIOD / 2;
    CHECK(sb__sampler_wait_next(&s, NULL, now, limit));
    CHECK(sb_clock_monotonic() < limit);
    // Once: also if the server does not answer.
    s.rebased.tried = true;
    CHECK(!is_due(NULL, 10));
    // A target has its own.
    CHECK(sb__sampler_wait_next(&s, &target, now, limit));
    CHECK(sb_clock_monotonic() < limit);
    target.rebased.tried = true;
    CHECK(!is_due(&target, 10));
    end();
}

static void plans_have_a_time_before_it(void)
{
    begin();
    uint64_t now = sb_clock_monotonic(), limit = now + 60 * SECOND;

    s.plans_at = 1;
    s.phase = now + 10 * SECOND + PERIOD / 2;
    CHECK(sb__sampler_wait_next(&s, &target, now, limit));
    CHECK(sb_clock_monotonic() < limit);
    target.explained = true; // once
    CHECK(!is_due(&target, 10));
    CHECK(!is_due(NULL, 10)); // the process has none
    end();
}

static void the_last_sample_is_taken_at_once(void)
{
    begin();
    s.last = true;
    uint64_t now = sb_clock_monotonic(), limit = now + 60 * SECOND;

    s.phase = now + 10 * SECOND + PERIOD / 2;
    target.rebased.tried = true;
    CHECK(sb__sampler_wait_next(&s, &target, now, limit));
    CHECK(sb_clock_monotonic() < limit);
    target.last = true; // it was taken
    CHECK(!is_due(&target, 10));
    s.rebased.tried = true;
    CHECK(!is_due(NULL, 10)); // the process has none
    end();
}

static void the_first_sample_of_the_measured_part(void)
{
    struct sb__sampler_rebased r = { .tried = false };

    begin();
    s.measured_at = 100;
    CHECK(!sb__sampler_is_base(&s, &r, 99));
    CHECK(!r.tried);
    CHECK(sb__sampler_is_base(&s, &r, 100));
    CHECK(r.tried);
    CHECK(sb__sampler_is_base(&s, &r, 101)); // it failed
    r.done = true;
    CHECK(!sb__sampler_is_base(&s, &r, 102));
    CHECK(r.tried);
    end();
}

static void *wait_for_a_sample(void *arg)
{
    uint64_t limit = sb_clock_monotonic() + 60 * SECOND;

    CHECK(!sb__sampler_wait_next(&s, arg, sb_clock_monotonic(), limit));
    CHECK(sb_clock_monotonic() < limit);
    sb__sampler_thread_ends(&s);
    return NULL;
}

static void a_stop_ends_threads(void)
{
    uint64_t limit = sb_clock_monotonic() + 60 * SECOND;
    pthread_t thread[2];

    begin();
    s.phase = sb_clock_monotonic() + PERIOD;
    s.running = 2;
    CHECK(!sb__sampler_stopped(&s));
    pthread_create(&thread[0], NULL, wait_for_a_sample, NULL);
    pthread_create(&thread[1], NULL, wait_for_a_sample, &target);
    pthread_mutex_lock(&s.lock);
    s.stop = true;
    pthread_cond_broadcast(&s.changed);
    while (s.running > 0 && sb_clock_monotonic() < limit)
        sb__sampler_wait_until(&s, limit);
    CHECK_INT(s.running, 0);
    CHECK(sb_clock_monotonic() < limit); // the last one wakes who waits
    pthread_mutex_unlock(&s.lock);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    CHECK(sb__sampler_stopped(&s));
    end();
}

CHECK_FILE
{
    RUN(samples_have_a_time_in_each_period);
    RUN(the_measured_part_begins_with_a_sample);
    RUN(plans_have_a_time_before_it);
    RUN(the_last_sample_is_taken_at_once);
    RUN(the_first_sample_of_the_measured_part);
    RUN(a_stop_ends_threads);
    return check_done();
}
