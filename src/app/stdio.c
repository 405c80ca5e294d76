// SPDX-License-Identifier: GPL-2.0-or-later
//
// The standard streams: opened at the start if closed, flushed at the end.
#include <errno.h>
#include <fcntl.h>
#include <luajit.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "base/log.h"
#include "kit/limits.h"

// Beyond the numbers that daemons close.
#define OWN_STREAMS 256

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) != -1 || errno != EBADF;
}

// Without this, the next file or connection that is opened would get the
// number of the closed stream, and output would be written there. The mode is
// the opposite of what the stream is used for, so that using it still fails.
static void open_null(int fd)
{
    int null = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);

    // open() returns the lowest free number, which is fd.
    if (null >= 0 && null != fd)
        close(null);
}

void sb__app_fill_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (!is_open(fd))
            open_null(fd);
}

#ifdef __GLIBC__ // elsewhere the streams cannot be assigned
// Returns a stream on a copy of the descriptor fd, because a script may close
// fd or open another file as fd. Returns `first` if that fails.
static FILE *own_stream(FILE *first, int fd)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, OWN_STREAMS);
    if (own < 0) // a low limit
        own = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *f = own >= 0 ? fdopen(own, "w") : NULL;

    if (f)
        return f;
    if (own >= 0)
        close(own);
    return first;
}

static void own_streams(void)
{
    stdout = own_stream(stdout, STDOUT_FILENO);
    stderr = own_stream(stderr, STDERR_FILENO);
    setvbuf(stderr, NULL, _IONBF, 0);
}
#else
static void own_streams(void)
{
}
#endif

int sb_app_open_streams(struct sb_err *err)
{
    bool closed = !is_open(STDOUT_FILENO);

    sb__app_fill_streams();
    // Writing beyond the limit then fails with EFBIG, which is reported,
    // instead of killing the process without a message.
    signal(SIGXFSZ, SIG_IGN);
    own_streams();
    // Readers of a pipe or file see each line as soon as it is written.
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (closed)
        return sb_err_set(err, SB_ESYS,
            "standard output is closed (use >/dev/null to discard the "
            "output)");
    return 0;
}

// Returns the errno of an earlier write that failed. Streams do not keep it,
// but the next write fails with the same error. Returns 0 if that succeeds.
static int write_errno(void)
{
    clearerr(stdout);
    errno = 0;
    return putchar('\n') == EOF || fflush(stdout) ? errno : 0;
}

int sb_app_flush_output(struct sb_err *err)
{
    char limit[80];
    int no = fflush(stdout) ? errno : ferror(stdout) ? write_errno() : -1;

    if (no == -1)
        return 0;
    sb_limit_of_size(no, limit, sizeof(limit));
    return sb_err_set(err, SB_ESYS, "cannot write to standard output: %s%s",
        no ? strerror(no) : "some output was lost", limit);
}

bool sb__app_quiet(const struct sb_app *a)
{
    return sb_log_level() < SB_LOG_NOTICE || a->reporters.no_text;
}

const char *sb_app_version(void)
{
    return PACKAGE_NAME " " PACKAGE_VERSION;
}

void sb_app_banner(FILE *out)
{
    fprintf(out, "%s (using system %s)\n\n", sb_app_version(), LUAJIT_VERSION);
}
