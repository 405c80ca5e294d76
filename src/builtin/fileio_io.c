// SPDX-License-Identifier: GPL-2.0-or-later
//
// fileio: reading, writing, syncing and validating blocks.
#include "builtin/fileio.h"

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

int sb__fileio_failed(
    const struct sb__fileio_req *q, int no, struct sb_err *err)
{
    char limit[80];

    sb_limit_of_size(no, limit, sizeof(limit));
    sb_err_set(err, SB_ESYS,
        "Failed to %s file! file: %" PRId64 " pos: %" PRId64
        " errno = %d (%s)%s",
        q->write ? "write" : "read", q->file, q->pos, no,
        no ? strerror(no) : "end of file", limit);
    if (err)
        err->native = no;
    return SB_ESYS;
}

int sb__fileio_transfer(const struct sb__fileio *t, char *buf,
    const struct sb__fileio_req *q, size_t done, struct sb_err *err)
{
    int fd = t->file[q->file].fd;

    while (done < q->size) {
        size_t left = q->size - done;
        off_t at = (off_t)(q->pos + (int64_t)done);
        ssize_t n = q->write ? pwrite(fd, buf + done, left, at)
                             : pread(fd, buf + done, left, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return sb__fileio_failed(q,
                n < 0      ? errno
                : q->write ? ENOSPC
                           : 0,
                err);
        done += (size_t)n;
    }
    return 0;
}

// Threads read and write the same positions of a mapping at the same time, as
// they do in a file: relaxed atomics, in words if blocks are multiples of a
// word.
static bool fileio_in_words(const char *map, size_t n)
{
    return ((uintptr_t)map | n) % sizeof(uint64_t) == 0;
}

static void from_map(char *buf, const char *map, size_t n)
{
    if (!fileio_in_words(map, n)) {
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
    if (!fileio_in_words(map, n)) {
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

void sb__fileio_fill(const struct sb__fileio *t, char *buf,
    const struct sb__fileio_req *q, struct sb_rng *rng)
{
    if (t->validate && q->write)
        sb__fileio_seal(
            buf, q->size, (size_t)t->o->block, q->file, q->pos, rng);
}

int sb__fileio_check(const struct sb__fileio *t, const char *buf,
    const struct sb__fileio_req *q, struct sb_err *err)
{
    if (!t->validate || q->write)
        return 0;
    return sb__fileio_verify(
        buf, q->size, (size_t)t->o->block, q->file, q->pos, err);
}

void sb__fileio_lock(struct sb__fileio *t, const struct sb__fileio_req *q)
{
    pthread_rwlock_t *lock = &t->file[q->file].lock;

    if (!t->validate)
        return;
    if (q->write)
        pthread_rwlock_wrlock(lock);
    else
        pthread_rwlock_rdlock(lock);
}

bool sb__fileio_trylock(struct sb__fileio *t, const struct sb__fileio_req *q)
{
    pthread_rwlock_t *lock = &t->file[q->file].lock;

    if (!t->validate)
        return true;
    return (q->write ? pthread_rwlock_trywrlock(lock)
                     : pthread_rwlock_tryrdlock(lock)) == 0;
}

void sb__fileio_unlock(struct sb__fileio *t, const struct sb__fileio_req *q)
{
    if (t->validate)
        pthread_rwlock_unlock(&t->file[q->file].lock);
}

void sb__fileio_count(struct sb_rec *rec, const struct sb__fileio_req *q)
{
    struct sb_tally *c = &rec->tally;

    sb_tally_add(q->write ? &c->writes : &c->reads, 1);
    sb_tally_add(q->write ? &c->bytes_written : &c->bytes_read, q->size);
}

int sb__fileio_request(struct sb__fileio *t, char *buf,
    const struct sb__fileio_req *q, struct sb_rng *rng, struct sb_err *err)
{
    char *map = t->file[q->file].map;
    int rc = 0;

    sb__fileio_fill(t, buf, q, rng);
    sb__fileio_lock(t, q);
    if (!map)
        rc = sb__fileio_transfer(t, buf, q, 0, err);
    else if (q->write)
        to_map(map + q->pos, buf, q->size);
    else
        from_map(buf, map + q->pos, q->size);
    sb__fileio_unlock(t, q);
    return rc ? rc : sb__fileio_check(t, buf, q, err);
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
