// SPDX-License-Identifier: GPL-2.0-or-later
//
// The files of a test are those of rank 0: the other ranks ask for them when a
// script opens them, so they need only the program. A file is sent once to each
// rank. docs/internals/job.md.
#ifndef SB_JOB_FILES_H
#define SB_JOB_FILES_H

#include "ranks/job.h"

struct sb_job_files;

// Rank 0: answers the others. Another rank: files come from rank 0 from now on,
// for base/files.h; the calling thread is the one that uses the job. NULL if
// out of memory.
struct sb_job_files *sb_job_files_new(struct sb_job *j);
// Files are those of this host again. NULL allowed.
void sb_job_files_free(struct sb_job_files *f);

#endif
