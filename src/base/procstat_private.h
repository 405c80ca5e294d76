// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by procstat.c, proctree.c and proclisten.c.
#ifndef SB_PROCSTAT_PRIVATE_H
#define SB_PROCSTAT_PRIVATE_H

#include <stddef.h>

// Reads a file of /proc; what does not fit is cut. out is terminated by a NUL.
// 0 or -errno.
int sb__proc_read(const char *path, char *out, size_t size);

#endif
