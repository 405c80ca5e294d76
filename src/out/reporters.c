// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/reporter.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "base/near.h"
#include "base/opts.h"

#define AT(field) offsetof(struct sb_report_opts, field)

static const struct sb_opt report_options[] = {
    { .name = "report",
        .type = SB_OPT_LIST,
        .offset = AT(report),
        .def = "text",
        .flags = SB_OPT_COMMON | SB_OPT_YIELDS,
        .help = "reports to write in addition to the text, separated by "
                "commas: json=FILE, ndjson=FILE, csv=FILE, html=FILE, hdr=FILE "
                "(HdrHistogram log), hgrm=FILE (percentile table), junit=FILE "
                "(limits of --assert), web=ADDR:PORT (a page and /metrics "
                "during the run); 'none' omits the text" },
    { .name = "progress",
        .type = SB_OPT_BOOL,
        .offset = AT(progress),
        .def = "on",
        .flags = SB_OPT_YIELDS,
        .help = "show a progress line on stderr if stderr is a terminal; if "
                "not set, only without --report-interval" },
    { .name = "label",
        .type = SB_OPT_LIST,
        .offset = AT(labels),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "labels to keep in result files: KEY=VALUE,..." },
    { .name = "assert",
        .type = SB_OPT_STRING,
        .offset = AT(limits),
        .def = "",
        .flags = SB_OPT_COMMON | SB_OPT_YIELDS,
        .help = "limits for figures, checked at the end: 'p99<10ms, tps>1000, "
                "failed==0, read.p95<5ms'; 'p99<50ms abort' also ends the run. "
                "Exit status 3 if one is not kept" },
    { .name = "headline",
        .type = SB_OPT_STRING,
        .offset = AT(headline),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "the main figure of the run, named as in limits: p99, "
                "shop.tps, failover.lost; if not set, the result that the "
                "workload calls its headline" },
    { .name = "until",
        .type = SB_OPT_STRING,
        .offset = AT(until),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "end the run when its figures are known this exactly, such as "
                "'p99 within 5%, tps within 2%'; --time is then the maximum" },
    { .name = NULL },
};

const struct sb_opt_table sb_report_opt_table = {
    .title = "Report options",
    .section = "report",
    .opts = report_options,
};

static const struct sb_reporter_kind *const kinds[] = {
    &sb__json_kind,
    &sb__junit_kind,
    &sb__hdr_kind,
    &sb__hgrm_kind,
    &sb__ndjson_kind,
    &sb__csv_kind,
    &sb__html_kind,
    &sb__web_kind,
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct sb_reporter_kind *find_kind(const char *name, size_t len)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strlen(kinds[i]->name) == len &&
            strncmp(kinds[i]->name, name, len) == 0)
            return kinds[i];
    return NULL;
}

static int unknown(const char *item, size_t len, struct sb_err *err)
{
    char names[128] = "", name[256];

    for (size_t i = 0; i < KINDS; i++) {
        size_t at = strlen(names);

        snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
            kinds[i]->name);
    }
    snprintf(name, sizeof(name), "%.*s", (int)len, item);
    return sb_err_set(err, SB_EUSAGE,
        "--report: unknown report '%s' (must be one of text, none, %s)",
        SB_SHOWN(name), names);
}

static int add_reporter(
    struct sb_reporters *rs, const char *item, struct sb_err *err)
{
    size_t len = strcspn(item, "=");
    const struct sb_reporter_kind *kind = find_kind(item, len);
    const char *target = item[len] ? item + len + 1 : "";

    if (!kind)
        return unknown(item, len, err);
    if (kind->missing)
        return sb_err_set(
            err, SB_EUNSUPPORTED, "--report=%s: %s", kind->name, kind->missing);
    if (!*target)
        return sb_err_set(err, SB_EUSAGE,
            "--report=%s: the target is missing: write %s=%s", kind->name,
            kind->name, kind->target);
    for (unsigned i = 0; i < rs->n; i++)
        if (strcmp(rs->item[i].target, target) == 0)
            return sb_err_set(err, SB_EUSAGE,
                "--report: two reports cannot be written to '%s'",
                SB_SHOWN(target));
    if (rs->n == SB_REPORTERS_MAX)
        return sb_err_set(err, SB_ERANGE,
            "--report: too many reports; the maximum is %d", SB_REPORTERS_MAX);
    rs->item[rs->n++] = (struct sb_reporter){ .kind = kind, .target = target };
    return 0;
}

