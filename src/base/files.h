// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where the files of a test are: on this host, or with another process, which
// sends copies. One source per process, set before there are threads.
#ifndef SB_FILES_H
#define SB_FILES_H

#include <stdbool.h>
#include <stddef.h>

#define SB_FILE_PATH 64 // room for the path of a copy

// Returns whether the other process has the file, and the path of a copy on
// this host. Any thread; may wait.
typedef bool sb_file_fetch(
    void *arg, const char *path, char copy[SB_FILE_PATH]);

// From now on, files are those that fetch() finds; NULL: those of this host.
void sb_files_from(sb_file_fetch *fetch, void *arg);
bool sb_files_are_remote(void);

// Returns the path to read instead of `path`: that of a copy, which is stored
// in `copy`, or `path` itself. The latter also if the other process does not
// have the file, and for files of the system (/proc, /sys, /dev). Any thread.
const char *sb_file_path(const char *path, char copy[SB_FILE_PATH]);

#endif
