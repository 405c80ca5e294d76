// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the files that compute and print the figures of a sweep. Main
// thread.
#ifndef SB_SWEEP_PRIVATE_H
#define SB_SWEEP_PRIVATE_H

#include "results/sweep_figures.h"

// Adds the distributions of the script of this run. Those beyond
// SB_SWEEP_METRICS_MAX are left out.
void sb__sweep_add_metrics(struct sb_sweep_figures *f, struct sb_sweep_point *p,
    const struct sb_result_run *run);
// Print the columns of the metrics: their names, the averages of a point.
void sb__sweep_print_metric_names(const struct sb_sweep_figures *f, FILE *out);
void sb__sweep_print_metrics(const struct sb_sweep_figures *f,
    const struct sb_sweep_point *p, FILE *out);
// {"recall": 0.97}, owned by the caller; NULL if out of memory.
json_t *sb__sweep_metrics_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p);

// Counts the run in on_workers or on_threads, if its file says how it ran its
// users.
void sb__sweep_add_workers(
    struct sb_sweep_point *p, const struct sb_result_run *run);
// Prints a note if users ran on workers in some points, and had threads in
// others: their latencies do not include the same.
void sb__sweep_print_workers(const struct sb_sweep_figures *f, FILE *out);

// Writes a figure, or "-" for no value. Returns out.
const char *sb__sweep_value(char *out, size_t size, double value);

#endif
