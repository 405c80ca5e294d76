// SPDX-License-Identifier: GPL-2.0-or-later
//
// fileio: the set of files: its flags, prepare, opening, cleanup.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // O_DIRECT
#endif
#include "builtin/fileio.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "kit/limits.h"

#define NAME 64
// Page size of the file system; also a multiple of the sector size for
// O_DIRECT.
#define ALIGN 4096

static const struct {
    const char *name, *text;
    int flag;
} flag_names[] = {
    { "sync", "sync ", O_SYNC },
    { "dsync", "dsync ", O_DSYNC },
#ifdef O_DIRECT
    { "direct", "directio", O_DIRECT },
#endif
};

#define FLAGS (sizeof(flag_names) / sizeof(*flag_names))

// Prints progress of a command; out may be NULL.
static void fileio_print_progress(FILE *out, const char *fmt, ...)
    SB_PRINTF(2, 3);

static void fileio_print_progress(FILE *out, const char *fmt, ...)
{
    va_list ap;

    if (!out)
        return;
    va_start(ap, fmt);
    vfprintf(out, fmt, ap);
    va_end(ap);
}

static bool fileio_given(const struct sb__fileio_opts *o, const char *name)
{
    for (size_t i = 0; i < o->extra_flags.count; i++)
        if (strcmp(o->extra_flags.item[i], name) == 0)
            return true;
    return false;
}

int sb__fileio_flags(
    const struct sb__fileio_opts *o, int *flags, struct sb_err *err)
{
    *flags = 0;
    for (size_t i = 0; i < o->extra_flags.count; i++) {
        size_t k = 0;

        while (k < FLAGS &&
               strcmp(o->extra_flags.item[i], flag_names[k].name) != 0)
            k++;
        if (k == FLAGS)
            return sb_err_set(err, SB_EUSAGE,
                "Invalid value for file-extra-flags: %s",
                o->extra_flags.item[i]);
        *flags |= flag_names[k].flag;
    }
    return 0;
}

void sb__fileio_flags_text(const struct sb__fileio_opts *o, FILE *out)
{
    fileio_print_progress(out, "Extra file open flags: ");
    if (o->extra_flags.count == 0)
        fileio_print_progress(out, "(none)");
    for (size_t k = 0; k < FLAGS; k++)
        if (fileio_given(o, flag_names[k].name))
            fileio_print_progress(out, "%s", flag_names[k].text);
    fileio_print_progress(out, "\n");
}

char *sb__fileio_buffer(size_t size)
{
    size_t whole = (size + ALIGN - 1) / ALIGN * ALIGN;
    char *p = aligned_alloc(ALIGN, whole);

    if (p)
        memset(p, 'x', whole);
    return p;
}

static void file_name(int64_t i, char *name)
{
    snprintf(name, NAME, "test_file.%" PRId64, i);
}

static int file_err(
    const char *action, const char *name, const char *hint, struct sb_err *err)
{
    int no = errno;
    char limit[80];

    sb_limit_of_size(no, limit, sizeof(limit));
    sb_err_set(err, SB_ESYS, "Cannot %s file '%s' errno = %d (%s)%s%s", action,
        name, no, strerror(no), limit, hint);
    if (err)
        err->native = no;
    return SB_ESYS;
}

int64_t sb__fileio_blocks(const struct sb__fileio_opts *o)
{
    int64_t size = o->total / o->num;

    return size <= o->block ? 1 : (size + o->block - 1) / o->block;
}

void sb__fileio_size_text(int64_t bytes, char *text, size_t size)
{
    static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double n = (double)bytes;
    size_t k = 0;

    while (n >= 1024 && k + 1 < sizeof(unit) / sizeof(*unit)) {
        n /= 1024;
        k++;
    }
    snprintf(text, size, "%.5g%s", n, unit[k]);
}

static int check_size(
    const struct sb__fileio *t, int fd, const char *name, struct sb_err *err)
{
    char has[32], wants[32];
    struct stat st;

    if (fstat(fd, &st))
        return file_err("stat", name, "", err);
    if (st.st_size >= t->blocks * t->o->block)
        return 0;
    sb__fileio_size_text(st.st_size, has, sizeof(has));
    sb__fileio_size_text(t->blocks * t->o->block, wants, sizeof(wants));
    return sb_err_set(err, SB_EUSAGE,
        "Size of file '%s' is %s, but at least %s is expected. Did you run "
        "'prepare' with different --file-total-size or --file-num values, or "
        "'run' with --file-test-mode=seqwr, which truncates the files?",
        name, has, wants);
}

