// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // mkostemp(), O_TMPFILE
#include "out/spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Creates a file without a name, so that no file remains if the process is
// killed. File systems without O_TMPFILE (overlayfs, some network file systems)
// show its name for a moment.
static int open_file(const char *dir)
{
    char path[PATH_MAX];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0)
        return fd;
    snprintf(path, sizeof(path), "%s/" SB_SPOOL_NAME "XXXXXX", dir);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

int sb_spool_open(struct sb_spool *s, const char *dir, struct sb_err *err)
{
    int fd = open_file(dir);

    memset(s, 0, sizeof(*s));
    if (fd < 0)
        return sb_err_set(err, SB_ESYS,
            "cannot create a temporary file in %s: %s", dir, strerror(errno));
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

int sb_spool_put(struct sb_spool *s, const char *text, size_t len, uint64_t at,
    struct sb_err *err)
{
    while (len > 0) {
        ssize_t n = pwrite(fileno(s->file), text, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return sb_err_set(err, SB_ESYS,
                "cannot keep the figures of an interval: %s",
                strerror(n < 0 ? errno : EIO));
        text += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return 0;
}

// If a line cannot be written completely, the written part is beyond the end,
// and the next line overwrites it.
int sb_spool_add(
    struct sb_spool *s, const char *line, size_t len, struct sb_err *err)
{
    int rc = sb_spool_put(s, line, len, s->size, err);

    if (rc == 0)
        rc = sb_spool_put(s, "\n", 1, s->size + len, err);
    if (rc)
        return rc;
    s->lines++;
    s->last = len + 1;
    s->size += s->last;
    return 0;
}

void sb_spool_drop(struct sb_spool *s)
{
    assert(s->lines > 0 && s->last > 0); // the length of one line is known
    s->lines--;
    s->size -= s->last;
    s->last = 0;
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
    fflush(s->file); // lines may have been added since it was read
    errno = EIO;     // of a file that is too short
    rc = copy_lines(s, between, out);
    if (rc)
        sb_err_set(err, rc, "%s", strerror(errno));
    return rc;
}

void sb_row_log_init(struct sb_row_log *r, const struct sb_series *series)
{
    memset(r, 0, sizeof(*r));
    r->series = series;
    sb_buf_init(&r->line, 0);
}

int sb_row_log_open(struct sb_row_log *r, const char *dir, struct sb_err *err)
{
    int rc;

    if (r->open)
        return 0;
    rc = sb_spool_open(&r->intervals, dir, err);
    if (rc == 0)
        rc = sb_spool_open(&r->histograms, dir, err);
    r->open = rc == 0;
    return rc;
}

void sb_row_log_done(struct sb_row_log *r)
{
    sb_spool_done(&r->intervals);
    sb_spool_done(&r->histograms);
    sb_buf_done(&r->line);
    memset(r, 0, sizeof(*r));
}

// Row n of one file belongs to row n of the other.
static int add_both(struct sb_row_log *r, size_t len)
{
    struct sb_buf *b = &r->line;
    int rc = sb_spool_add(&r->intervals, b->data, len, &r->failed);

    if (rc)
        return rc;
    rc = sb_spool_add(&r->histograms, b->data + len, b->len - len, &r->failed);
    if (rc)
        sb_spool_drop(&r->intervals);
    return rc;
}

void sb_row_log_add(struct sb_row_log *r, const struct sb_report *report)
{
    struct sb_buf *b = &r->line;
    size_t len;

    if (!r->open)
        return;
    r->failed.code = 0;
    sb_buf_clear(b);
    sb_series_json(b, r->series);
    len = b->len;
    sb_series_heat(b, report->latency);
    if (b->failed)
        sb_row_log_miss(r);
    else if (add_both(r, len))
        r->missing++;
    assert(r->intervals.lines == r->histograms.lines);
}

void sb_row_log_miss(struct sb_row_log *r)
{
    if (!r->open)
        return;
    sb_err_set(&r->failed, SB_ENOMEM, "out of memory");
    r->missing++;
}
