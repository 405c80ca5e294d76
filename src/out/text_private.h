// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the text report share.
#ifndef SB_TEXT_PRIVATE_H
#define SB_TEXT_PRIVATE_H

#include "out/text.h"

// The rows of --histogram that hold something, as sysbench 1.0 lays them out
// (1,024 buckets from 0.001 to 100,000 ms), with the heading.
void sb__text_hist(const struct sb_hist_snap *h, FILE *out);

// Operations: name, count, rate, errors and times. Nothing when the report
// holds none.
void sb__text_operations(const struct sb_text *t, const struct sb_report *r);
// Error codes, to t->err. Nothing when there were none.
void sb__text_errors(const struct sb_text *t, const struct sb_report *r);
// Service time and lag of an open loop beside the response time, and what
// became of its schedule.
void sb__text_open_loop(const struct sb_text *t, const struct sb_report *r);

#endif
