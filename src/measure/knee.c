// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/knee.h"

#include <math.h>

#include "base/err.h"

#define SHARE 0.95

static double throughput(const struct sb_load *load)
{
    double sum = 0;
    size_t runs = 0;

    for (size_t i = 0; i < load->n; i++) {
        if (isfinite(load->run[i].value)) {
            sum += load->run[i].value;
            runs++;
        }
    }
    return runs > 0 ? sum / (double)runs : 0;
}

// Returns n if no load has a throughput.
static size_t find_peak(const struct sb_load *load, size_t n)
{
    size_t peak = n;
    double best = 0;

    for (size_t i = 0; i < n; i++) {
        double now = throughput(&load[i]);

        if (now > best) {
            best = now;
            peak = i;
        }
    }
    return peak;
}

// Without intervals, the estimate decides.
static bool may_reach(const struct sb_compare *c, double missing)
{
    return (isnan(c->high) ? c->difference : c->high) >= missing;
}

static bool like_peak(const struct sb_compare *c, double missing)
{
    if (c->verdict == SB_VERDICT_NONE)
        return c->difference >= missing;
    return c->verdict != SB_VERDICT_LOWER;
}

// Loads without throughput have no difference, so no condition is true for
// them. The loop goes from high loads to low ones, so the lowest load that
// meets a condition is stored last.
static void find_knee(
    const struct sb_compare *to_peak, size_t n, double share, struct sb_knee *k)
{
    double missing = share - 1;

    k->first_like_peak = k->last_like_peak = k->peak;
    for (size_t i = k->peak + 1; i < n; i++) {
        if (like_peak(&to_peak[i], missing))
            k->last_like_peak = i;
    }
    k->knee = k->knee_low = k->knee_high = k->peak;
    for (size_t i = k->peak; i-- > 0;) {
        const struct sb_compare *c = &to_peak[i];

        if (like_peak(c, missing))
            k->first_like_peak = i;
        if (c->difference >= missing)
            k->knee = i;
        if (may_reach(c, missing))
            k->knee_low = i;
        if (c->low >= missing)
            k->knee_high = i;
    }
}

// Whether a load that counts cannot be compared with the peak.
static bool is_estimated(
    const struct sb_compare *to_peak, size_t n, size_t peak)
{
    for (size_t i = 0; i < n; i++)
        if (i != peak && to_peak[i].b.value > 0 &&
            to_peak[i].verdict == SB_VERDICT_NONE)
            return true;
    return false;
}

int sb_knee(const struct sb_load *load, size_t n, const struct sb_knee_opts *o,
    struct sb_compare *to_peak, struct sb_knee *k)
{
    struct sb_compare_opts compare = { o->confidence, 0, o->run_deviation,
        false };
    size_t last = n;
    int rc;

    *k = (struct sb_knee){ 0 };
    k->peak = find_peak(load, n);
    if (k->peak == n)
        return SB_ENOTFOUND;
    for (size_t i = 0; i < n; i++)
        sb_compare(load[k->peak].run, load[k->peak].n, load[i].run, load[i].n,
            &compare, &to_peak[i]);
    to_peak[k->peak].p = to_peak[k->peak].p_adjusted = NAN;
    rc = sb_compare_holm(to_peak, n, o->confidence);
    if (rc)
        return rc;
    find_knee(to_peak, n, o->share > 0 ? o->share : SHARE, k);
    while (last > 0 && !(to_peak[last - 1].b.value > 0))
        last--;
    k->estimated = is_estimated(to_peak, n, k->peak);
    k->still_rising = !k->estimated && n > 1 && k->first_like_peak + 1 == last;
    return 0;
}
