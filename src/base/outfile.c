// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // asprintf(), get_current_dir_name()
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Of the process, as the folder and the umask are. NULL: unknown.
static struct {
    char *folder, *temporary;
    mode_t mask;
} start;

void sb_outfile_begin(void)
{
    const char *temporary = getenv("TMPDIR");

    free(start.folder);
    free(start.temporary);
    start.folder = get_current_dir_name();
    start.temporary = temporary && *temporary ? strdup(temporary) : NULL;
    start.mask = umask(0);
    umask(start.mask);
}

const char *sb_outfile_temporary(void)
{
    return start.temporary ? start.temporary : "/tmp";
}

char *sb_outfile_path(const char *path)
{
    char *out;

    if (!start.folder || path[0] == '/')
        return strdup(path);
    return asprintf(&out, "%s/%s", start.folder, path) < 0 ? NULL : out;
}

static int create(const char *name, int flags)
{
    mode_t own = start.folder ? umask(start.mask) : 0;
    int fd = open(name, flags | O_CREAT, 0666), native = errno;

    if (start.folder)
        umask(own);
    errno = native;
    return fd;
}

static const char is_link[] = "it is a symbolic link";
static const char is_special[] = "it is no regular file";

const char *sb_outfile_unfit(const char *name)
{
    struct stat st;

    if (lstat(name, &st) || S_ISREG(st.st_mode))
        return NULL;
    return S_ISLNK(st.st_mode) ? is_link : is_special;
}

bool sb_outfile_is(int fd, const char *name)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && stat(name, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

int sb_outfile_open(const char *name, int flags, const char **why)
{
    // The opening of a pipe without a reader would block.
    int fd = create(name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    if (fd < 0 && errno == ELOOP) {
        *why = is_link;
    } else if (fd < 0 && errno != ENXIO) {
        *why = strerror(errno);
        return -1;
    } else {
        *why = is_special;
    }
    if (fd >= 0)
        close(fd);
    errno = ENXIO;
    return -1;
}
