// SPDX-License-Identifier: GPL-2.0-or-later
//
// Commands on result files: `sysbench show FILE`. They print to args->out and
// log errors. Main thread.
#ifndef SB_CMD_H
#define SB_CMD_H

#include <stdio.h>

#include "base/opts.h"
#include "out/result_file.h"
#include "out/text.h"

struct sb_estimate;
struct sb_page_parts;

// Exit status.
enum {
    SB_CMD_OK = 0,
    SB_CMD_FAILED = 1,
    // Of history, and of compare, unless --pass lists the verdict:
    SB_CMD_WORSE = 3,
    SB_CMD_NO_VERDICT = 4, // too little data, or different work
    SB_CMD_INCONCLUSIVE = 5,
    SB_CMD_EQUIVALENT = 6,
    SB_CMD_BETTER = 7,
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

extern const struct sb_cmd sb_cmd_compare, sb_cmd_history, sb_cmd_merge,
    sb_cmd_report, sb_cmd_show;

// Prints the usage and options of a command.
void sb_cmd_help(
    const struct sb_cmd *cmd, const struct sb_opts *opts, FILE *out);

// For the commands.

// Reads a result file and logs what is wrong, if anything. A file of a newer
// version is read with a warning. 0 or SB_E*.
int sb__cmd_read(struct sb_result_file *f, const char *path);
// The same from a stream, up to its end. path: its name in messages.
int sb__cmd_read_from(struct sb_result_file *f, FILE *in, const char *path);
// Whether a file is the same as the output of a command, which would replace
// it; then it logs an error.
bool sb__cmd_is_output(const char *path, const char *output);

// Returns the value of an option in "NAME=VALUE", or NULL if the text is about
// another option. '-' and '_' in names are the same.
const char *sb__cmd_value_of(const char *text, const char *option);

// Print text from a file, which may contain anything: a terminal executes no
// escape sequences in it. The second prints it on one line.
void sb__cmd_print(FILE *out, const char *text);
void sb__cmd_print_line(FILE *out, const char *text);

// report.c. Writes a page to a file, or to standard output if path is "-". 0 or
// SB_E*.
int sb__cmd_write_page(
    const char *path, const struct sb_page_parts *parts, struct sb_err *err);

// {"value": ..., "low": ..., "high": ...}; runs: also their number. Returns a
// new reference, or NULL if out of memory.
json_t *sb_estimate_json(const struct sb_estimate *e, bool runs);

#endif
