// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // asprintf()
#include "out/target.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/opts.h"
#include "base/outfile.h"

#define TRIES 100

// The name in messages, on one line.
static const char *name_of(const struct sb_target *t, char *out, size_t size)
{
    if (strcmp(t->path, "-") == 0)
        return "to standard output";
    sb_escape_line(out, size, SB_SHOWN(t->path));
    return out;
}

static int target_failed(const struct sb_target *t, struct sb_err *err)
{
    int native = errno;
    char name[1024];

    return sb_err_set(err, SB_ESYS, "cannot write %s: %s",
        name_of(t, name, sizeof(name)), strerror(native));
}

#define LINKS_MAX 40

// Replaces a symbolic link by what it points to, which may not exist yet. NULL
// with errno.
static char *follow(char *path)
{
    for (int i = 0; path && i < LINKS_MAX; i++) {
        char to[4096], *slash = strrchr(path, '/'), *next;
        ssize_t n = readlink(path, to, sizeof(to) - 1);

        if (n < 0) // no link
            return path;
        to[n] = '\0';
        // A relative link starts at the folder of the link.
        int folder = *to == '/' || !slash ? 0 : (int)(slash - path) + 1;
        if (asprintf(&next, "%.*s%s", folder, path, to) < 0)
            next = NULL;
        free(path);
        path = next;
    }
    if (path)
        errno = ELOOP;
    free(path);
    return NULL;
}

static bool look(const char *path, struct stat *st)
{
    char *whole = sb_outfile_path(path);
    bool found = whole && stat(whole, st) == 0;

    free(whole);
    return found;
}

bool sb_target_is_special(const char *path)
{
    struct stat st;

    return look(path, &st) && !S_ISREG(st.st_mode);
}

