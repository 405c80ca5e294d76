// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/timers.h"

#include "kit/rng.h"
#include "check.h"

// The share of wake-ups that come later than the margin, after it has settled,
// and the time that is spent in busy waiting, as a part of the margin.
static double late_share(uint64_t base, uint64_t spread, double *spent)
{
    struct sb_alarm a = { 0 };
    struct sb_rng r;
    int missed = 0, n = 200000;
    double waited = 0;

    sb_rng_init(&r, 7, 0);
    for (int i = -20000; i < n; i++) {
        uint64_t late = base + sb_rng_below(&r, spread + 1);
        uint64_t margin = sb_alarm_margin(&a);

        if (i >= 0 && late > margin)
            missed++;
        else if (i >= 0)
            waited += (double)(margin - late);
        sb_alarm_learn(&a, late);
    }
    *spent = waited / n;
    return (double)missed / n;
}

static void most_wake_ups_come_in_time(void)
{
    double spent;

    CHECK_NEAR(late_share(40000, 30000, &spent), 0.05, 0.02);
    CHECK_NEAR(spent, 15000, 5000);
    CHECK_NEAR(late_share(5000, 1000, &spent), 0.05, 0.02);
    CHECK(spent < 2000);
}

static void the_margin_has_limits(void)
{
    struct sb_alarm a = { 0 };

    CHECK_INT(sb_alarm_margin(&a), SB_ALARM_FIRST);
    for (int i = 0; i < 10000; i++)
        sb_alarm_learn(&a, 0);
    CHECK_INT(sb_alarm_margin(&a), SB_ALARM_MIN);
    for (int i = 0; i < 10000; i++)
        sb_alarm_learn(&a, 1000000000);
    CHECK_INT(sb_alarm_margin(&a), SB_ALARM_MAX);
}

// A machine that becomes slower is followed within some tens of wake-ups.
static void changes_are_followed(void)
{
    struct sb_alarm a = { 0 };
    int n = 0;

    for (int i = 0; i < 10000; i++)
        sb_alarm_learn(&a, 10000);
    while (sb_alarm_margin(&a) < 100000 && n < 1000) {
        sb_alarm_learn(&a, 100000);
        n++;
    }
    CHECK(n < 40);
}

CHECK_FILE
{
    RUN(most_wake_ups_come_in_time);
    RUN(the_margin_has_limits);
    RUN(changes_are_followed);
    return check_done();
}
