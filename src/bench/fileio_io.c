// SPDX-License-Identifier: GPL-2.0-or-later
//
// fileio: reading, writing, syncing and validating blocks.
#include "bench/fileio.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/hash.h"
#include "kit/limits.h"

// At the end of each sealed block.
struct seal {
    int64_t file, pos;
    uint64_t sum;
};

_Static_assert(sizeof(struct seal) == FILEIO_SEAL, "no padding");

// Of everything except the checksum itself.
static uint64_t checksum(const char *block, size_t size)
{
    return sb_hash(block, size - sizeof(uint64_t));
}

void sb__fileio_seal(char *buf, size_t size, size_t block, int64_t file,
    int64_t pos, struct sb_rng *rng)
{
    assert(block >= FILEIO_SEAL && size % block == 0);
    for (size_t at = 0; at < size; at += block) {
        struct seal s = { file, pos + (int64_t)at, 0 };
        uint64_t noise = sb_rng_next(rng);
        char *end = buf + at + block - sizeof(s);

        memset(buf + at, (int)('a' + noise % 26), block - sizeof(s));
        memcpy(end, &s, sizeof(s));
        s.sum = checksum(buf + at, block);
        memcpy(end, &s, sizeof(s));
    }
}

int sb__fileio_verify(const char *buf, size_t size, size_t block, int64_t file,
    int64_t pos, struct sb_err *err)
{
    for (size_t at = 0; at + block <= size; at += block) {
        struct seal s;
        uint64_t sum = checksum(buf + at, block);

        memcpy(&s, buf + at + block - sizeof(s), sizeof(s));
        if (s.sum != sum || s.file != file || s.pos != pos + (int64_t)at)
            return sb_err_set(err, SB_EINTERNAL,
                "Validation failed on file %" PRId64 ", block offset %" PRId64
                ": calculated checksum 0x%" PRIx64 ", stored 0x%" PRIx64
                " for file %" PRId64 ", offset %" PRId64,
                file, pos + (int64_t)at, sum, s.sum, s.file, s.pos);
    }
    return 0;
}

static int io_failed(const char *action, const struct sb__fileio_req *q, int no,
    struct sb_err *err)
{
    char limit[80];

    sb_limit_of_size(no, limit, sizeof(limit));
    sb_err_set(err, SB_ESYS,
        "Failed to %s file! file: %" PRId64 " pos: %" PRId64
        " errno = %d (%s)%s",
        action, q->file, q->pos, no, no ? strerror(no) : "end of file", limit);
    if (err)
        err->native = no;
    return SB_ESYS;
}

static int read_all(
    int fd, char *buf, const struct sb__fileio_req *q, struct sb_err *err)
{
    for (size_t done = 0; done < q->size;) {
        ssize_t n = pread(
            fd, buf + done, q->size - done, (off_t)(q->pos + (int64_t)done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return io_failed("read", q, n < 0 ? errno : 0, err);
        done += (size_t)n;
    }
    return 0;
}

static int write_all(
    int fd, const char *buf, const struct sb__fileio_req *q, struct sb_err *err)
{
    for (size_t done = 0; done < q->size;) {
        ssize_t n = pwrite(
            fd, buf + done, q->size - done, (off_t)(q->pos + (int64_t)done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return io_failed("write", q, n < 0 ? errno : ENOSPC, err);
        done += (size_t)n;
    }
    return 0;
}

// Threads read and write the same positions of a mapping at the same time, as
// they do in a file: relaxed atomics, in words if blocks are multiples of a
// word.
static bool in_words(const char *map, size_t n)
{
    return ((uintptr_t)map | n) % sizeof(uint64_t) == 0;
}

static void from_map(char *buf, const char *map, size_t n)
{
    if (!in_words(map, n)) {
        for (size_t i = 0; i < n; i++)
            buf[i] = atomic_load_explicit(
                (const _Atomic char *)&map[i], memory_order_relaxed);
        return;
    }
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        uint64_t word = atomic_load_explicit(
            (const _Atomic uint64_t *)(const void *)&map[i],
            memory_order_relaxed);

        memcpy(buf + i, &word, sizeof(word));
    }
}

static void to_map(char *map, const char *buf, size_t n)
{
    if (!in_words(map, n)) {
        for (size_t i = 0; i < n; i++)
            atomic_store_explicit(
                (_Atomic char *)&map[i], buf[i], memory_order_relaxed);
        return;
    }
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, buf + i, sizeof(word));
        atomic_store_explicit(
            (_Atomic uint64_t *)(void *)&map[i], word, memory_order_relaxed);
    }
}

int sb__fileio_read(struct sb__fileio *t, struct sb__fileio_user *fu,
    const struct sb__fileio_req *q, struct sb_err *err)
{
    struct sb__fileio_file *f = &t->file[q->file];
    int rc = 0;

    if (t->validate)
        pthread_rwlock_rdlock(&f->lock);
    if (f->map)
        from_map(fu->buf, f->map + q->pos, q->size);
    else
        rc = read_all(f->fd, fu->buf, q, err);
    if (t->validate)
        pthread_rwlock_unlock(&f->lock);
    if (rc == 0 && t->validate)
        rc = sb__fileio_verify(
            fu->buf, q->size, (size_t)t->o->block, q->file, q->pos, err);
    return rc;
}

int sb__fileio_write(struct sb__fileio *t, struct sb__fileio_user *fu,
    const struct sb__fileio_req *q, struct sb_rng *rng, struct sb_err *err)
{
    struct sb__fileio_file *f = &t->file[q->file];
    int rc = 0;

    if (t->validate) {
        sb__fileio_seal(
            fu->buf, q->size, (size_t)t->o->block, q->file, q->pos, rng);
        pthread_rwlock_wrlock(&f->lock);
    }
    if (f->map)
        to_map(f->map + q->pos, fu->buf, q->size);
    else
        rc = write_all(f->fd, fu->buf, q, err);
    if (t->validate)
        pthread_rwlock_unlock(&f->lock);
    return rc;
}

int sb__fileio_fsync(struct sb__fileio *t, int64_t file, struct sb_err *err)
{
    struct sb__fileio_file *f = &t->file[file];
    int rc;

    assert(file >= 0 && file < t->o->num);
    if (f->map)
        rc = msync(f->map, (size_t)(t->blocks * t->o->block), MS_SYNC);
    else if (t->o->fsync_mode == FILEIO_FDATASYNC)
        rc = fdatasync(f->fd);
    else
        rc = fsync(f->fd);
    if (rc == 0)
        return 0;
    rc = errno;
    sb_err_set(err, SB_ESYS,
        "Failed to fsync file! file: %" PRId64 " errno = %d (%s)", file, rc,
        strerror(rc));
    if (err)
        err->native = rc;
    return SB_ESYS;
}
