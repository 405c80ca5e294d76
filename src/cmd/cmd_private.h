// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the commands on result files.
#ifndef SB_CMD_PRIVATE_H
#define SB_CMD_PRIVATE_H

#include "out/page.h"
#include "out/result_file.h"

// Reads a result file and logs what is wrong, if anything. A file of a newer
// version is read with a warning. 0 or SB_E*.
int sb__cmd_read(struct sb_result_file *f, const char *path);

// Writes a page to a file, or to standard output if path is "-". 0 or SB_E*.
int sb__cmd_write_page(
    const char *path, const struct sb_page_parts *parts, struct sb_err *err);

#endif
