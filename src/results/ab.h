// SPDX-License-Identifier: GPL-2.0-or-later
//
// The experiment of sysbench ab: what its two sides are, and what its pairs of
// runs have shown so far. Main thread.
#ifndef SB_AB_H
#define SB_AB_H

#include <jansson.h>
#include <stdio.h>

#include "base/opts.h"
#include "measure/pairs.h"
#include "results/sides.h"

#define SB_AB_PAIRS_MAX 500u

// The swept value of the runs that measure the first side twice.
#define SB_AB_SAME "A/A"

// "A/B options"
struct sb_ab_opts {
    const char *a, *b; // sides: "NAME: --OPTION=VALUE ..."
    int64_t pairs, aa;
    double margin, confidence; // percent
    const char *switch_to;     // command; "": none
};

extern const struct sb_opt_table sb_ab_opt_table;

// One side: what its runs have in addition to the options of both.
struct sb_ab_side {
    char *name;
    char *test;  // a script of its own; NULL: that of both
    char **word; // n words of the command line, such as "--pgsql-host=db1"
    unsigned n;
    char *program; // that executes its runs; NULL: this one
    char *build;   // "/opt/old/bin/sysbench (sysbench 2.0.0)", if a side names
                   // its program; otherwise NULL. The caller sets it
    char *shown;   // the words, secrets masked
};

// Reads a side, "NAME: SCRIPT --OPTION=VALUE ...", whose parts may all be
// missing and whose words are split as a shell does it, with single and
// double quotes. --program=FILE becomes `program` and not a word. option:
// "--a"; name: of a side without one. SB_EUSAGE, SB_ENOMEM. Call
// sb_ab_side_done() in either case.
int sb_ab_side_read(struct sb_ab_side *s, const char *option, const char *text,
    const char *name, struct sb_opts *opts, struct sb_err *err);
void sb_ab_side_done(struct sb_ab_side *s); // {0} allowed

struct sb_ab {
    const struct sb_ab_side *side; // both; the user's
    struct sb_pairs_opts o;
    unsigned most; // maximum number of pairs
    struct sb_sequential *levels;
    struct sb_figure figure; // that decides; figure.name NULL: no pair yet
    struct sb_pair pair[SB_AB_PAIRS_MAX];
    unsigned n;
    double same[SB_AB_PAIRS_MAX]; // logarithms of the ratios of A/A pairs
    unsigned nsame;
    double last[2];                        // figures of the last pair
    struct sb_pairs_answer answer;         // after n pairs
    struct sb_pairs_resolution resolution; // of the planned pairs
};

// planned: number of pairs when the experiment began; it may be continued with
// more (o->pairs). 0 or SB_ENOMEM. Call sb_ab_done() in either case.
int sb_ab_init(struct sb_ab *ab, const struct sb_ab_opts *o, unsigned planned,
    const struct sb_ab_side side[2]);
void sb_ab_done(struct sb_ab *ab);

// Adds the runs of a pair. same: both are of the first side. b_first: the run
// of B was measured first. False: a run has no figure, and the pair does not
// count.
bool sb_ab_add(struct sb_ab *ab, const struct sb_result_run *a,
    const struct sb_result_run *b, bool same, bool b_first);

// Whether the answer is known.
bool sb_ab_is_known(const struct sb_ab *ab);

// Prints what the last pair and all so far have shown, a line. same: the last
// one is an A/A pair.
void sb_ab_print_pair(const struct sb_ab *ab, bool same, FILE *out);
// Prints what this place can show, after the last A/A pair.
void sb_ab_print_resolution(const struct sb_ab *ab, FILE *out);
// Prints how many pairs were needed or are missing, and what the order of the
// runs did.
void sb_ab_print_end(const struct sb_ab *ab, FILE *out);

// compare.c. Compares the runs of the pairs, files separated by commas, in the
// order of the pairs. Prints the comparison to out, unless that is NULL, and
// writes a page to html, unless that is "". Returns the exit status of the
// verdict, as of sysbench compare.
int sb_compare_sides(const struct sb_ab *ab, const char *a, const char *b,
    const char *html, FILE *out);

// The member `ab` of documents; NULL if out of memory.
json_t *sb_ab_json(const struct sb_ab *ab);
// Returns which side (0 or 1) a run of such a document belongs to; -1: none.
int sb_ab_side_of(const json_t *ab, const json_t *run);
// Prints what that member of a file says, a line. It may contain anything.
void sb_ab_show(const json_t *ab, FILE *out);

#endif
