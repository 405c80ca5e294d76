// SPDX-License-Identifier: GPL-2.0-or-later
//
// A history in the formats of other programs. docs/history.md lists them. Main
// thread.
#ifndef SB_HISTORY_EXPORT_H
#define SB_HISTORY_EXPORT_H

#include <stdbool.h>

#include "results/history_figures.h"

struct sb_err;

struct sb_history_exported {
    const struct sb_history_judged *judged; // of each series
    size_t n;
    const char *by;                  // label of results
    double confidence;               // percent
    enum sb_history_verdict verdict; // of all
    const char *reason;  // of the verdict if no series gave it; NULL: none
    const json_t *notes; // list of sentences
    // Returns the verdict on the newest result of a series, a sentence that the
    // caller frees; NULL: no memory.
    char *(*sentence)(void *arg, const struct sb_history_judged *j);
    void *arg;
};

// Whether a text is "FORMAT=FILE" with a known format; *file points to FILE.
// SB_EUSAGE names the formats.
int sb_history_export_check(
    const char *text, const char **file, struct sb_err *err);
// Writes such a file, or to standard output for "-". 0 or SB_E*.
int sb_history_export(
    const struct sb_history_exported *h, const char *text, struct sb_err *err);

#endif