static int map_file(struct sb__fileio *t, struct sb__fileio_file *f,
    const char *name, bool readonly, struct sb_err *err)
{
    size_t size = (size_t)(t->blocks * t->o->block);
    void *p;

    if (t->mode == FILEIO_SEQWR && ftruncate(f->fd, (off_t)size))
        return file_err("extend", name, "", err);
    p = mmap(NULL, size, readonly ? PROT_READ : PROT_READ | PROT_WRITE,
        MAP_SHARED, f->fd, 0);
    if (p == MAP_FAILED)
        return file_err("map", name, "", err);
    f->map = p;
    return 0;
}

static int fileio_open_file(struct sb__fileio *t, int64_t i, struct sb_err *err)
{
    bool readonly = t->mode == FILEIO_SEQRD || t->mode == FILEIO_RNDRD;
    int flags = t->open_flags | O_CLOEXEC | (readonly ? O_RDONLY : O_RDWR);
    struct sb__fileio_file *f = &t->file[i];
    char name[NAME];
    int rc = 0;

    if (t->mode == FILEIO_SEQWR)
        flags |= O_CREAT | O_TRUNC;
    file_name(i, name);
    f->fd = open(name, flags, S_IRUSR | S_IWUSR);
    if (f->fd < 0)
        return file_err("open", name,
            errno == ENOENT ? ". Did you forget to run the prepare step?" : "",
            err);
    if (t->mode != FILEIO_SEQWR)
        rc = check_size(t, f->fd, name, err);
    if (rc == 0 && t->o->io_mode == FILEIO_MMAP)
        rc = map_file(t, f, name, readonly, err);
    return rc;
}

static int files_new(struct sb__fileio *t, struct sb_err *err)
{
    assert(!t->file);
    t->file = calloc((size_t)t->o->num, sizeof(*t->file));
    if (!t->file)
        return sb_err_set(err, SB_ENOMEM, "fileio: out of memory");
    for (int64_t i = 0; i < t->o->num; i++) {
        t->file[i].fd = -1;
        pthread_rwlock_init(&t->file[i].lock, NULL);
    }
    return 0;
}

// seqwr measures the creation of files, as in 1.0.
static void warn_of_truncation(const struct sb__fileio *t)
{
    char name[NAME];
    struct stat st;

    if (t->mode != FILEIO_SEQWR)
        return;
    for (int64_t i = 0; i < t->o->num; i++) {
        file_name(i, name);
        if (stat(name, &st) || st.st_size == 0)
            continue;
        sb_log(SB_LOG_WARNING,
            "seqwr truncates the existing files, such as %s, and writes them "
            "again: run 'prepare' again before using another mode",
            name);
        return;
    }
}

int sb__fileio_open(struct sb__fileio *t, struct sb_err *err)
{
    int rc = files_new(t, err);

    warn_of_truncation(t);
    for (int64_t i = 0; rc == 0 && i < t->o->num; i++)
        rc = fileio_open_file(t, i, err);
    return rc;
}

void sb__fileio_close(struct sb__fileio *t)
{
    for (int64_t i = 0; t->file && i < t->o->num; i++) {
        struct sb__fileio_file *f = &t->file[i];

        if (f->map)
            munmap(f->map, (size_t)(t->blocks * t->o->block));
        if (f->fd >= 0)
            close(f->fd);
        pthread_rwlock_destroy(&f->lock);
    }
    free(t->file);
    t->file = NULL;
}

// The state of prepare.
struct prepare {
    struct sb__fileio t; // for its write function
    char *buf;
    struct sb_rng rng;
    uint64_t written;
    FILE *out;
};

static int fill_from(
    struct prepare *p, int64_t i, int64_t pos, struct sb_err *err)
{
    const struct sb__fileio_opts *o = p->t.o;
    int rc = 0;

    for (; rc == 0 && pos < p->t.blocks * o->block; pos += o->block) {
        struct sb__fileio_req q = { i, pos, (size_t)o->block, true };

        rc = sb__fileio_request(&p->t, p->buf, &q, &p->rng, err);
        p->written += q.size;
    }
    return rc;
}

