// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the commands on result files.
#ifndef SB_CMD_PRIVATE_H
#define SB_CMD_PRIVATE_H

#include "out/result_file.h"

// Reads a result file and logs what is wrong, if anything. A file of a newer
// version is read with a warning. 0 or SB_E*.
int sb__cmd_read(struct sb_result_file *f, const char *path);

#endif
