// SPDX-License-Identifier: GPL-2.0-or-later
//
// --report=hdr=FILE and --report=hgrm=FILE: histograms for HdrHistogram's
// tools.
#include <assert.h>
#include <stdlib.h>

#include "out/hdr.h"
#include "out/reporter.h"
#include "out/target.h"

struct hdr {
    struct sb_target target;
    struct sb_hdr log;
    struct sb_hist_snap sum; // of the intervals written so far
    double until;            // end of the last one, s
    bool begun;
};

// rc: the result of a function that has written to the file. If a write failed,
// replaces *err by an error with the name of the file.
static int flush(struct sb_target *t, int rc, struct sb_err *err)
{
    struct sb_err why = { 0 };

    if (rc && rc != SB_ESYS)
        return rc;
    if (sb_target_flush(t, &why)) {
        *err = why;
        rc = why.code;
    }
    return rc;
}

static int hdr_open(struct sb_reporter *r, struct sb_err *err)
{
    struct hdr *h = calloc(1, sizeof(*h));
    int rc;

    r->data = h;
    if (!h)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    rc = sb_target_open(
        &h->target, r->target, SB_TARGET_LINES | r->chosen, err);
    return rc ? rc : sb_hdr_init(&h->log, h->target.file, err);
}

static int hdr_begin(struct sb_reporter *r, struct sb_err *err)
{
    struct hdr *h = r->data;

    return sb_target_begin(&h->target, err);
}

static int write_head(struct sb_reporter *r, struct sb_err *err)
{
    struct hdr *h = r->data;
    const struct timespec *started = &r->facts->started;
    char program[64];

    if (h->begun)
        return 0;
    h->begun = true;
    snprintf(program, sizeof(program), "sysbench %s", r->facts->version);
    return sb_hdr_begin(&h->log, program,
        (double)started->tv_sec + (double)started->tv_nsec / 1e9, err);
}

static int write_interval(struct sb_reporter *r, double until, double seconds,
    const struct sb_hist_snap *times, struct sb_err *err)
{
    struct hdr *h = r->data;
    int rc = write_head(r, err);

    if (rc == 0)
        rc = sb_hdr_interval(
            &h->log, NULL, until - seconds, seconds, times, err);
    h->until = until;
    return flush(&h->target, rc, err);
}

static int hdr_interval(struct sb_reporter *r, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err)
{
    struct hdr *h = r->data;

    (void)row;
    if (report->warmup)
        return 0;
    if (sb_hist_snap_add(&h->sum, report->latency))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return write_interval(
        r, report->total_s, report->interval_s, report->latency, err);
}

// A line for each operation, with the name as its tag, of the whole measured
// part. Lines per interval would take too long: see docs/internals/hdr.md.
static int write_operations(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct hdr *h = r->data;
    const struct sb_snap *s = whole->snap;
    int rc = write_head(r, err);

    for (unsigned i = 0; rc == 0 && s->op && whole->stats && i < s->nops; i++)
        if (s->op[i].hist.total)
            rc = sb_hdr_interval(&h->log, whole->stats->op[i].name, 0,
                whole->total_s, &s->op[i].hist, err);
    return flush(&h->target, rc, err);
}

// Writes a last line with the events that no interval contains: the latest
// ones, and those that ended after the time limit. Then the operations.
static int hdr_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct hdr *h = r->data;
    struct sb_hist_snap rest = { 0 };
    double left = whole->total_s - h->until;
    int rc = 0;

    if (whole->warmup)
        return 0;
    if (sb_hist_snap_sub(&rest, whole->latency, &h->sum))
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    else if (rest.total)
        rc = write_interval(r, left > 0 ? whole->total_s : h->until,
            left > 0 ? left : 0, &rest, err);
    sb_hist_snap_done(&rest);
    return rc ? rc : write_operations(r, whole, err);
}

static int hdr_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct hdr *h = r->data;

    (void)o;
    int rc = flush(&h->target, write_head(r, err), err);

    return rc ? rc : sb_target_commit(&h->target, err);
}

// The outcome is no part of the file.
static int hdr_draft(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct hdr *h = r->data;

    (void)o;
    return flush(&h->target, write_head(r, err), err);
}

static void hdr_done(struct sb_reporter *r)
{
    struct hdr *h = r->data;

    if (!h)
        return;
    sb_hdr_done(&h->log);
    sb_hist_snap_done(&h->sum);
    sb_target_done(&h->target);
    free(h);
}

const struct sb_reporter_kind sb__hdr_kind = {
    .name = "hdr",
    .target = "FILE",
    .form = SB_REPORT_LINES,
    .open = hdr_open,
    .begin = hdr_begin,
    .interval = hdr_interval,
    .final = hdr_final,
    .draft = hdr_draft,
    .finish = hdr_finish,
    .done = hdr_done,
};

// hgrm ------------------------------------------------------------------------

struct hgrm {
    struct sb_target target;
    bool written;
};

static int hgrm_open(struct sb_reporter *r, struct sb_err *err)
{
    struct hgrm *h = calloc(1, sizeof(*h));

    r->data = h;
    if (!h)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return sb_target_open(
        &h->target, r->target, SB_TARGET_WHOLE | r->chosen, err);
}

static int hgrm_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct hgrm *h = r->data;

    assert(!h->written); // a second table would follow the first one
    h->written = true;
    return flush(
        &h->target, sb_hgrm_write(h->target.file, whole->latency, err), err);
}

// A run that has not begun leaves a table without rows, not an older file.
static int hgrm_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct hgrm *h = r->data;
    struct sb_hist_snap none = { 0 };
    int rc = 0;

    (void)o;
    if (!h->target.file) // committed by draft()
        return 0;
    if (!h->written)
        rc = flush(&h->target, sb_hgrm_write(h->target.file, &none, err), err);
    return rc ? rc : sb_target_commit(&h->target, err);
}

// The outcome is no part of the file.
static int hgrm_draft(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct hgrm *h = r->data;

    (void)o;
    assert(h->written);
    return sb_target_is_replaced(&h->target) ? sb_target_commit(&h->target, err)
                                             : sb_target_flush(&h->target, err);
}

static void hgrm_done(struct sb_reporter *r)
{
    struct hgrm *h = r->data;

    if (!h)
        return;
    sb_target_done(&h->target);
    free(h);
}

const struct sb_reporter_kind sb__hgrm_kind = {
    .name = "hgrm",
    .target = "FILE",
    .form = SB_REPORT_DOCUMENT,
    .open = hgrm_open,
    .final = hgrm_final,
    .draft = hgrm_draft,
    .finish = hgrm_finish,
    .done = hgrm_done,
};
