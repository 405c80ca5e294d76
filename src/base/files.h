// SPDX-License-Identifier: GPL-2.0-or-later
//
// The source of a test's files: this host, or another process, which sends
// copies. Each process has one source, set before threads start.
#ifndef SB_FILES_H
#define SB_FILES_H

#include <stdbool.h>
#include <stddef.h>

#define SB_FILE_PATH 64 // room for the path of a copy

// Returns whether the other process has the file; if so, stores the path of a
// copy on this host in `copy`. Any thread; may wait.
typedef bool sb_file_fetch(
    void *arg, const char *path, char copy[SB_FILE_PATH]);

// From now on, files come from fetch(); NULL: from this host.
void sb_files_from(sb_file_fetch *fetch, void *arg);
bool sb_files_are_remote(void);

// Returns the path to read instead of `path`: the path of a copy, stored in
// `copy`, or `path` itself if files are those of this host, if the other
// process does not have the file, and for files of the system (/proc, /sys,
// /dev). Any thread.
const char *sb_file_path(const char *path, char copy[SB_FILE_PATH]);

#endif
