// SPDX-License-Identifier: GPL-2.0-or-later
//
// What servers count of statements (sb_info_ops.statements), and by how much
// that grows during a run.
#ifndef SB_STATEMENTS_H
#define SB_STATEMENTS_H

#include "db/driver.h"

// Statements that are listed, those with the most time; all others are summed.
#define SB_STATEMENTS_MAX 200u

// What a server has counted at one moment. {0}: it was not asked.
struct sb_statements {
    bool asked; // when: monotonic time `ns`, after the answer
    uint64_t ns;
    char why[200];                   // why nothing is known; "": it is known
    struct sb_statement_count *item; // each with an id of its own, sorted by it
    size_t n, cap;
    double lost;     // sb_statement_sink.lost; NaN: unknown
    char server[64]; // sb_statement_sink.server; "": unknown
};

void sb_statements_done(struct sb_statements *s); // {0} allowed

struct sb_statement_growth {
    char *id, *text; // the text as the server shows it; NULL if is_prepared
    struct sb_statement_count by;
};

// By how much the counts of a server have grown.
struct sb_statements_growth {
    bool asked;                       // after the run
    char why[200];                    // why nothing is known; "": it is known
    struct sb_statement_growth *item; // by falling time
    unsigned n;
    unsigned others; // statements that are not listed, and their sums
    double others_calls, others_ns;
    bool lost;  // the server had no room for some of them
    bool reset; // its statistics were reset meanwhile
};

void sb_statements_growth_done(struct sb_statements_growth *g); // {0} allowed

struct sb__probe;

// Reads the counts. 0, also if out->why says why they are not known; SB_E* if
// the connection is of no use any more.
int sb__statements_read(
    struct sb__probe *p, struct sb_statements *out, struct sb_err *err);
// Fills *g with what has happened between two readings, and reads the texts of
// what is listed. Takes parts of *after. Errors as above.
int sb__statements_grow(struct sb__probe *p, const struct sb_statements *before,
    struct sb_statements *after, struct sb_statements_growth *g,
    struct sb_err *err);

#endif
