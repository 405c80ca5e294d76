// SPDX-License-Identifier: GPL-2.0-or-later
//
// Files that users name in options.
#ifndef SB_USERFILE_H
#define SB_USERFILE_H

#include "base/err.h"

// Returns the path with a leading "~/" replaced by the user's home folder: not
// every shell does that after a '='. The caller frees it. NULL: out of memory.
char *sb_userfile_path(const char *path);

// Reads a password: the first line of the file, without its end (LF or CR LF).
// An empty line is an empty password. `option` is the name of the option in
// messages, such as "--x-password-file". The caller frees *out. SB_EUSAGE: the
// file cannot be read, is empty, or has a zero byte in this line; SB_ENOMEM.
// *out is then unchanged.
int sb_userfile_password(
    const char *option, const char *path, char **out, struct sb_err *err);

#endif
