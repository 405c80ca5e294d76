// SPDX-License-Identifier: GPL-2.0-or-later
//
// Files that the program writes. Their names and permissions depend on the
// folder, the umask and TMPDIR that the process had at its start, because a
// script may change them.
#ifndef SB_OUTFILE_H
#define SB_OUTFILE_H

#include <stdbool.h>

// Notes the folder, the umask and TMPDIR. Once, before scripts run and threads
// start.
void sb_outfile_begin(void);

// Returns the path, from the root if the folder of the start is known. The
// caller frees it. NULL: out of memory.
char *sb_outfile_path(const char *path);

// Returns the folder for temporary files: $TMPDIR, /tmp.
const char *sb_outfile_temporary(void);

// Opens a file of a name that the program has chosen, such as FILE.part, or
// creates it. Another user who can write to the folder may have put something
// else there, so symbolic links, pipes and devices are refused (ENXIO). Nothing
// is truncated. flags: O_RDWR or O_WRONLY, with O_APPEND if needed. Returns the
// descriptor, closed in child processes, or -1 with errno and the reason in
// *why.
int sb_outfile_open(const char *name, int flags, const char **why);
// Returns the reason why sb_outfile_open() would refuse the file with this
// name. NULL: it would not, or there is no such file.
const char *sb_outfile_unfit(const char *name);
// Returns whether the open file is the one with this name: another process may
// have renamed, removed or replaced it.
bool sb_outfile_is(int fd, const char *name);

#endif
