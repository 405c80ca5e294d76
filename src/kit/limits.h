// SPDX-License-Identifier: GPL-2.0-or-later
//
// Limits of the process: to raise them, and for error messages.
#ifndef SB_KIT_LIMITS_H
#define SB_KIT_LIMITS_H

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

// Writes the limit on open files, with a leading space, to be appended to the
// message that there are too many open files; "" if the limit is unknown. size
// > 0.
static inline void sb_limit_of_files(char *out, size_t size)
{
    struct rlimit lim;

    out[0] = '\0';
    if (getrlimit(RLIMIT_NOFILE, &lim) == 0)
        snprintf(out, size, " (limit of open files, ulimit -n: %llu)",
            (unsigned long long)lim.rlim_cur);
}

// Raises the soft limit on open files to the hard one, if the system allows it.
static inline void sb_raise_limit_of_files(void)
{
    struct rlimit lim;

    if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur == lim.rlim_max)
        return;
    lim.rlim_cur = lim.rlim_max;
    setrlimit(RLIMIT_NOFILE, &lim);
}

// Raises the soft limit on the stack of the main thread to `bytes` if it is
// lower. Returns 0, or the limit if the system does not allow it.
static inline unsigned long long sb_raise_limit_of_stack(
    unsigned long long bytes)
{
    struct rlimit lim;

    if (getrlimit(RLIMIT_STACK, &lim) || lim.rlim_cur >= bytes)
        return 0;
    if (lim.rlim_max >= bytes) {
        struct rlimit raised = lim;

        raised.rlim_cur = bytes;
        if (setrlimit(RLIMIT_STACK, &raised) == 0)
            return 0;
    }
    return lim.rlim_cur;
}

// Returns the limit on open files; HUGE_VAL if there is none.
static inline double sb_limit_files(void)
{
    struct rlimit lim;

    if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur == RLIM_INFINITY)
        return HUGE_VAL;
    return (double)lim.rlim_cur;
}

// For a failed write: writes the limit on file size to `out`, as
// sb_limit_of_files() does, if that limit is the reason (errno EFBIG);
// otherwise "".
static inline void sb_limit_of_size(int no, char *out, size_t size)
{
    struct rlimit lim;

    out[0] = '\0';
    if (no == EFBIG && getrlimit(RLIMIT_FSIZE, &lim) == 0 &&
        lim.rlim_cur != RLIM_INFINITY)
        snprintf(out, size, " (limit of file size, ulimit -f: %llu KiB)",
            (unsigned long long)lim.rlim_cur / 1024);
}

// For memory that the system refused: writes the limit on the address space to
// `out`, as sb_limit_of_files() does, or "" if it is unlimited.
static inline void sb_limit_of_memory(char *out, size_t size)
{
    struct rlimit lim;

    out[0] = '\0';
    if (getrlimit(RLIMIT_AS, &lim) == 0 && lim.rlim_cur != RLIM_INFINITY)
        snprintf(out, size, " (limit of address space, ulimit -v: %llu KiB)",
            (unsigned long long)lim.rlim_cur / 1024);
}

#endif
