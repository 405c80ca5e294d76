// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/hist.h"

#include <pthread.h>
#include <stdlib.h>

#include "kit/rng.h"
#include "check.h"

#define UNKNOWN UINT64_MAX // the maximum is unknown

static struct sb_hist_snap snap_of(const struct sb_hist *h)
{
    struct sb_hist_snap s = { 0 };

    CHECK_INT(sb_hist_snap_add_live(&s, h), 0);
    return s;
}

static struct sb_hist_snap snap_of_values(const uint64_t *values, size_t count)
{
    struct sb_hist h;
    struct sb_hist_snap s;

    CHECK_INT(sb_hist_init(&h, false), 0);
    for (size_t i = 0; i < count; i++)
        sb_hist_record(&h, values[i]);
    s = snap_of(&h);
    sb_hist_done(&h);
    return s;
}

#define SNAP(...)                                     \
    snap_of_values((const uint64_t[]){ __VA_ARGS__ }, \
        sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void buckets_are_contiguous(void)
{
    uint64_t next = 0;

    for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++) {
        uint64_t low = sb_hist_low(i), width = sb_hist_width(i);

        CHECK(low == next);
        CHECK_INT(sb_hist_index(low), i);
        CHECK_INT(sb_hist_index(low + width - 1), i);
        next = low + width;
    }
    CHECK(next == UINT64_C(1) << 48);
}

static void relative_error_is_bounded(void)
{
    struct sb_rng r;

    sb_rng_init(&r, 1, 1);
    for (int i = 0; i < 200000; i++) {
        uint64_t v = sb_rng_next(&r) >> (16 + sb_rng_below(&r, 48));
        uint32_t at = sb_hist_index(v);

        CHECK(sb_hist_low(at) <= v && v - sb_hist_low(at) < sb_hist_width(at));
        if (v < 2048)
            CHECK_INT(sb_hist_width(at), 1);
        else
            CHECK((double)sb_hist_width(at) <= 1e-3 * (double)v);
    }
}

static void more_than_a_day_is_not_clamped(void)
{
    const uint64_t day = UINT64_C(86400000000000);
    struct sb_hist_snap s = SNAP(day, 3 * day, UINT64_MAX);
    uint64_t low, high;

    CHECK_NEAR(sb_hist_snap_percentile(&s, 100 / 3.0, UNKNOWN), (double)day,
        1e-3 * (double)day);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 200 / 3.0, UNKNOWN), 3 * (double)day,
        3e-3 * (double)day);
    CHECK_INT(sb_hist_snap_count(&s, SB_HIST_BUCKETS - 1), 1);
    CHECK(sb_hist_snap_bounds(&s, &low, &high));
    CHECK(high == (UINT64_C(1) << 48) - 1);
    sb_hist_snap_done(&s);
}

static void done_accepts_zeroed_struct(void)
{
    struct sb_hist h = { 0 };
    struct sb_hist_snap s = { 0 };
    uint64_t low = 7, high = 7;

    sb_hist_done(&h);
    sb_hist_snap_done(&s);
    CHECK(!sb_hist_snap_bounds(&s, &low, &high));
    CHECK_NEAR(sb_hist_snap_percentile(&s, 95, 10), 0, 0);
}

static void merge_is_addition(void)
{
    struct sb_hist_snap a = SNAP(1, 5000, 5000, 700000);
    struct sb_hist_snap b = SNAP(5000, 900, 700001, UINT64_C(1) << 40);

    CHECK_INT(sb_hist_snap_add(&a, &b), 0);
    CHECK_INT(a.total, 8);
    CHECK_INT(sb_hist_snap_count(&a, 1), 1);
    CHECK_INT(sb_hist_snap_count(&a, 900), 1);
    CHECK_INT(sb_hist_snap_count(&a, sb_hist_index(5000)), 3);
    CHECK_INT(sb_hist_snap_count(&a, sb_hist_index(700000)), 2);
    CHECK_INT(sb_hist_snap_count(&a, sb_hist_index(UINT64_C(1) << 40)), 1);
    CHECK_INT(b.total, 4);
    sb_hist_snap_done(&a);
    sb_hist_snap_done(&b);
}