static int check_label(const char *label, struct sb_err *err)
{
    const char *sign = strchr(label, '=');

    if (sign && sign > label)
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "--label: '%s' is not of the form KEY=VALUE", SB_SHOWN(label));
}

static bool on_stdout(const struct sb_reporter *r)
{
    return strcmp(r->target, "-") == 0 || strcmp(r->target, "/dev/stdout") == 0;
}

// Programs that read a report from standard output get nothing else there,
// unless the list names the text, too.
static void omit_text(struct sb_reporters *rs, bool asked)
{
    for (unsigned i = 0; i < rs->n; i++)
        rs->alone = rs->alone || (on_stdout(&rs->item[i]) && !asked);
    if (rs->alone && !rs->no_text)
        rs->no_text = rs->omitted = true;
}

int sb_reporters_init(
    struct sb_reporters *rs, const struct sb_report_opts *o, struct sb_err *err)
{
    bool asked = false;
    int rc = 0;

    memset(rs, 0, sizeof(*rs));
    for (size_t i = 0; rc == 0 && i < o->report.count; i++) {
        const char *item = o->report.item[i];

        if (strcmp(item, "none") == 0)
            rs->no_text = true;
        else if (strcmp(item, "text") == 0)
            asked = true;
        else
            rc = add_reporter(rs, item, err);
    }
    omit_text(rs, asked);
    for (size_t i = 0; rc == 0 && i < o->labels.count; i++)
        rc = check_label(o->labels.item[i], err);
    return rc;
}

static int cannot_start(
    const struct sb_reporter *r, const struct sb_err *why, struct sb_err *err)
{
    return sb_err_set(
        err, why->code, "--report=%s: %.400s", r->kind->name, why->msg);
}

static int open_all(struct sb_reporters *rs, struct sb_err *err)
{
    for (unsigned i = 0; i < rs->n; i++) {
        struct sb_reporter *r = &rs->item[i];
        struct sb_err why = { 0 };

        if (r->kind->open(r, &why)) {
            rs->n = i + 1; // the others have nothing to free
            return cannot_start(r, &why, err);
        }
    }
    return 0;
}

static int begin_all(struct sb_reporters *rs, struct sb_err *err)
{
    for (unsigned i = 0; i < rs->n; i++) {
        struct sb_reporter *r = &rs->item[i];
        struct sb_err why = { 0 };

        if (r->kind->begin && r->kind->begin(r, &why))
            return cannot_start(r, &why, err);
    }
    return 0;
}

int sb_reporters_open(
    struct sb_reporters *rs, const struct sb_facts *facts, struct sb_err *err)
{
    int rc;

    sb_series_init(&rs->series);
    sb_row_log_init(&rs->rows, &rs->series);
    for (unsigned i = 0; i < rs->n; i++) {
        rs->item[i].facts = facts;
        rs->item[i].rows = &rs->rows;
    }
    rc = open_all(rs, err);
    if (rc == 0)
        rc = begin_all(rs, err);
    if (rc)
        sb_reporters_done(rs);
    return rc;
}

void sb_reporters_done(struct sb_reporters *rs)
{
    for (unsigned i = 0; i < rs->n; i++)
        rs->item[i].kind->done(&rs->item[i]);
    rs->n = 0;
    sb_row_log_done(&rs->rows);
    sb_series_done(&rs->series);
}

// Logs an error that changes the state of a report.
static void worsen(struct sb_reporters *rs, struct sb_reporter *r,
    enum sb_reporter_state state, const struct sb_err *err, const char *then)
{
    rs->failed = true;
    if (r->state >= state)
        return;
    r->state = state;
    sb_log(SB_LOG_ALERT, "--report=%s: %s%s", r->kind->name, err->msg, then);
}

static void warn_full(struct sb_reporters *rs)
{
    if (rs->warned_full || rs->series.left_out == 0)
        return;
    rs->warned_full = true;
    sb_log(SB_LOG_WARNING,
        "--report: the maximum is %u columns; intervals omit the figures of "
        "further operations, metrics and counters",
        SB_COLUMNS_MAX);
}

// An interval could not be written or kept.
static void miss(
    struct sb_reporters *rs, struct sb_reporter *r, const struct sb_err *err)
{
    if (r->kind->form == SB_REPORT_LINES)
        worsen(rs, r, SB_REPORTER_ENDED, err,
            "; the run continues without this report");
    else
        worsen(rs, r, SB_REPORTER_GAPS, err,
            "; the run continues, and intervals are missing in this report");
}