static int fill_file(struct prepare *p, int64_t i, struct sb_err *err)
{
    int64_t want = p->t.blocks * p->t.o->block;
    int *fd = &p->t.file[i].fd, rc = 0;
    struct stat st;
    char name[NAME];

    assert(*fd < 0);
    file_name(i, name);
    *fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC | p->t.open_flags,
        S_IRUSR | S_IWUSR);
    if (*fd < 0)
        return file_err("create", name, "", err);
    if (fstat(*fd, &st)) {
        rc = file_err("stat", name, "", err);
    } else if (st.st_size >= want && !p->t.validate) {
        fileio_print_progress(p->out, "Reusing existing file %s\n", name);
    } else {
        // Existing blocks may have no seal.
        int64_t from = p->t.validate ? 0
                                     : st.st_size - st.st_size % p->t.o->block;

        fileio_print_progress(p->out, "%s file %s\n",
            st.st_size == 0 ? "Creating"
            : from == 0     ? "Rewriting existing"
                            : "Extending existing",
            name);
        rc = fill_from(p, i, from, err);
        if (rc == 0 && fsync(*fd))
            rc = file_err("sync", name, "", err);
    }
    close(*fd);
    *fd = -1;
    return rc;
}

static void written_text(const struct prepare *p, uint64_t ns)
{
    double s = (double)ns / 1e9;

    if (p->written == 0)
        fileio_print_progress(p->out, "No bytes written.\n");
    else
        fileio_print_progress(p->out,
            "%" PRIu64 " bytes written in %.2f seconds (%.2f MiB/sec).\n",
            p->written, s, s > 0 ? (double)p->written / 1048576 / s : 0);
}

static int fill_files(struct prepare *p, struct sb_err *err)
{
    const struct sb__fileio_opts *o = p->t.o;
    uint64_t start = sb_clock_monotonic();
    int rc = sb__fileio_flags(o, &p->t.open_flags, err);

    if (rc)
        return rc;
    fileio_print_progress(p->out,
        "%" PRId64 " files, %" PRId64 "Kb each, %" PRId64
        "Mb total\nCreating files for the test...\n",
        o->num, o->total / o->num / 1024, o->total / 1048576);
    sb__fileio_flags_text(o, p->out);
    for (int64_t i = 0; rc == 0 && i < o->num; i++)
        rc = fill_file(p, i, err);
    if (rc == 0)
        written_text(p, sb_clock_monotonic() - start);
    return rc;
}

static int fileio_prepare(const struct sb__fileio_opts *o,
    const struct sb_run_opts *run, FILE *out, struct sb_err *err)
{
    struct prepare p = { .out = out };
    int rc;

    p.t.o = o;
    p.t.validate = run->validate;
    p.t.blocks = sb__fileio_blocks(o);
    sb_rng_init(&p.rng, 1, 0);
    if (p.t.validate && o->block < FILEIO_SEAL)
        return sb_err_set(err, SB_EUSAGE, FILEIO_SEAL_ERROR);
    p.buf = sb__fileio_buffer((size_t)o->block);
    if (!p.buf)
        return sb_err_set(err, SB_ENOMEM, "fileio: out of memory");
    rc = files_new(&p.t, err);
    if (rc == 0)
        rc = fill_files(&p, err);
    sb__fileio_close(&p.t);
    free(p.buf);
    return rc;
}

static int cleanup(
    const struct sb__fileio_opts *o, FILE *out, struct sb_err *err)
{
    int rc = 0;

    fileio_print_progress(out, "Removing test files...\n");
    for (int64_t i = 0; i < o->num; i++) {
        char name[NAME];

        file_name(i, name);
        if (unlink(name) && errno != ENOENT)
            rc = file_err("remove", name, "", err);
    }
    return rc;
}

int sb__fileio_command(const char *command, const void *opts,
    const struct sb_run_opts *run, FILE *out, struct sb_err *err)
{
    if (strcmp(command, "prepare") == 0)
        return fileio_prepare(opts, run, out, err);
    if (strcmp(command, "cleanup") == 0)
        return cleanup(opts, out, err);
    return sb_err_set(err, SB_EUNSUPPORTED,
        "'fileio' test does not implement the '%s' command.", command);
}