static void put_counts(void)
{
    struct sb_hist_snap s = { 0 };

    CHECK_INT(sb_hist_snap_put(&s, 77, 5), 0);
    CHECK_INT(sb_hist_snap_put(&s, 77, 2), 0);
    CHECK_INT(sb_hist_snap_put(&s, SB_HIST_BUCKETS, 1), SB_ERANGE);
    CHECK_INT(s.total, 7);
    CHECK_INT(sb_hist_snap_count(&s, 77), 7);
    CHECK_INT(sb_hist_snap_count(&s, SB_HIST_BUCKETS), 0);
    sb_hist_snap_done(&s);
}

// The difference of two snapshots of a histogram is what was recorded between
// them. The earlier snapshot plus the difference gives the later one.
static void interval_is_difference(void)
{
    struct sb_hist h;
    struct sb_hist_snap early, late, between = { 0 };

    CHECK_INT(sb_hist_init(&h, false), 0);
    sb_hist_record(&h, 10);
    sb_hist_record(&h, 123456);
    early = snap_of(&h);
    sb_hist_record(&h, 123456);
    sb_hist_record(&h, 99999999);
    late = snap_of(&h);
    CHECK_INT(sb_hist_snap_put(&between, 3, 3), 0); // old contents are cleared
    CHECK_INT(sb_hist_snap_sub(&between, &late, &early), 0);
    CHECK_INT(between.total, 2);
    CHECK_INT(sb_hist_snap_count(&between, 3), 0);
    CHECK_INT(sb_hist_snap_count(&between, 10), 0);
    CHECK_INT(sb_hist_snap_count(&between, sb_hist_index(123456)), 1);
    CHECK_INT(sb_hist_snap_count(&between, sb_hist_index(99999999)), 1);
    CHECK(between.chunk[0] == NULL);
    CHECK_INT(sb_hist_snap_add(&between, &early), 0);
    CHECK_INT(between.total, late.total);
    for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++)
        CHECK(sb_hist_snap_count(&between, i) == sb_hist_snap_count(&late, i));
    sb_hist_snap_done(&early);
    sb_hist_snap_done(&late);
    sb_hist_snap_done(&between);
    sb_hist_done(&h);
}

// A reader takes each count once, whatever snapshots do.
static void reader_takes_what_is_new(void)
{
    struct sb_hist h;
    struct sb_hist_reader r;
    struct sb_hist_snap got = { 0 }, whole;

    CHECK_INT(sb_hist_init(&h, false), 0);
    CHECK_INT(sb_hist_reader_init(&r), 0);
    sb_hist_record(&h, 10);
    sb_hist_record(&h, 123456);
    CHECK_INT(sb_hist_reader_take(&r, &h, false, &got), 0);
    CHECK_INT(got.total, 2);
    sb_hist_snap_clear(&got);
    CHECK_INT(got.total, 0);
    CHECK_INT(sb_hist_snap_count(&got, 10), 0);
    CHECK_NEAR(sb_hist_snap_percentile(&got, 50, UNKNOWN), 0, 0);
    sb_hist_record(&h, 123456);
    sb_hist_record(&h, 99999999);
    whole = snap_of(&h);
    CHECK_INT(whole.total, 4);
    CHECK_INT(sb_hist_reader_take(&r, &h, false, &got), 0);
    CHECK_INT(got.total, 2);
    CHECK_INT(sb_hist_snap_count(&got, 10), 0);
    CHECK_INT(sb_hist_snap_count(&got, sb_hist_index(123456)), 1);
    CHECK_INT(sb_hist_snap_count(&got, sb_hist_index(99999999)), 1);
    CHECK_INT(sb_hist_reader_take(&r, &h, true, &got), 0);
    CHECK_INT(got.total, 2);
    sb_hist_snap_done(&whole);
    whole = snap_of(&h);
    CHECK_INT(whole.total, 4);
    sb_hist_snap_done(&whole);
    sb_hist_snap_done(&got);
    sb_hist_reader_done(&r);
    sb_hist_done(&h);
}

