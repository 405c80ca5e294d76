// SPDX-License-Identifier: GPL-2.0-or-later
//
// The documents of the live view. A document is a text into which parts of the
// files of rows are inserted, so that a document of any length takes little
// memory. Called by the reader of the struct sb_live.
#ifndef SB_LIVE_TEXT_H
#define SB_LIVE_TEXT_H

#include "out/live.h"

// Rows that one answer to intervals.json has at most, in bytes; but at least
// one row. Who asks gets the next ones with the next request.
#define SB_LIVE_ROWS_MAX (UINT64_C(1) << 20)

struct sb_live_text {
    char *text;
    size_t len;
    uint64_t size; // of the whole document
    struct {
        size_t at; // position in text
        struct sb_live_part part;
    } insert[2];
};

// The result document so far, as --report=json writes it at the end. program:
// its member of that name. SB_ENOMEM, SB_ESYS. Call sb_live_text_done() in
// either case.
int sb_live_result(struct sb_live_text *t, const struct sb_live *l,
    const struct sb_live_state *s, json_t *program, struct sb_err *err);
// The rows from number `from` on, and the totals so far.
// docs/internals/page.md describes the document.
int sb_live_intervals(struct sb_live_text *t, const struct sb_live *l,
    const struct sb_live_state *s, uint64_t from, struct sb_err *err);
void sb_live_text_done(struct sb_live_text *t); // {0} allowed

// Copies at most max bytes from this position of the document. Returns their
// number; 0 at the end, -1 if a file cannot be read.
ssize_t sb_live_text_read(
    const struct sb_live_text *t, uint64_t pos, char *to, size_t max);

#endif
