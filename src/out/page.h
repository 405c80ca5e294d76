// SPDX-License-Identifier: GPL-2.0-or-later
//
// The page with the charts of results: one HTML file that needs no network. It
// is put together from the files in src/out/page/, the charts library and the
// result documents. docs/internals/page.md describes the page.
#ifndef SB_PAGE_H
#define SB_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

// A result document that the page contains.
struct sb_page_doc {
    FILE *file;       // its JSON text from the current position to the end
    const char *name; // shown if there are several; NULL: ""
    const char
        *kind; // "comparison" (sysbench compare), "history"; NULL: "result"
    const char *side; // of a comparison, its name; NULL: none
};

struct sb_page_parts {
    const char *page;   // folder of report.html: sb_paths.page
    const char *charts; // folder of the charts library: sb_paths.charts
    const char *title;  // plain text; NULL: "sysbench"
    const struct sb_page_doc *docs;
    size_t ndocs;
    bool several; // the documents have several runs: their histograms have
                  // buckets of 1 %, those of operations are left out
    bool live;    // without documents: the page fetches them itself
};

// Whether sb_page_write() finds its files. Call it before a run starts.
// SB_ENOTFOUND with one sentence that names the missing file and, for the
// charts library, how to get it.
int sb_page_check(const struct sb_page_parts *p, struct sb_err *err);

// Writes the page to out, which stays open and is not flushed. The documents
// are read once, in pieces: memory does not grow with their size. They are not
// checked; every "<" in them is written as \u003c, so their text cannot end the
// element that holds it. SB_ENOTFOUND as above; SB_ESYS if a file cannot be
// read or out cannot be written (what was written until then is useless). One
// thread per call.
int sb_page_write(FILE *out, const struct sb_page_parts *p, struct sb_err *err);

#endif