// The values 0..999 have one bucket each, so each percentile is one of them.
static void percentiles_of_a_line(void)
{
    struct sb_hist_snap s = { 0 };

    for (uint32_t i = 0; i < 1000; i++)
        CHECK_INT(sb_hist_snap_put(&s, i, 1), 0);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 0, 999), 0, 0);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 50, 999), 499, 0);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 12.34, 999), 123, 0);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 99.9, 999), 998, 0);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 99.95, 999), 999, 0);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 100, 999), 999, 0);
    CHECK_NEAR(sb_hist_snap_percentile(&s, -5, 999), 0, 0);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 500, 999), 999, 0);
    sb_hist_snap_done(&s);
}

static void percentile_is_linear_in_a_bucket(void)
{
    const uint64_t v = 1 << 20; // buckets are 1,024 wide from here
    struct sb_hist_snap s = { 0 };

    CHECK_INT(sb_hist_snap_put(&s, sb_hist_index(v), 4), 0);
    CHECK_INT(sb_hist_snap_put(&s, sb_hist_index(2 * v), 4), 0);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 12.5, UNKNOWN), v + 256.0, 1e-6);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 37.5, UNKNOWN), v + 768.0, 1e-6);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 50, UNKNOWN), v + 1024.0, 1e-6);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 75, UNKNOWN), 2 * v + 1024.0, 1e-6);
    sb_hist_snap_done(&s);
}

// If 644 of 1,000 values are fast, p64.4 is fast, although 1000 * 64.4 / 100 is
// not exactly 644 in binary.
static void percentile_at_a_gap(void)
{
    struct sb_hist_snap s = { 0 };

    CHECK_INT(sb_hist_snap_put(&s, 100, 644), 0);
    CHECK_INT(sb_hist_snap_put(&s, sb_hist_index(1000000), 356), 0);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 64.4, UNKNOWN), 100, 0);
    CHECK(sb_hist_snap_percentile(&s, 64.41, UNKNOWN) > 999000);
    sb_hist_snap_done(&s);
}

static void hundred_is_the_maximum(void)
{
    struct sb_hist_snap s = SNAP(1000001, 5);
    uint64_t low, high;

    CHECK_NEAR(sb_hist_snap_percentile(&s, 100, 1000001), 1000001, 0);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 99.999, 1000001), 1000001, 0);
    CHECK(sb_hist_snap_bounds(&s, &low, &high));
    CHECK_INT(low, 5);
    CHECK(high >= 1000001 && high < 1001002);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 100, UNKNOWN), (double)high, 0);
    sb_hist_snap_done(&s);
    s = SNAP(5, UINT64_C(1) << 50);
    CHECK_NEAR(sb_hist_snap_percentile(&s, 100, UINT64_C(1) << 50), 0x1p50, 0);
    sb_hist_snap_done(&s);
}

struct walk {
    uint64_t last, total;
    int seen;
};

static void walk_visit(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct walk *w = arg;

    CHECK(w->seen == 0 || low > w->last);
    CHECK(width == sb_hist_width(sb_hist_index(low)));
    w->last = low;
    w->total += count;
    w->seen++;
}

static void each_in_order(void)
{
    struct sb_hist_snap s = SNAP(0, 511, 512, 512, 1u << 30, UINT64_MAX);
    struct walk w = { 0 };

    sb_hist_snap_each(&s, walk_visit, &w);
    CHECK_INT(w.seen, 5);
    CHECK_INT(w.total, 6);
    CHECK(w.last == sb_hist_low(SB_HIST_BUCKETS - 1));
    sb_hist_snap_done(&s);
}

