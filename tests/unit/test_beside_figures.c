// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/beside_figures.h"

#include "check.h"

// An interval of 1 s that ends at `end`, with this many events of `ms` each.
static void add_interval(struct sb_beside_figures *f, double end,
    unsigned events, uint64_t ms, bool partial)
{
    struct sb_hist_snap latency = { 0 };
    struct sb_snap s = { .c = { .completed = events } };
    uint64_t ns = ms * 1000000;
    struct sb_report r = { .snap = &s,
        .interval_s = 1,
        .total_s = end,
        .latency = &latency,
        .lat_max = ns,
        .lat_sum = events * ns,
        .errors = 1,
        .partial = partial };

    for (unsigned i = 0; i < events; i++)
        sb_hist_snap_put(&latency, sb_hist_index(ns), 1);
    CHECK_INT(sb_beside_figures_add(f, &r), 0);
    sb_hist_snap_done(&latency);
}

static void interval(
    struct sb_beside_figures *f, double end, unsigned events, uint64_t ms)
{
    add_interval(f, end, events, ms, false);
}

// As a run does it: what is known of the command comes with the intervals.
static void three_phases(struct sb_beside_figures *f)
{
    unsigned end = 0;

    *f = (struct sb_beside_figures){ .name = "dump", .pct = 95 };
    for (; end < 20; end++)
        interval(f, end + 1, 100 + end % 2, 10);
    f->command = (struct sb_beside_command){ .started = true, .start = 20.5 };
    for (; end < 41; end++)
        interval(f, end + 1, 50 + end % 2, 20);
    f->command.ended = true;
    f->command.end = 41.5;
    f->command.seconds = 21;
    interval(f, ++end, 7, 9000); // the command ends in it
    for (; end < 52; end++)
        interval(f, end + 1, 80, 12);
    add_interval(f, end + 1, 80, 12, true);
}

static void intervals_belong_to_phases(void)
{
    struct sb_beside_figures f;
    struct sb_compare c[SB_BESIDE_VALUES];

    three_phases(&f);
    CHECK_INT(f.phase[SB_BESIDE_BEFORE].n, 20);
    CHECK_INT(f.phase[SB_BESIDE_DURING].n, 20);
    CHECK_INT(f.phase[SB_BESIDE_AFTER].n, 10);
    // An event that the command blocks until its end is in no other phase.
    CHECK_INT(f.phase[SB_BESIDE_EDGES].n, 2);
    CHECK_INT(f.phase[SB_BESIDE_EDGES].events, 50 + 7);
    CHECK_INT(f.phase[SB_BESIDE_EDGES].lat_max / 1000000, 9000);
    CHECK_INT(f.phase[SB_BESIDE_DURING].lat_max / 1000000, 20);
    CHECK_INT(f.phase[SB_BESIDE_DURING].errors, 20);
    CHECK_NEAR(
        sb_beside_figure(&f, SB_BESIDE_BEFORE, SB_BESIDE_RATE), 100.5, 1e-9);
    CHECK_NEAR(
        sb_beside_figure(&f, SB_BESIDE_DURING, SB_BESIDE_RATE), 50.5, 1e-9);
    CHECK_NEAR(sb_beside_figure(&f, SB_BESIDE_DURING, SB_BESIDE_AVG), 20, 1e-9);
    CHECK_NEAR(sb_beside_figure(&f, SB_BESIDE_AFTER, SB_BESIDE_PCT), 12, 0.2);
    CHECK_INT(sb_beside_base(&f), SB_BESIDE_BEFORE);
    sb_beside_compare(&f, c);
    CHECK_NEAR(c[SB_BESIDE_RATE].difference, 50.5 / 100.5 - 1, 1e-9);
    CHECK(c[SB_BESIDE_RATE].low < c[SB_BESIDE_RATE].difference);
    CHECK(c[SB_BESIDE_RATE].high < 0);
    CHECK_NEAR(c[SB_BESIDE_AVG].difference, 1, 1e-9);
    sb_beside_figures_done(&f);
}

// The command starts with the run: it is compared with the time after it.
static void without_a_phase_before(void)
{
    struct sb_beside_figures f = { .name = "dump", .pct = 95 };
    struct sb_compare c[SB_BESIDE_VALUES];

    f.command = (struct sb_beside_command){ .started = true };
    interval(&f, 1, 100, 1);
    f.command.ended = true;
    f.command.end = 1;
    interval(&f, 2, 200, 1);
    CHECK_INT(sb_beside_base(&f), SB_BESIDE_AFTER);
    sb_beside_compare(&f, c);
    CHECK_NEAR(c[SB_BESIDE_RATE].difference, -0.5, 1e-9);
    CHECK(isnan(c[SB_BESIDE_RATE].low)); // one interval has no error
    sb_beside_figures_done(&f);
}

// The run ends with the command, in an interval that is not complete.
static void ends_in_a_partial_interval(void)
{
    struct sb_beside_figures f = { .name = "dump", .pct = 95 };

    interval(&f, 1, 100, 1);
    f.command = (struct sb_beside_command){ .started = true, .start = 1 };
    interval(&f, 2, 50, 1);
    f.command.ended = true;
    f.command.end = 2.5;
    add_interval(&f, 3, 1, 700, true);
    CHECK_INT(f.phase[SB_BESIDE_DURING].n, 1);
    CHECK_INT(f.phase[SB_BESIDE_EDGES].n, 1);
    CHECK_INT(f.phase[SB_BESIDE_EDGES].lat_max / 1000000, 700);
    sb_beside_figures_done(&f);
}

CHECK_FILE
{
    RUN(intervals_belong_to_phases);
    RUN(without_a_phase_before);
    RUN(ends_in_a_partial_interval);
    return check_done();
}
