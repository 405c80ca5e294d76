// SPDX-License-Identifier: GPL-2.0-or-later
//
// Commands on result files: `sysbench show FILE`. They print to args->out and
// log errors. Main thread.
#ifndef SB_CMD_H
#define SB_CMD_H

#include <stdio.h>

#include "base/opts.h"
#include "out/text.h"

// Exit status.
enum {
    SB_CMD_OK = 0,
    SB_CMD_FAILED = 1,
    SB_CMD_SLOWER = 3,    // compare: B is slower
    SB_CMD_UNDECIDED = 4, // compare: no verdict
};

struct sb_cmd_args {
    const char *const *file; // as typed
    unsigned nfiles;
    const void *o;        // the command's own options, filled
    struct sb_opts *opts; // the registry, to look up what the user gave
    const struct sb_text_opts *text; // "Log options"
    FILE *out;
};

struct sb_cmd {
    const char *name;  // "show"
    const char *usage; // "show FILE"
    const char *title; // one line for --help
    unsigned min_files, max_files;
    const struct sb_opt_table *opts; // NULL: none of its own
    size_t opts_size;
    int (*run)(const struct sb_cmd_args *args); // exit status
};

extern const struct sb_cmd sb_cmd_compare, sb_cmd_merge, sb_cmd_report,
    sb_cmd_show;

// All commands; ends with NULL.
extern const struct sb_cmd *const sb_cmds[];
// Returns the command or NULL.
const struct sb_cmd *sb_cmd_find(const char *name);
// Prints the usage and options of a command.
void sb_cmd_help(
    const struct sb_cmd *cmd, const struct sb_opts *opts, FILE *out);

#endif
