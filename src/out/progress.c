// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/buf.h"
#include "kit/units.h"

// Whole seconds as "1:02:03", or "2:03" below an hour.
static void add_clock(struct sb_buf *b, double seconds)
{
    long s = seconds > 0 && seconds < 1e9 ? lround(seconds) : 0;

    if (s >= 3600)
        sb_buf_addf(b, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        sb_buf_addf(b, "%ld:%02ld", s / 60, s % 60);
}

static void add_left(struct sb_buf *b, const struct sb_report *r,
    const struct sb_progress_plan *plan, uint64_t done)
{
    double rate = r->interval_s > 0
                      ? (double)r->snap->c.completed / r->interval_s
                      : 0;
    double left = INFINITY;

    if (plan->seconds > 0)
        left = plan->seconds - r->total_s;
    if (plan->events > done && rate > 0)
        left = fmin(left, (double)(plan->events - done) / rate);
    if (r->warmup) {
        sb_buf_adds(b, "warm-up, ");
        add_clock(b, r->warmup_s - r->total_s);
        sb_buf_adds(b, " left");
    } else if (isfinite(left)) {
        add_clock(b, left);
        sb_buf_adds(b, " left");
    } else {
        add_clock(b, r->total_s);
        sb_buf_adds(b, " so far");
    }
}

static void add_errors(struct sb_buf *b, const struct sb_report *r)
{
    uint64_t errors = r->errors + r->snap->c.err_fatal;

    if (errors > 0)
        sb_buf_addf(b, ", %.1f errors/s",
            r->interval_s > 0 ? (double)errors / r->interval_s : 0);
    if (r->open_loop)
        sb_buf_addf(b, ", queue %" PRIu64, r->queue);
}

void sb_progress_text(char *out, size_t size, const struct sb_report *r,
    const struct sb_progress_plan *plan, uint64_t done)
{
    struct sb_buf b;

    sb_buf_init(&b, size - 1);
    add_left(&b, r, plan, done);
    sb_buf_addf(&b, ": %u user%s, %.0f events/s", r->running,
        r->running == 1 ? "" : "s",
        r->interval_s > 0 ? (double)r->snap->c.completed / r->interval_s : 0);
    if (plan->pct > 0 && r->latency->total > 0) {
        double ms = sb_report_percentile(r, plan->pct) / 1e6;

        sb_buf_addf(
            &b, ", p%g %.*f ms", plan->pct, sb_units_ms_decimals(ms, 2), ms);
    }
    add_errors(&b, r);
    snprintf(out, size, "%s", b.data ? b.data : "");
    sb_buf_done(&b);
}

void sb_progress_search(char *out, size_t size, const struct sb_searching *now)
{
    struct sb_buf b;

    sb_buf_init(&b, size - 1);
    if (now->warmup)
        sb_buf_adds(&b, "warm-up: ");
    else if (now->trial == 0)
        sb_buf_adds(&b, "maximum of a closed loop: ");
    else
        sb_buf_addf(&b, "trial %u of at most %u: %.0f events/s, ", now->trial,
            now->max_trials, now->rate);
    add_clock(&b, now->left);
    sb_buf_adds(&b, " left");
    snprintf(out, size, "%s", b.data ? b.data : "");
    sb_buf_done(&b);
}

void sb_progress_run(char *out, size_t size, unsigned place, unsigned places,
    double left, const char *line)
{
    struct sb_buf b;

    sb_buf_init(&b, size - 1);
    sb_buf_addf(&b, "run %u/%u", place, places);
    if (isfinite(left)) {
        sb_buf_adds(&b, " (last ends in ");
        add_clock(&b, left);
        sb_buf_adds(&b, ")");
    }
    sb_buf_addf(&b, ", %s", line);
    snprintf(out, size, "%s", b.data ? b.data : "");
    sb_buf_done(&b);
}

void sb_progress_pause(
    char *out, size_t size, unsigned place, unsigned places, double seconds)
{
    struct sb_buf b;

    sb_buf_init(&b, size - 1);
    sb_buf_addf(&b, "pause, ");
    add_clock(&b, seconds);
    sb_buf_addf(&b, " left until run %u/%u", place, places);
    snprintf(out, size, "%s", b.data ? b.data : "");
    sb_buf_done(&b);
}
