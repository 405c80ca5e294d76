// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the fileio test share.
#ifndef SB_BENCH_FILEIO_H
#define SB_BENCH_FILEIO_H

#include <pthread.h>

#include "bench/tests.h"

enum sb__fileio_mode {
    FILEIO_SEQWR,
    FILEIO_SEQREWR,
    FILEIO_SEQRD,
    FILEIO_RNDRD,
    FILEIO_RNDWR,
    FILEIO_RNDRW,
};
enum { FILEIO_SYNC, FILEIO_ASYNC, FILEIO_MMAP }; // io_mode
enum { FILEIO_FSYNC, FILEIO_FDATASYNC };         // fsync_mode

struct sb__fileio_opts {
    int64_t num, block, total;
    const char *mode; // text: it has no default and prepare needs none
    int io_mode;
    int64_t async_backlog;
    struct sb_opt_list extra_flags;
    int64_t fsync_freq;
    bool fsync_all, fsync_end;
    int fsync_mode;
    int64_t merged;
    double rw_ratio;
};

struct sb__fileio_file {
    int fd;
    char *map; // FILEIO_MMAP
    // Only with --validate: a block is never read while it is written.
    pthread_rwlock_t lock;
};

// The set of files, as the options describe it.
struct sb__fileio {
    struct sb_workload w;
    const struct sb__fileio_opts *o;
    enum sb__fileio_mode mode;
    int64_t threads; // --threads
    int64_t events;  // --events, for the description
    bool validate;
    int open_flags;
    int64_t blocks;               // of each file
    size_t request;               // bytes of a sequential request
    struct sb__fileio_file *file; // o->num of them
    _Atomic uint64_t next;        // number of the next sequential request
    _Atomic int64_t ended;        // users through with their loop
    _Atomic(struct sb_rec *) rec; // of one that had events
};

struct sb__fileio_user {
    char *buf; // t->request bytes, aligned for O_DIRECT
    uint64_t reads, writes;
    bool dirty;      // something was written since the last fsync
    int64_t syncing; // file to be synced next; o->num: none
};

// One request: where and how much.
struct sb__fileio_req {
    int64_t file, pos;
    size_t size;
};

// Text of the extra flags: "(none)", "sync directio". out may be NULL.
void sb__fileio_flags_text(const struct sb__fileio_opts *o, FILE *out);
// O_* of the extra flags. SB_EUSAGE names one that is none.
int sb__fileio_flags(
    const struct sb__fileio_opts *o, int *flags, struct sb_err *err);
// Blocks of each file, at least 1.
int64_t sb__fileio_blocks(const struct sb__fileio_opts *o);
// "1.5625MiB"
void sb__fileio_size_text(int64_t bytes, char *text, size_t size);
// A buffer that O_DIRECT takes, filled with letters; free() it. NULL: out of
// memory.
char *sb__fileio_buffer(size_t size);
int sb__fileio_open(struct sb__fileio *t, struct sb_err *err);
void sb__fileio_close(struct sb__fileio *t); // also what was half opened

// prepare and cleanup.
int sb__fileio_command(const char *command, const void *opts,
    const struct sb_run_opts *run, FILE *out, struct sb_err *err);

// Blocks that carry their place and a checksum. size is a multiple of block.
void sb__fileio_seal(char *buf, size_t size, size_t block, int64_t file,
    int64_t pos, struct sb_rng *rng);
int sb__fileio_verify(const char *buf, size_t size, size_t block, int64_t file,
    int64_t pos, struct sb_err *err);
#define FILEIO_SEAL       24 // bytes that it takes of a block
#define FILEIO_SEAL_ERROR "--validate needs a --file-block-size of 24 at least"

// SB_ESYS, or SB_EINTERNAL when the validation failed.
int sb__fileio_read(struct sb__fileio *t, struct sb__fileio_user *fu,
    const struct sb__fileio_req *q, struct sb_err *err);
int sb__fileio_write(struct sb__fileio *t, struct sb__fileio_user *fu,
    const struct sb__fileio_req *q, struct sb_rng *rng, struct sb_err *err);
int sb__fileio_fsync(struct sb__fileio *t, int64_t file, struct sb_err *err);

#endif
