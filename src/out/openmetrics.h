// SPDX-License-Identifier: GPL-2.0-or-later
//
// The figures of a run as text for Prometheus and others. Counters and
// histograms grow during the measured part of a run; docs/results.md lists the
// names. Pure.
#ifndef SB_OPENMETRICS_H
#define SB_OPENMETRICS_H

#include "kit/buf.h"
#include "out/series.h"

enum sb_openmetrics_format {
    SB_OPENMETRICS,      // OpenMetrics 1.0
    SB_OPENMETRICS_TEXT, // the text format of Prometheus, 0.0.4
};

// The content types of these formats.
#define SB_OPENMETRICS_TYPE \
    "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define SB_OPENMETRICS_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum sb_openmetrics_phase {
    SB_OPENMETRICS_START,    // no interval has ended
    SB_OPENMETRICS_SEARCH,   // the same, of a run that finds its rate
    SB_OPENMETRICS_WARMUP,   // the last interval was one of the warm-up
    SB_OPENMETRICS_MEASURED, // the last interval was one of the measured part
    SB_OPENMETRICS_END,
};

struct sb_openmetrics_run {
    const char *test, *version; // version: of the program
    enum sb_openmetrics_phase phase;
};

// Appends the whole text. r: the run so far; its operations and metrics have
// their names in r->stats. row: the last interval, for values of servers and of
// the client. out->failed if out of memory.
void sb_openmetrics_text(struct sb_buf *out, enum sb_openmetrics_format format,
    const struct sb_openmetrics_run *run, const struct sb_report *r,
    const struct sb_series *row);

#endif
