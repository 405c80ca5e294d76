// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the files of the fileio test.
#ifndef SB_BENCH_FILEIO_H
#define SB_BENCH_FILEIO_H

#include <pthread.h>

#include "builtin/builtin.h"

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
    const char *mode; // text, because it has no default; not used by prepare
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
    // Used with --validate: a block is never read while it is written. A
    // request holds it until it is complete.
    pthread_rwlock_t lock;
};

// The set of files described by the options.
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
    struct sb__fileio_file *file; // o->num entries
    _Atomic uint64_t next;        // number of the next sequential request
    _Atomic int64_t active;       // users that have not ended their loop
    _Atomic(struct sb_rec *) rec; // of a user that ran events
};

struct sb__fileio_queue;

struct sb__fileio_user {
    char *buf; // t->request bytes, aligned for O_DIRECT; NULL: has a queue
    struct sb__fileio_queue *queue; // FILEIO_ASYNC
    uint64_t reads, writes;         // requests that were started
    bool dirty;                     // data was written since the last fsync
    int64_t syncing;                // file to be synced next; o->num: none
};

// One request: where and how much.
struct sb__fileio_req {
    int64_t file, pos;
    size_t size;
    bool write;
};

// Prints the extra flags: "(none)", "sync directio". out may be NULL.
void sb__fileio_flags_text(const struct sb__fileio_opts *o, FILE *out);
// Converts the extra flags to O_* flags. SB_EUSAGE names an unknown one.
int sb__fileio_flags(
    const struct sb__fileio_opts *o, int *flags, struct sb_err *err);
// Number of blocks per file, at least 1.
int64_t sb__fileio_blocks(const struct sb__fileio_opts *o);
// "1.5625MiB"
void sb__fileio_size_text(int64_t bytes, char *text, size_t size);
// Allocates a buffer that is aligned for O_DIRECT and filled with letters;
// free it with free(). NULL: out of memory.
char *sb__fileio_buffer(size_t size);
int sb__fileio_open(struct sb__fileio *t, struct sb_err *err);
void sb__fileio_close(struct sb__fileio *t); // also after a failed open

// prepare and cleanup.
int sb__fileio_command(const char *command, const void *opts,
    const struct sb_run_opts *run, FILE *out, struct sb_err *err);

// Write and check a seal in each block: its position and a checksum. size is a
// multiple of block.
void sb__fileio_seal(char *buf, size_t size, size_t block, int64_t file,
    int64_t pos, struct sb_rng *rng);
int sb__fileio_verify(const char *buf, size_t size, size_t block, int64_t file,
    int64_t pos, struct sb_err *err);
#define FILEIO_SEAL 24 // bytes of the seal in each block
#define FILEIO_SEAL_ERROR \
    "--validate requires a --file-block-size of at least 24"

// Does one request in the calling thread. buf: q->size bytes. rng: for the
// contents with --validate. SB_ESYS, or SB_EINTERNAL if the validation failed.
int sb__fileio_request(struct sb__fileio *t, char *buf,
    const struct sb__fileio_req *q, struct sb_rng *rng, struct sb_err *err);
// The parts of a request. Without --validate, the first five do nothing and
// succeed. They seal a block before it is written, check a block that was read
// (SB_EINTERNAL), and lock the file for other users; the thread that has locked
// a file unlocks it.
void sb__fileio_fill(const struct sb__fileio *t, char *buf,
    const struct sb__fileio_req *q, struct sb_rng *rng);
int sb__fileio_check(const struct sb__fileio *t, const char *buf,
    const struct sb__fileio_req *q, struct sb_err *err);
void sb__fileio_lock(struct sb__fileio *t, const struct sb__fileio_req *q);
bool sb__fileio_trylock(struct sb__fileio *t, const struct sb__fileio_req *q);
void sb__fileio_unlock(struct sb__fileio *t, const struct sb__fileio_req *q);
// Reads or writes what follows the first `done` bytes. SB_ESYS.
int sb__fileio_transfer(const struct sb__fileio *t, char *buf,
    const struct sb__fileio_req *q, size_t done, struct sb_err *err);
// Sets err for a request that failed with this errno, 0: at the end of the
// file. Returns SB_ESYS.
int sb__fileio_failed(
    const struct sb__fileio_req *q, int no, struct sb_err *err);
// Counts a complete request.
void sb__fileio_count(struct sb_rec *rec, const struct sb__fileio_req *q);
int sb__fileio_fsync(struct sb__fileio *t, int64_t file, struct sb_err *err);

// The requests of a user that are in progress, at most --file-async-backlog, by
// io_uring. Used by one thread.

// SB_EUNSUPPORTED: this build has no io_uring.
int sb__fileio_queue_built(struct sb_err *err);
// Sets *queue. SB_ENOMEM; SB_EUNSUPPORTED: the system refuses io_uring.
int sb__fileio_queue_new(const struct sb__fileio *t,
    struct sb__fileio_queue **queue, struct sb_err *err);
// Starts a request; then, if the queue is full, waits until one is complete.
// Counts all that have completed in rec. An error may be that of an earlier
// request.
int sb__fileio_queue_add(struct sb__fileio *t, struct sb__fileio_queue *queue,
    struct sb_rec *rec, const struct sb__fileio_req *q, struct sb_rng *rng,
    struct sb_err *err);
// Waits for all requests. NULL is allowed.
int sb__fileio_queue_wait(struct sb__fileio *t, struct sb__fileio_queue *queue,
    struct sb_rec *rec, struct sb_err *err);
// Waits for all requests and frees the queue. NULL is allowed.
void sb__fileio_queue_free(
    struct sb__fileio *t, struct sb__fileio_queue *queue);

#endif
