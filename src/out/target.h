// SPDX-License-Identifier: GPL-2.0-or-later
//
// The file that a reporter writes. It is locked while a run writes it. Main
// thread.
#ifndef SB_TARGET_H
#define SB_TARGET_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"

struct sb_target {
    const char *path; // as given; the caller's
    char *real;       // from the root, with symbolic links followed
    char *part;       // "REAL.part", which replaces REAL; NULL: REAL is written
    FILE *file;       // NULL after sb_target_commit(), unless it is stdout
    bool special;     // a device or a pipe
    bool own;         // file must be closed
    bool locked;      // a regular file
    off_t written;    // its size after sb_target_flush()
};

enum sb_target_mode {
    SB_TARGET_WHOLE, // written at the end: PATH.part, then renamed
    SB_TARGET_LINES, // written line by line: PATH itself
    // With one of the above: the program has chosen the name. Another user may
    // have put something else there, so only a regular file is replaced.
    SB_TARGET_CHOSEN = 2,
};

// Opens and locks the file; "-" is standard output. Devices and pipes are
// written directly, of symbolic links the file that they point to.
// SB_TARGET_LINES: the content of an older file stays until sb_target_begin().
// SB_ESYS names the file; SB_ELIMIT: another process is writing it. Call
// sb_target_done() in either case.
int sb_target_open(struct sb_target *t, const char *path,
    enum sb_target_mode mode, struct sb_err *err);
// Empties the file. Call it before anything is written, when nothing else
// prevents the run. SB_ESYS.
int sb_target_begin(struct sb_target *t, struct sb_err *err);
// Writes out what is buffered. SB_ESYS names the file and the reason, also of
// an earlier write that failed; also if another process has truncated or
// overwritten the file.
int sb_target_flush(struct sb_target *t, struct sb_err *err);
// Takes back what was written behind the first `size` bytes. SB_ESYS.
int sb_target_cut(struct sb_target *t, off_t size, struct sb_err *err);
// SB_ESYS if the file that was opened is no longer the one with this name: what
// was written is lost.
int sb_target_check(const struct sb_target *t, struct sb_err *err);
// The content is complete: closes the file and makes it visible under its name.
// Nothing may be written afterwards. SB_ESYS, also of sb_target_check().
int sb_target_commit(struct sb_target *t, struct sb_err *err);
// Whether sb_target_again() can replace the content: a regular file that is
// written at the end.
static inline bool sb_target_is_replaced(const struct sb_target *t)
{
    return t->part != NULL;
}

// After sb_target_commit(): the target can be written and committed once more.
// Otherwise nothing. SB_ESYS, SB_ELIMIT.
int sb_target_again(struct sb_target *t, struct sb_err *err);
// Closes; removes PATH.part if it was not committed. {0} allowed.
void sb_target_done(struct sb_target *t);
// Like sb_target_done(), but leaves the file as it is: for a process that was
// forked after sb_target_open(). Nothing may be buffered.
void sb_target_leave(struct sb_target *t);
// Whether there is a file of this name that is no regular file: a device, a
// pipe, a folder. A relative name is one in the folder of the start.
bool sb_target_is_special(const char *path);
bool sb_target_is_folder(const char *path);
// Writes the folder of a path to `dir`, and the folder for temporary files
// ($TMPDIR, /tmp) for "-" and devices: those of the start of the program.
void sb_target_folder(const char *path, char *dir, size_t size);

#endif
