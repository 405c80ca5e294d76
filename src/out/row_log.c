// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/row_log.h"

#include <assert.h>
#include <string.h>

void sb_row_log_init(struct sb_row_log *r, const struct sb_series *series)
{
    memset(r, 0, sizeof(*r));
    r->series = series;
    sb_buf_init(&r->line, 0);
}

int sb_row_log_open(struct sb_row_log *r, const char *dir, struct sb_err *err)
{
    int rc;

    if (r->open)
        return 0;
    rc = sb_spool_open(&r->intervals, dir, err);
    if (rc == 0)
        rc = sb_spool_open(&r->histograms, dir, err);
    r->open = rc == 0;
    return rc;
}

void sb_row_log_done(struct sb_row_log *r)
{
    sb_spool_done(&r->intervals);
    sb_spool_done(&r->histograms);
    sb_buf_done(&r->line);
    memset(r, 0, sizeof(*r));
}

// Row n of one file belongs to row n of the other.
static int add_both(struct sb_row_log *r, size_t len)
{
    struct sb_buf *b = &r->line;
    int rc = sb_spool_add(&r->intervals, b->data, len, &r->failed);

    if (rc)
        return rc;
    rc = sb_spool_add(&r->histograms, b->data + len, b->len - len, &r->failed);
    if (rc)
        sb_spool_drop(&r->intervals);
    return rc;
}

void sb_row_log_add(struct sb_row_log *r, const struct sb_report *report)
{
    struct sb_buf *b = &r->line;
    size_t len;

    if (!r->open)
        return;
    r->failed.code = 0;
    sb_buf_clear(b);
    sb_series_json(b, r->series);
    len = b->len;
    sb_series_heat(b, report->latency);
    if (b->failed)
        sb_row_log_miss(r);
    else if (add_both(r, len))
        r->missing++;
    assert(r->intervals.lines == r->histograms.lines);
}

void sb_row_log_miss(struct sb_row_log *r)
{
    if (!r->open)
        return;
    sb_err_set(&r->failed, SB_ENOMEM, "out of memory");
    r->missing++;
}
