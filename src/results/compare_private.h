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
    json_t *differences; // see sb__compare_differences(); owned
};

// compare_text.c --------------------------------------------------------------

// Prints the comparison to args->out.
void sb__compare_print(const struct sb__comparison *c);
// The verdict on a figure in one or a few words: "slower".
const char *sb__compare_word(
    const struct sb_figure *f, const struct sb_compare *r);
// Writes a number with four significant digits, or "-" for no value. Returns
// out.
const char *sb__compare_number(char *out, size_t size, double value);
// Writes the verdict of the comparison, a sentence.
void sb__compare_verdict(const struct sb__comparison *c, FILE *out);
// Writes the reservations about the verdict, each on a line.
void sb__compare_notes(const struct sb__comparison *c, FILE *out);

// compare_work.c --------------------------------------------------------------

// Fills work and other_work. 0 or SB_ENOMEM.
int sb__compare_work(struct sb__comparison *c);
// Writes which rates differ, a line, or nothing.
void sb__compare_work_note(const struct sb__comparison *c, FILE *out);

// compare_differ.c ------------------------------------------------------------

// Returns the facts in which the runs of the sides differ: a new list of
// {"kind", "name", "a", "b"}, where a and b are lists of the different values
// of a side, as text. NULL: no memory.
json_t *sb__compare_differences(
    const struct sb_side *a, const struct sb_side *b);

// compare_json.c --------------------------------------------------------------

// Returns the comparison as a new document; NULL: no memory.
json_t *sb__compare_document(const struct sb__comparison *c);
// Writes it to o.json. 0 or SB_E*; errors are logged.
int sb__compare_write_json(const struct sb__comparison *c);

// compare_html.c --------------------------------------------------------------

// Writes the page with the comparison and all results to o.html. 0 or SB_E*;
// errors are logged.
int sb__compare_write_html(const struct sb__comparison *c);

#endif
