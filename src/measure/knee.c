// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/knee.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"

#define SHARE 0.95

static bool counts(const struct sb_mean *run)
{
    return isfinite(run->value) && run->value > 0;
}

static bool is_complete(const struct sb_load *load)
{
    for (size_t i = 0; i < load->n; i++) {
        if (!counts(&load->run[i]))
            return false;
    }
    return load->n > 0;
}

static double mean_log(const struct sb_load *load)
{
    double sum = 0;

    for (size_t i = 0; i < load->n; i++)
        sum += log(load->run[i].value);
    return sum / (double)load->n;
}

// What the throughput of a round is multiplied by, from the loads that have all
// rounds.
static double effect(const struct sb_load *load, size_t n, size_t round)
{
    double sum = 0;
    size_t complete = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_complete(&load[i])) {
            sum += log(load[i].run[round].value) - mean_log(&load[i]);
            complete++;
        }
    }
    return exp(sum / (double)complete);
}

// The effects take a part of the deviations of the runs with them, which is
// 1 / n of their variance if all n loads deviate alike.
static void restore_deviation(struct sb_mean *run, size_t rounds, size_t n)
{
    double mean = 0, values = 0, share = sqrt((double)n / ((double)n - 1));

    for (size_t k = 0; k < rounds; k++) {
        if (counts(&run[k])) {
            mean += log(run[k].value);
            values++;
        }
    }
    mean /= values;
    for (size_t k = 0; k < rounds; k++) {
        if (counts(&run[k]))
            run[k].value = exp(mean + (log(run[k].value) - mean) * share);
    }
}

// Writes the loads without the effects of the rounds to `out`, whose runs are
// in `run`. Returns the number of loads that have all rounds; with less than
// two, nothing is changed.
static size_t without_rounds(const struct sb_load *load, size_t n,
    struct sb_load *out, struct sb_mean *run)
{
    size_t rounds = load[0].n, complete = 0;

    for (size_t i = 0; i < n; i++) {
        assert(load[i].n == rounds);
        complete += is_complete(&load[i]);
        out[i] = load[i];
    }
    if (complete < 2 || rounds < 2)
        return 0;
    for (size_t k = 0; k < rounds; k++) {
        double by = effect(load, n, k);

        for (size_t i = 0; i < n; i++) {
            struct sb_mean *to = &run[i * rounds + k];

            *to = load[i].run[k];
            to->value /= by;
            to->error /= by;
        }
    }
    for (size_t i = 0; i < n; i++) {
        restore_deviation(&run[i * rounds], rounds, complete);
        out[i].run = &run[i * rounds];
    }
    return complete;
}

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

static bool is_resolved(const struct sb_compare *to_peak, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (to_peak[i].verdict == SB_VERDICT_LOWER)
            return true;
    }
    return false;
}

static int compare_loads(const struct sb_load *load, size_t n,
    const struct sb_knee_opts *o, bool paired, struct sb_compare *to_peak,
    struct sb_knee *k)
{
    struct sb_compare_opts compare = { o->confidence, 0, o->run_deviation,
        paired };
    size_t last = n;
    int rc;

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
    k->resolved = is_resolved(to_peak, n);
    k->still_rising = !k->estimated && n > 1 && k->first_like_peak + 1 == last;
    return 0;
}

int sb_knee(const struct sb_load *load, size_t n, const struct sb_knee_opts *o,
    struct sb_compare *to_peak, struct sb_knee *k)
{
    struct sb_load *loads = NULL;
    struct sb_mean *runs = NULL;
    size_t complete = 0;
    int rc;

    *k = (struct sb_knee){ 0 };
    if (o->rounds && n > 0) {
        loads = calloc(n, sizeof(*loads));
        runs = calloc(n * load[0].n + 1, sizeof(*runs));
        if (!loads || !runs) {
            free(loads);
            free(runs);
            return SB_ENOMEM;
        }
        complete = without_rounds(load, n, loads, runs);
    }
    // The deviations of two loads from their rounds are the same.
    rc = compare_loads(
        complete > 2 ? loads : load, n, o, complete == 2, to_peak, k);
    free(loads);
    free(runs);
    return rc;
}
