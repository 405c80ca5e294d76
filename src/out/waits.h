// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the sessions of the servers were waiting for (--server-waits), as text
// and as part of result files. Main thread.
#ifndef SB_OUT_WAITS_H
#define SB_OUT_WAITS_H

#include <jansson.h>
#include <stdio.h>

#include "measure/waits.h"

// Of one server. Texts are "" if unknown.
struct sb_waits_facts {
    const char *address;
    const char *note; // what the samples lack, or which sessions they have
    const char *why;  // "": there are figures; otherwise why there are none
    const struct sb_waits_figures *figures;
};

// Prints the waits of a server; with its address if there are several.
void sb_waits_text(const struct sb_waits_facts *w, bool several, FILE *out);

// An element of the list "waits". Returns a new reference, or NULL if out of
// memory.
json_t *sb_waits_json(const struct sb_waits_facts *w);
// Reads it again. The texts of *w and *figures are those of the document. Call
// sb_waits_figures_done() for *figures. False: out of memory.
bool sb_waits_read(const json_t *json, struct sb_waits_facts *w,
    struct sb_waits_figures *figures);

#endif
