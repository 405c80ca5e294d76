// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/until.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/units.h"
#include "measure/mean.h"
#include "measure/steady.h"
#include "measure/student.h"

// A rule that looks often stops at the look at which the interval happens to be
// narrow. So the intervals are those of 98 %, the goals must have been reached
// for a while, and a short run is not ended. Simulated: test_until.c.
#define CHANCE    0.02
#define SHARE_MIN 0.2 // of the planned intervals
#define SINCE_MAX 0.7 // reached since this share of the intervals
#define N_MIN     20  // intervals
#define LOOK      20  // a look when the number has grown by 1/20
#define SUSPECT   0.1 // a slope with a higher p value may be chance
#define RISE_MAX  1   // of a line through the intervals, in units of `within`

// Parsing ---------------------------------------------------------------------

static int expected(
    struct sb_err *err, const char *goal, size_t len, const char *what)
{
    return sb_err_set(err, SB_EUSAGE, "--until: '%.*s': expected %s",
        len < 100 ? (int)len : 100, goal, what);
}

static bool read_figure(struct sb_until_goal *g, const char *word, size_t len)
{
    char number[32];

    if (len == 3 && memcmp(word, "tps", 3) == 0) {
        g->figure = SB_UNTIL_RATE;
        return true;
    }
    if (len == 3 && memcmp(word, "avg", 3) == 0) {
        g->figure = SB_UNTIL_MEAN;
        return true;
    }
    if (len < 2 || len > sizeof(number) || word[0] != 'p')
        return false;
    snprintf(number, sizeof(number), "%.*s", (int)len - 1, word + 1);
    g->figure = SB_UNTIL_PERCENTILE;
    return sb_units_double(number, &g->pct) == 0 && g->pct > 0 && g->pct < 100;
}

static int read_goal(
    struct sb_until_goal *g, const char *text, size_t len, struct sb_err *err)
{
    static const char within[] = "within";
    char number[32];
    const char *word = text, *end = text + len;
    size_t n = strcspn(word, " \t,");

    *g = (struct sb_until_goal){ .now = NAN };
    if (!read_figure(g, word, n))
        return expected(err, text, len, "tps, avg or a percentile such as p99");
    word += n;
    word += strspn(word, " \t");
    if (strncmp(word, within, strlen(within)) != 0)
        return expected(err, text, len, "'within' after the figure");
    word += strlen(within);
    word += strspn(word, " \t");
    snprintf(number, sizeof(number), "%.*s", end > word ? (int)(end - word) : 0,
        word);
    if (sb_units_parse_percent(number, &g->within) || g->within <= 0 ||
        g->within >= 100)
        return expected(err, text, len, "a percentage, such as 5%");
    g->within /= 100;
    return 0;
}

int sb_until_init(struct sb_until *u, const char *text, struct sb_err *err)
{
    *u = (struct sb_until){ .next = N_MIN };
    for (;;) {
        size_t len;
        int rc;

        text += strspn(text, " \t");
        len = strcspn(text, ",");
        if (len == 0 && !text[len] && u->n == 0)
            return 0;
        while (len && strchr(" \t", text[len - 1]))
            len--;
        if (u->n == SB_UNTIL_MAX)
            return sb_err_set(err, SB_ERANGE,
                "--until: too many goals; the maximum is %d", SB_UNTIL_MAX);
        rc = read_goal(&u->goal[u->n], text, len, err);
        if (rc)
            return rc;
        u->n++;
        text += strcspn(text, ",");
        if (!*text)
            return 0;
        text++;
    }
}

const char *sb_until_text(const struct sb_until_goal *g, char *out, size_t size)
{
    char figure[32] = "tps";

    if (g->figure == SB_UNTIL_MEAN)
        snprintf(figure, sizeof(figure), "avg");
    if (g->figure == SB_UNTIL_PERCENTILE)
        snprintf(figure, sizeof(figure), "p%g", g->pct);
    snprintf(out, size, "%s within %g%%", figure, 100 * g->within);
    return out;
}

// The rule --------------------------------------------------------------------

static double half_of_percentile(const struct sb_until_series *s, double pct)
{
    const struct sb_tails *t = s->tails;
    double p = pct / 100, value, low, high, half, mean;
    unsigned i = 0;

    while (t->pct[i] != pct)
        i++;
    const struct sb_values shares = { t->share[i], t->events, t->intervals,
        NAN };

    half = sb_mean_half(&shares, CHANCE, &mean);
    // Independent events deviate, too.
    half = fmax(half, sb_student_t(CHANCE, (double)t->sum.total) *
                          sqrt(p * (1 - p) / (double)t->sum.total));
    if (!(half >= 0) || p + half >= 1)
        return NAN;
    value = sb_hist_snap_percentile(&t->sum, pct, UINT64_MAX);
    low = sb_hist_snap_percentile(&t->sum, 100 * fmax(p - half, 0), UINT64_MAX);
    high = sb_hist_snap_percentile(&t->sum, 100 * (p + half), UINT64_MAX);
    return fmax(high - value, value - low) / value;
}

static double known_within(
    const struct sb_until_goal *g, const struct sb_until_series *s)
{
    const struct sb_values rate = { s->rate, s->seconds, s->n, NAN };
    const struct sb_values latency = { s->latency, s->events, s->n, NAN };
    double mean, half;

    if (g->figure == SB_UNTIL_PERCENTILE)
        return half_of_percentile(s, g->pct);
    half = sb_mean_half(
        g->figure == SB_UNTIL_RATE ? &rate : &latency, CHANCE, &mean);
    return mean > 0 ? half / mean : NAN;
}

// Whether the mean is that of a steady run: no change altered it by `most`, a
// line through the intervals is known to rise or fall by less, and does not
// promise more for the rest of the planned run. A drift is hard to find in the
// intervals that the mean takes to be exact.
static bool is_steady(const double *value, const struct sb_until_series *s,
    double most, size_t planned)
{
    const struct sb_values v = { value, s->seconds, s->n, NAN };
    double ahead = fmax((double)planned / (double)s->n, 1), drift;
    struct sb_steady found;
    struct sb_mean m;

    sb_mean(&v, &m);
    if (!(m.df > 0))
        return false;
    drift = fabs(m.drift);
    if (drift + sb_student_t(CHANCE, m.df) * m.drift_error > most * m.value)
        return false;
    if (drift > sb_student_t(SUSPECT, m.df) * m.drift_error &&
        drift * ahead > most * m.value)
        return false;
    sb_steady(&v, &found);
    return found.nparts > 0 &&
           fabs(m.value / found.part[found.nparts - 1].mean - 1) <= most;
}

bool sb_until_look(
    struct sb_until *u, const struct sb_until_series *s, size_t planned)
{
    double most = 0;
    bool all = true;

    if (u->n == 0 || u->reached || s->n < u->next)
        return u->reached;
    u->next = s->n + (s->n > LOOK ? s->n / LOOK : 1);
    for (unsigned i = 0; i < u->n; i++) {
        u->goal[i].now = known_within(&u->goal[i], s);
        all = all && u->goal[i].now <= u->goal[i].within;
        most = fmax(most, RISE_MAX * u->goal[i].within);
    }
    u->unsteady = all && !(is_steady(s->rate, s, most, planned) &&
                             is_steady(s->latency, s, most, planned));
    if (!all || u->unsteady)
        u->since = 0;
    else if (u->since == 0)
        u->since = s->n;
    u->reached = u->since > 0 && (double)s->n >= SHARE_MIN * (double)planned &&
                 (double)u->since <= SINCE_MAX * (double)s->n;
    return u->reached;
}