#define ADDS 200000

struct writer {
    struct sb_hist *h;
    uint64_t stream;
    atomic_bool finished;
};

// All writers use the same few hundred buckets.
static void *write_many(void *arg)
{
    struct writer *w = arg;
    struct sb_rng r;

    sb_rng_init(&r, 9, w->stream);
    for (int i = 0; i < ADDS; i++)
        sb_hist_record(w->h, sb_rng_below(&r, 600));
    atomic_store_explicit(&w->finished, true, memory_order_release);
    return NULL;
}

static void shared_adds_are_not_lost(void)
{
    struct sb_hist h;
    struct sb_hist_snap s;
    struct writer w[4];
    pthread_t t[4];

    CHECK_INT(sb_hist_init(&h, true), 0);
    for (int i = 0; i < 4; i++) {
        w[i] = (struct writer){ &h, (uint64_t)i, false };
        CHECK_INT(pthread_create(&t[i], NULL, write_many, &w[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    s = snap_of(&h);
    CHECK_INT(s.total, 4 * ADDS);
    sb_hist_snap_done(&s);
    sb_hist_done(&h);
}

static bool no_bucket_shrank(
    const struct sb_hist_snap *now, const struct sb_hist_snap *before)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < 1024; i++) {
        uint64_t n = sb_hist_snap_count(now, i);

        if (n < sb_hist_snap_count(before, i))
            return false;
        total += n;
    }
    return total == now->total && now->total >= before->total;
}

// In snapshots taken during writes no bucket ever shrinks, and the intervals
// add up to everything that was written.
static void live_snapshots_only_grow(void)
{
    struct sb_hist h;
    struct sb_hist_snap before = { 0 }, sum = { 0 };
    struct writer w = { &h, 1, false };
    bool finished = false;
    pthread_t t;

    CHECK_INT(sb_hist_init(&h, false), 0);
    CHECK_INT(pthread_create(&t, NULL, write_many, &w), 0);
    while (!finished) {
        struct sb_hist_snap now, part = { 0 };

        finished = atomic_load_explicit(&w.finished, memory_order_acquire);
        now = snap_of(&h);
        CHECK(no_bucket_shrank(&now, &before));
        CHECK_INT(sb_hist_snap_sub(&part, &now, &before), 0);
        CHECK_INT(sb_hist_snap_add(&sum, &part), 0);
        sb_hist_snap_done(&part);
        sb_hist_snap_done(&before);
        before = now;
    }
    pthread_join(t, NULL);
    CHECK_INT(sum.total, ADDS);
    sb_hist_snap_done(&before);
    sb_hist_snap_done(&sum);
    sb_hist_done(&h);
}

static void several(void)
{
    struct sb_hist *h = sb_hists_new(3, true);

    CHECK(h && h[0].shared && h[2].shared);
    sb_hist_record(&h[0], 10);
    sb_hist_record(&h[2], 10);
    for (int i = 0; i < 3; i++) {
        struct sb_hist_snap s = snap_of(&h[i]);

        CHECK_INT(s.total, i == 1 ? 0 : 1);
        sb_hist_snap_done(&s);
    }
    sb_hists_free(h, 3);
    sb_hists_free(NULL, 3);
}

CHECK_FILE
{
    RUN(buckets_are_contiguous);
    RUN(relative_error_is_bounded);
    RUN(more_than_a_day_is_not_clamped);
    RUN(done_accepts_zeroed_struct);
    RUN(merge_is_addition);
    RUN(put_counts);
    RUN(interval_is_difference);
    RUN(reader_takes_what_is_new);
    RUN(percentiles_of_a_line);
    RUN(percentile_is_linear_in_a_bucket);
    RUN(percentile_at_a_gap);
    RUN(hundred_is_the_maximum);
    RUN(each_in_order);
    RUN(several);
    RUN(shared_adds_are_not_lost);
    RUN(live_snapshots_only_grow);
    return check_done();
}
