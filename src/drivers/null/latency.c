// SPDX-License-Identifier: GPL-2.0-or-later
//
// The duration of calls of the null driver.
#include "drivers/null/internal.h"
#include "kit/clock.h"

#define SLICE_NS 50000000 // interval of checks of the cancel flag
#define MOST_NS  (INT64_C(86400) * 1000000000) // a day

int null_time_parse(
    const char *text, struct sb_timedist *out, struct sb_err *err)
{
    struct sb_timedist t = { 0 };

    if (sb_timedist_parse(text, &t, NULL) || t.a > (double)MOST_NS)
        return sb_err_set(err, SB_EUSAGE,
            "'%s' is not a valid latency (2ms, uniform:1ms,3ms, exp:2ms, "
            "normal:2ms,0.5ms, pareto:1ms,1.5)",
            text);
    *out = t;
    return 0;
}

int64_t null_time_draw(const struct sb_timedist *t, struct sb_rng *r)
{
    int64_t ns = sb_timedist_draw(t, r);

    return ns < MOST_NS ? ns : MOST_NS;
}

int null_sleep(
    const struct sb_host *host, int64_t ns, const _Atomic bool *canceled)
{
    uint64_t now = sb_clock_monotonic(), until = now + (uint64_t)ns;
    uint64_t to = until;

    // The last sleep is the one until the end, even if an earlier one lasted
    // longer: its end is when the answer is there.
    while (now < until || to < until) {
        to = until > now + SLICE_NS ? now + SLICE_NS : until;
        if (atomic_load_explicit(canceled, memory_order_relaxed))
            return SB_ECANCELED;
        host->sleep(to);
        now = sb_clock_monotonic();
    }
    return 0;
}
