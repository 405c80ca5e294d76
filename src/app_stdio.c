// SPDX-License-Identifier: GPL-2.0-or-later
//
// The standard streams: open at the start, written out at the end.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "base/limits.h"
#include "base/log.h"

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) != -1 || errno != EBADF;
}

// Without this, the next file or connection would get the number of the stream
// that is closed, and what is printed would go there. The other way round than
// the stream is used, so that reading a closed one fails as it should.
static void occupy(int fd)
{
    int null = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);

    // The lowest number that is free: those below are open by now.
    if (null >= 0 && null != fd)
        close(null);
}

int sb_app_open_streams(struct sb_err *err)
{
    bool closed = !is_open(STDOUT_FILENO);

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (!is_open(fd))
            occupy(fd);
    // Writing then fails with EFBIG, which is reported, instead of ending the
    // process without a word.
    signal(SIGXFSZ, SIG_IGN);
    // Whoever reads a pipe or a file sees each line when it is written.
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (closed)
        return sb_err_set(err, SB_ESYS,
            "standard output is closed (to drop what is printed, use "
            ">/dev/null)");
    return 0;
}

// Streams do not keep why a write failed, but the next one fails for the same
// reason. 0 when it does not.
static int why_lost(void)
{
    clearerr(stdout);
    errno = 0;
    return putchar('\n') == EOF || fflush(stdout) ? errno : 0;
}

int sb_app_flush_output(struct sb_err *err)
{
    char limit[80];
    int no = fflush(stdout) ? errno : ferror(stdout) ? why_lost() : -1;

    if (no == -1)
        return 0;
    sb_limit_of_size(no, limit, sizeof(limit));
    return sb_err_set(err, SB_ESYS, "cannot write to standard output: %s%s",
        no ? strerror(no) : "some of it is lost", limit);
}
