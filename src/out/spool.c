// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // mkostemp()
#include "out/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int sb_spool_open(struct sb_spool *s, const char *dir, struct sb_err *err)
{
    char path[PATH_MAX];
    int fd;

    memset(s, 0, sizeof(*s));
    snprintf(path, sizeof(path), "%s/.sysbench-XXXXXX", dir);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return sb_err_set(err, SB_ESYS,
            "cannot create a temporary file in %s: %s", dir, strerror(errno));
    unlink(path);
    s->file = fdopen(fd, "w+");
    if (!s->file) {
        close(fd);
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    }
    return 0;
}

void sb_spool_done(struct sb_spool *s)
{
    if (s->file)
        fclose(s->file);
    memset(s, 0, sizeof(*s));
}

static int fail(struct sb_spool *s, struct sb_err *err)
{
    return sb_err_set(err, SB_ESYS,
        "cannot keep the figures of an interval: %s", strerror(s->failed));
}

// Flushes each line, so that a full disk is found at the line that does not
// fit. That line is removed.
int sb_spool_add(
    struct sb_spool *s, const char *line, size_t len, struct sb_err *err)
{
    if (s->failed)
        return fail(s, err);
    long end = ftell(s->file);
    if (fwrite(line, 1, len, s->file) == len && fputc('\n', s->file) != EOF &&
        fflush(s->file) == 0) {
        s->lines++;
        return 0;
    }
    s->failed = errno ? errno : EIO;
    clearerr(s->file);
    if (end < 0 || ftruncate(fileno(s->file), end) ||
        fseek(s->file, end, SEEK_SET))
        s->lines = 0;
    return fail(s, err);
}

static int copy_lines(struct sb_spool *s, const char *between, FILE *out)
{
    char *line = NULL;
    size_t size = 0;
    uint64_t n;
    ssize_t len;

    for (n = 0; n < s->lines; n++) {
        len = getline(&line, &size, s->file);
        if (len <= 0)
            break;
        line[len - 1] = '\0';
        if (fputs(line, out) == EOF ||
            (n + 1 < s->lines && fputs(between, out) == EOF) ||
            fputc('\n', out) == EOF)
            break;
    }
    free(line);
    // A shorter file would be taken for the whole one.
    return n < s->lines && !ferror(out) ? SB_ESYS : 0;
}

int sb_spool_copy(
    struct sb_spool *s, const char *between, FILE *out, struct sb_err *err)
{
    int rc;

    rewind(s->file);
    rc = copy_lines(s, between, out);
    if (rc)
        sb_err_set(err, rc, "%s", strerror(errno));
    fseek(s->file, 0, SEEK_END);
    return rc;
}
