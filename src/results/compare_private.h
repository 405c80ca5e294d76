// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parts of `sysbench compare`: one struct with all results, which the text,
// the JSON document and the page are made of. Main thread.
#ifndef SB_COMPARE_PRIVATE_H
#define SB_COMPARE_PRIVATE_H

#include "results/cmd.h"
#include "results/sides.h"

#define SB__FIGURES_MAX 512u

struct sb__compare_opts {
    double margin, confidence, deviation; // percent
    bool paired;
    struct sb_opt_list at; // --at
    const char *json, *html;
};

// How often something other than the usual work happened, percent of `of`.
struct sb__work {
    const char *name, *of; // "errors", "events"
    double a, b;           // NAN: `of` is 0
    bool differs;          // by more than chance, and enough to matter
};

enum {
    SB__WORK_ERRORS, // ignored, given up and fatal
    SB__WORK_FAILED,
    SB__WORK_RESTARTS,
    SB__WORK_MISSES, // executions that look for rows and found none
    SB__WORKS,
};

struct sb__comparison {
    const struct sb_cmd_args *args;
    struct sb__compare_opts o;
    struct sb_side a, b;
    struct sb_figure figure[SB__FIGURES_MAX]; // the first decides
    struct sb_compare result[SB__FIGURES_MAX];
    unsigned n;
    bool open_loop;
    struct sb__work work[SB__WORKS];
    bool other_work;     // the sides did different work: there is no verdict
    json_t *differences; // see compare_differences(); owned
};

// compare_print.c. Prints the comparison to args->out.
void sb__compare_print(const struct sb__comparison *c);
// Writes the comparison as a JSON document to o.json. 0 or SB_E*; errors are
// logged.
int sb__compare_write_json(const struct sb__comparison *c);
// Writes the page with the comparison and all results to o.html. 0 or SB_E*;
// errors are logged.
int sb__compare_write_html(const struct sb__comparison *c);

#endif