struct sb_series *sb_reporters_row(
    struct sb_reporters *rs, const struct sb_report *report)
{
    rs->row_rc = rs->n ? sb_series_row(&rs->series, report) : 0;
    return rs->n && rs->row_rc == 0 ? &rs->series : NULL;
}

void sb_reporters_interval(
    struct sb_reporters *rs, const struct sb_report *report)
{
    int rc = rs->row_rc;

    assert(!report->final);
    if (rc)
        sb_row_log_miss(&rs->rows);
    else
        sb_row_log_add(&rs->rows, report);
    warn_full(rs);
    for (unsigned i = 0; i < rs->n; i++) {
        struct sb_reporter *r = &rs->item[i];
        struct sb_err err = { 0 };

        if (r->state == SB_REPORTER_ENDED || !r->kind->interval)
            continue;
        if (rc)
            sb_err_set(&err, rc, "out of memory");
        if (rc || r->kind->interval(r, report, &rs->series, &err))
            miss(rs, r, &err);
    }
}

void sb_reporters_whole(struct sb_report *w, const struct sb_report *r)
{
    assert(r->whole);
    sb_report_fill(w, r->whole, r->threads, r->open_loop, r->total_s);
    w->interval_s = r->total_s;
    w->queue = r->queue;
    w->concurrency = r->concurrency;
    w->running = r->running;
    w->final = true;
    w->warmup = r->warmup;
    w->start_ns = r->start_ns;
    w->stats = r->stats;
    w->failure = r->failure;
    w->whole = r->whole;
    w->stages = r->stages;
    w->nstages = r->nstages;
    w->ranks = r->ranks;
    w->nranks = r->nranks;
    w->search = r->search;
}

void sb_reporters_final(struct sb_reporters *rs, const struct sb_report *report)
{
    struct sb_report whole;

    sb_reporters_whole(&whole, report);
    for (unsigned i = 0; i < rs->n; i++) {
        struct sb_reporter *r = &rs->item[i];
        struct sb_err err = { 0 };

        if (r->state == SB_REPORTER_ENDED || !r->kind->final)
            continue;
        if (r->kind->final(r, &whole, &err))
            worsen(rs, r,
                r->kind->form == SB_REPORT_VIEW ? SB_REPORTER_GAPS
                                                : SB_REPORTER_ENDED,
                &err, "");
    }
}

int sb_reporters_status(const struct sb_reporters *rs, int status)
{
    return status == 0 && rs->failed ? SB_STATUS_FAILED : status;
}

// Adds the errors of reports to the outcome of the run.
static void complete(const struct sb_reporters *rs, struct sb_outcome *o)
{
    int status = sb_reporters_status(rs, o->status);

    o->unwritten = o->unwritten || status != o->status;
    o->status = status;
}

// Texts are not compared: a later outcome has the same failure or limit if it
// has one at all.
static bool is_same(const struct sb_outcome *a, const struct sb_outcome *b)
{
    return a->status == b->status && a->unwritten == b->unwritten &&
           strcmp(a->reason, b->reason) == 0 && !a->failure == !b->failure &&
           !a->limit == !b->limit && a->answers == b->answers;
}

void sb_reporters_draft(struct sb_reporters *rs, const struct sb_outcome *o)
{
    for (unsigned i = 0; i < rs->n; i++) {
        struct sb_reporter *r = &rs->item[i];
        struct sb_outcome now = *o;
        struct sb_err err = { 0 };

        if (r->state == SB_REPORTER_ENDED || !r->kind->draft)
            continue;
        complete(rs, &now);
        r->draft = now;
        if (r->kind->draft(r, &now, &err))
            worsen(rs, r, SB_REPORTER_ENDED, &err, "");
    }
}

static void finish_form(struct sb_reporters *rs, const struct sb_outcome *o,
    enum sb_report_form form)
{
    for (unsigned i = 0; i < rs->n; i++) {
        struct sb_reporter *r = &rs->item[i];
        struct sb_outcome now = *o;
        struct sb_err err = { 0 };

        if (r->kind->form != form || r->state == SB_REPORTER_ENDED ||
            !r->kind->finish)
            continue;
        complete(rs, &now);
        if (r->drafted && !r->facts->beside && is_same(&r->draft, &now))
            continue;
        if (r->kind->finish(r, &now, &err))
            worsen(rs, r, SB_REPORTER_ENDED, &err, "");
    }
}

void sb_reporters_finish(struct sb_reporters *rs, const struct sb_outcome *o)
{
    finish_form(rs, o, SB_REPORT_LINES);
    finish_form(rs, o, SB_REPORT_DOCUMENT);
    finish_form(rs, o, SB_REPORT_VIEW);
}
