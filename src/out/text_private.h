// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the files of the text report.
#ifndef SB_TEXT_PRIVATE_H
#define SB_TEXT_PRIVATE_H

#include "out/text.h"

// Prints the rows of --histogram that have counts, with a heading, in the
// layout of sysbench 1.0 (1,024 buckets from 0.001 to 100,000 ms).
void sb__text_hist(const struct sb_hist_snap *h, FILE *out);

// Prints name, count, rate, errors, times and rows of operations. Prints
// nothing if the report has none.
void sb__text_operations(const struct sb_text *t, const struct sb_report *r);
// Prints the figures of each workload of a mix. Prints nothing without a mix.
void sb__text_workloads(const struct sb_text *t, const struct sb_report *r);
// True if operation i has the events of a workload of a mix.
bool sb__text_is_workload(const struct sb_text *t, unsigned i);
// Prints the figures of that workload in an interval: a line without the time
// at its beginning.
void sb__text_workload_line(
    const struct sb_text *t, const struct sb_report *r, unsigned i);
// Prints tables of the metrics of the script, if it has any.
void sb__text_metrics(const struct sb_text *t, const struct sb_report *r);
// Prints the error codes to t->err. Prints nothing if there are none.
void sb__text_errors(const struct sb_text *t, const struct sb_report *r);
// Prints response time, service time and lag of an open loop, and the counts
// of its schedule.
void sb__text_open_loop(const struct sb_text *t, const struct sb_report *r);
// Prints how long answers waited for their users on event loops. Prints nothing
// if users had threads of their own.
void sb__text_client_delay(const struct sb_text *t, const struct sb_report *r);
// Prints how the run found its rate. Prints nothing if it was given.
void sb__text_search(const struct sb_text *t, const struct sb_report *r);
// Prints a line for each rank with --report-per-rank. Nothing without ranks.
void sb__text_ranks(const struct sb_text *t, const struct sb_report *r);
// Prints the figures of each stage of --stages, with a mix also those of each
// workload in it. Prints nothing without stages.
void sb__text_stages(const struct sb_text *t, const struct sb_report *r);

#endif
