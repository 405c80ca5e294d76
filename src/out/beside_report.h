// SPDX-License-Identifier: GPL-2.0-or-later
//
// The figures of --beside as text, as JSON and as marks. Main thread.
#ifndef SB_BESIDE_REPORT_H
#define SB_BESIDE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "out/beside_figures.h"

// Prints the section of the text report.
void sb_beside_print(const struct sb_beside_summary *s, FILE *out);
// The member "beside" of a run; NULL if out of memory.
json_t *sb_beside_json(const struct sb_beside_figures *f);
// Reads that member. s->name belongs to it. False if it is no such member.
bool sb_beside_read(struct sb_beside_summary *s, const json_t *member);
// Adds the start and the end of the command to the marks of the timeline. False
// if out of memory.
bool sb_beside_each_mark(const struct sb_beside_figures *f,
    bool (*add)(void *arg, double time, const char *kind, const char *text),
    void *arg);

#endif