bool sb_target_is_folder(const char *path)
{
    struct stat st;

    return look(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_current(int fd, const char *name)
{
    // If the descriptor is closed, the next call that uses it reports that.
    return fcntl(fd, F_GETFD) < 0 || sb_outfile_is(fd, name);
}

// Returns a locked file, or -1 with errno and the reason.
static int open_locked(const char *name, const char **why)
{
    for (int i = 0; i < TRIES; i++) {
        int fd = sb_outfile_open(name, O_RDWR, why);

        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
            if (is_current(fd, name))
                return fd;
        } else {
            close(fd);
            *why = "another process is writing it";
            errno = EWOULDBLOCK;
            return -1;
        }
        close(fd);
    }
    errno = EBUSY;
    *why = "other processes replace it";
    return -1;
}

static int refused(
    const struct sb_target *t, const char *why, struct sb_err *err)
{
    int native = errno;
    char name[1024], part[1024];
    const char *slash = t->part ? strrchr(t->part, '/') : NULL;

    name_of(t, name, sizeof(name));
    if (native != ENXIO || !t->part)
        return sb_err_set(err, native == EWOULDBLOCK ? SB_ELIMIT : SB_ESYS,
            "cannot write %s: %s", name, why);
    sb_escape_line(part, sizeof(part), SB_SHOWN(slash ? slash + 1 : t->part));
    return sb_err_set(err, SB_ESYS,
        "cannot write %s: its temporary file %s: %s", name, part, why);
}

static int open_file(struct sb_target *t, struct sb_err *err)
{
    const char *name = t->part ? t->part : t->real, *why = "";
    int fd = t->special ? open(name, O_WRONLY | O_CLOEXEC)
                        : open_locked(name, &why);

    if (fd < 0 && t->special)
        return target_failed(t, err);
    if (fd < 0)
        return refused(t, why, err);
    t->file = fdopen(fd, "w");
    if (!t->file) {
        close(fd);
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    }
    t->own = true;
    t->locked = !t->special;
    return 0;
}

// Finds the file that is to be written. The name was given by the user.
static int find_given(struct sb_target *t, struct sb_err *err)
{
    t->special = sb_target_is_special(t->path);
    // The shell redirects standard output to this file. Opened twice, it would
    // be written twice at the same place.
    if (t->real && !t->special && sb_outfile_is(STDOUT_FILENO, t->real)) {
        t->file = stdout;
        return 0;
    }
    // Links to pipes have no path: /dev/stdout.
    if (t->real && !t->special)
        t->real = follow(t->real);
    return t->real ? 0 : target_failed(t, err);
}

static int find_chosen(struct sb_target *t, struct sb_err *err)
{
    const char *why = t->real ? sb_outfile_unfit(t->real) : NULL;

    if (!t->real)
        return target_failed(t, err);
    errno = ENXIO;
    return why ? refused(t, why, err) : 0;
}

int sb_target_open(struct sb_target *t, const char *path,
    enum sb_target_mode mode, struct sb_err *err)
{
    *t = (struct sb_target){ .path = path };
    if (strcmp(path, "-") == 0) {
        t->file = stdout;
        return 0;
    }
    t->real = sb_outfile_path(path);
    int rc = mode & SB_TARGET_CHOSEN ? find_chosen(t, err) : find_given(t, err);

    if (rc || t->file)
        return rc;
    if (!(mode & SB_TARGET_LINES) && !t->special) {
        size_t size = strlen(t->real) + sizeof(".part");

        t->part = malloc(size);
        if (!t->part)
            return sb_err_set(err, SB_ENOMEM, "out of memory");
        snprintf(t->part, size, "%s.part", t->real);
    }
    rc = open_file(t, err);
    // A run that was killed may have left PATH.part.
    return rc || !t->part ? rc : sb_target_begin(t, err);
}

int sb_target_begin(struct sb_target *t, struct sb_err *err)
{
    struct stat st;

    if (!t->own || fstat(fileno(t->file), &st) || !S_ISREG(st.st_mode))
        return 0;
    return sb_target_cut(t, 0, err);
}

int sb_target_cut(struct sb_target *t, off_t size, struct sb_err *err)
{
    if (ftruncate(fileno(t->file), size) || fseeko(t->file, size, SEEK_SET))
        return target_failed(t, err);
    t->written = size;
    return 0;
}

static int lost(const struct sb_target *t, const char *how, struct sb_err *err)
{
    char name[1024];

    return sb_err_set(err, SB_ESYS,
        "%s was %s during the run: its content is lost",
        name_of(t, name, sizeof(name)), how);
}

// Returns whether there is a zero byte at the position: writing after another
// process has truncated the file leaves a hole, and reports have no zero bytes.
static bool is_hole(int fd, off_t at)
{
    char c = 0;

    return pread(fd, &c, 1, at) != 1 || !c;
}

// True if the file still has all bytes that were flushed, and none of another
// writer.
static bool is_whole(const struct sb_target *t)
{
    int fd = fileno(t->file);
    struct stat st;

    if (!t->locked || fstat(fd, &st))
        return true;
    if (st.st_size < t->written || st.st_size > ftello(t->file))
        return false;
    return (st.st_size == 0 || !is_hole(fd, 0)) &&
           (t->written == 0 || !is_hole(fd, t->written - 1));
}

// Returns the errno of a write that failed earlier: another write fails for the
// same reason. If it succeeds, it is removed from the file again.
static int reason_of_failure(FILE *file)
{
    int fd = fileno(file), error = EIO;
    off_t end = lseek(fd, 0, SEEK_END);

    if (write(fd, "\n", 1) < 0)
        error = errno;
    else if (end < 0 || ftruncate(fd, end) || lseek(fd, end, SEEK_SET) < 0)
        error = EIO;
    return error;
}

int sb_target_flush(struct sb_target *t, struct sb_err *err)
{
    assert(t->file); // the target was not committed
    if (!ferror(t->file) && !is_whole(t))
        return lost(t, "truncated or overwritten", err);
    errno = 0;
    if (fflush(t->file) == 0 && !ferror(t->file)) {
        if (t->locked)
            t->written = ftello(t->file);
        return 0;
    }
    if (errno == 0)
        errno = reason_of_failure(t->file);
    clearerr(t->file);
    return target_failed(t, err);
}

// Some file systems report a failed write when the file is closed. The copy of
// its descriptor, which is returned in *lock, keeps it locked.
static int close_file(struct sb_target *t, int *lock, struct sb_err *err)
{
    FILE *file = t->file;

    *lock = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
    t->own = false;
    t->file = NULL;
    return fclose(file) ? target_failed(t, err) : 0;
}

int sb_target_check(const struct sb_target *t, struct sb_err *err)
{
    if (!t->own || !t->locked ||
        is_current(fileno(t->file), t->part ? t->part : t->real))
        return 0;
    return lost(t, "removed or replaced", err);
}

int sb_target_commit(struct sb_target *t, struct sb_err *err)
{
    int rc = sb_target_flush(t, err), lock = -1;

    if (rc == 0)
        rc = sb_target_check(t, err);
    if (rc == 0 && t->own)
        rc = close_file(t, &lock, err);
    if (rc == 0 && t->part && rename(t->part, t->real))
        rc = target_failed(t, err);
    if (rc && t->part)
        unlink(t->part);
    if (lock >= 0)
        close(lock);
    return rc;
}

int sb_target_again(struct sb_target *t, struct sb_err *err)
{
    if (t->file)
        return 0;
    int rc = open_file(t, err);

    return rc ? rc : sb_target_begin(t, err);
}

void sb_target_done(struct sb_target *t)
{
    if (t->own && t->part)
        unlink(t->part);
    if (t->own)
        fclose(t->file);
    free(t->part);
    free(t->real);
    *t = (struct sb_target){ 0 };
}

void sb_target_leave(struct sb_target *t)
{
    free(t->part);
    t->part = NULL;
    sb_target_done(t);
}

void sb_target_folder(const char *path, char *dir, size_t size)
{
    bool temporary = strcmp(path, "-") == 0 || sb_target_is_special(path);
    char *whole = temporary ? strdup(sb_outfile_temporary())
                            : sb_outfile_path(path);
    char *slash = whole && !temporary ? strrchr(whole, '/') : NULL;

    if (slash)
        slash[slash == whole] = '\0';
    snprintf(dir, size, "%s", whole && (slash || temporary) ? whole : ".");
    free(whole);
}
