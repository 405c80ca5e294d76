// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the commands on result files.
#ifndef SB_CMD_PRIVATE_H
#define SB_CMD_PRIVATE_H

#include <jansson.h>

#include "measure/compare.h"
#include "out/page.h"
#include "out/result_file.h"
#include "out/text.h"

// Reads a result file and logs what is wrong, if anything. A file of a newer
// version is read with a warning. 0 or SB_E*.
int sb__cmd_read(struct sb_result_file *f, const char *path);
// The same from a stream, up to its end. path: its name in messages.
int sb__cmd_read_from(struct sb_result_file *f, FILE *in, const char *path);
// Whether a file is the same as the output of a command, which would replace
// it; then it logs an error.
bool sb__cmd_is_output(const char *path, const char *output);

// Print text from a file, which may contain anything: a terminal executes no
// escape sequences in it. The second prints it on one line.
void sb__cmd_print(FILE *out, const char *text);
void sb__cmd_print_line(FILE *out, const char *text);

// Writes a page to a file, or to standard output if path is "-". 0 or SB_E*.
int sb__cmd_write_page(
    const char *path, const struct sb_page_parts *parts, struct sb_err *err);

// {"value": ..., "low": ..., "high": ...}; runs: also their number. Returns a
// new reference, or NULL if out of memory.
json_t *sb_estimate_json(const struct sb_estimate *e, bool runs);

#endif
