// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the commands on result files.
#ifndef SB_CMD_PRIVATE_H
#define SB_CMD_PRIVATE_H

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

// Logs a warning that names the options that n runs have different values of,
// other than their files, seeds and threads.
void sb__merge_warn_of_options(
    const struct sb_result_run *const *run, unsigned n);

// Checks runs that are ranks of one run: SB_EUSAGE, after logging why, if they
// do not belong together. Warns if ranks are missing, or began at different
// times; offset: of each run, in s.
int sb__merge_check_ranks(
    const struct sb_result_run *const *run, const double *offset, unsigned n);
// Logs a warning if the division of an open loop among them matters, and sets
// the member "division" of facts. Nothing if they are not all ranks of a run.
void sb__merge_division(
    const struct sb_result_run *const *run, unsigned n, json_t *facts);

// Prints the table of limits, if the run had any.
void sb__show_limits(const struct sb_result_run *run, FILE *out);
// Prints the figures of the command of --beside, if there was one; of a merged
// run those of each run with one.
void sb__show_beside(const struct sb_result_run *run, FILE *out);
// Prints how the run ended, if early.
void sb__show_end(const struct sb_result_run *run, struct sb_text *text);

// Writes a page to a file, or to standard output if path is "-". 0 or SB_E*.
int sb__cmd_write_page(
    const char *path, const struct sb_page_parts *parts, struct sb_err *err);

#endif
