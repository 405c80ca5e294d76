// SPDX-License-Identifier: GPL-2.0-or-later
//
// fileio: reads and writes blocks of a set of files, in order or at random.
#include "builtin/fileio.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kit/units.h"

static const char *const io_modes[] = { "sync", "async", "mmap", NULL };
static const char *const fsync_modes[] = { "fsync", "fdatasync", NULL };

// In the order of enum sb__fileio_mode.
static const struct {
    const char *name, *text;
} modes[] = {
    { "seqwr", "sequential write (creation)" },
    { "seqrewr", "sequential rewrite" },
    { "seqrd", "sequential read" },
    { "rndrd", "random read" },
    { "rndwr", "random write" },
    { "rndrw", "random r/w" },
};

#define MODES      (sizeof(modes) / sizeof(*modes))
#define OPT(field) offsetof(struct sb__fileio_opts, field)

static const struct sb_opt fileio_options[] = {
    { .name = "file-num",
        .type = SB_OPT_INT,
        .offset = OPT(num),
        .def = "128",
        .min = 1,
        .max = 1e7,
        .help = "number of files to create" },
    { .name = "file-block-size",
        .type = SB_OPT_SIZE,
        .offset = OPT(block),
        .def = "16384",
        .min = 1,
        .max = 1e12,
        .help = "block size to use in all IO operations" },
    { .name = "file-total-size",
        .type = SB_OPT_SIZE,
        .offset = OPT(total),
        .def = "2G",
        .min = 1,
        .max = 4e18,
        .help = "total size of files to create" },
    { .name = "file-test-mode",
        .type = SB_OPT_STRING,
        .offset = OPT(mode),
        .help = "test mode {seqwr, seqrewr, seqrd, rndrd, rndwr, "
                "rndrw}" },
    { .name = "file-io-mode",
        .type = SB_OPT_ENUM,
        .offset = OPT(io_mode),
        .def = "sync",
        .choices = io_modes,
        .help = "file operations mode (async: with io_uring)" },
    { .name = "file-async-backlog",
        .type = SB_OPT_INT,
        .offset = OPT(async_backlog),
        .def = "128",
        .min = 1,
        .max = 1e6,
        .help = "number of asynchronous operations to queue per "
                "thread" },
    { .name = "file-extra-flags",
        .type = SB_OPT_LIST,
        .offset = OPT(extra_flags),
        .help = "list of additional flags to use to open files "
                "{sync,dsync,direct}" },
    { .name = "file-fsync-freq",
        .type = SB_OPT_INT,
        .offset = OPT(fsync_freq),
        .def = "100",
        .min = 0,
        .max = 1e15,
        .help = "do fsync() after this number of requests (0 - don't "
                "use fsync())" },
    { .name = "file-fsync-all",
        .type = SB_OPT_BOOL,
        .offset = OPT(fsync_all),
        .def = "off",
        .help = "do fsync() after each write operation" },
    { .name = "file-fsync-end",
        .type = SB_OPT_BOOL,
        .offset = OPT(fsync_end),
        .def = "on",
        .help = "do fsync() at the end of test" },
    { .name = "file-fsync-mode",
        .type = SB_OPT_ENUM,
        .offset = OPT(fsync_mode),
        .def = "fsync",
        .choices = fsync_modes,
        .help = "which method to use for synchronization" },
    { .name = "file-merged-requests",
        .type = SB_OPT_INT,
        .offset = OPT(merged),
        .def = "0",
        .min = 0,
        .max = 1e6,
        .help = "merge at most this number of IO requests if possible "
                "(0 - don't merge)" },
    { .name = "file-rw-ratio",
        .type = SB_OPT_DOUBLE,
        .offset = OPT(rw_ratio),
        .def = "1.5",
        .min = 0,
        .max = 1e9,
        .help = "reads/writes ratio for combined test" },
    { .name = NULL },
};

static const struct sb_opt_table fileio_opt_table = {
    .title = "fileio options",
    .opts = fileio_options,
};

static bool sequential(const struct sb__fileio *t)
{
    return t->mode <= FILEIO_SEQRD;
}

static bool writes(const struct sb__fileio *t)
{
    return t->mode != FILEIO_SEQRD && t->mode != FILEIO_RNDRD;
}

// All threads together go through the files repeatedly.
static void next_sequential(struct sb__fileio *t, struct sb__fileio_req *q)
{
    int64_t size = t->blocks * t->o->block, step = (int64_t)t->request;
    uint64_t each = (uint64_t)((size + step - 1) / step);
    uint64_t n = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);

    q->file = (int64_t)(n / each % (uint64_t)t->o->num);
    q->pos = (int64_t)(n % each) * step;
    q->size = (size_t)(size - q->pos < step ? size - q->pos : step);
}

static void next_random(
    const struct sb__fileio *t, struct sb_user *u, struct sb__fileio_req *q)
{
    int64_t all = t->blocks * t->o->num;
    int64_t n = (int64_t)sb_random_default(&u->random, 0, (double)(all - 1));

    q->file = n / t->blocks;
    q->pos = n % t->blocks * t->o->block;
    q->size = (size_t)t->o->block;
}

static bool is_write(
    const struct sb__fileio *t, const struct sb__fileio_user *fu)
{
    if (t->mode != FILEIO_RNDRW)
        return writes(t);
    return (double)(fu->reads + 1) > t->o->rw_ratio * (double)(fu->writes + 1);
}

// Also for what this user has in its queue.
static int sync_one(struct sb__fileio *t, struct sb__fileio_user *fu,
    struct sb_rec *rec, int64_t file, struct sb_err *err)
{
    int rc = sb__fileio_queue_wait(t, fu->queue, rec, err);

    if (rc == 0)
        rc = sb__fileio_fsync(t, file, err);
    if (rc == 0)
        sb_tally_add(&rec->tally.others, 1);
    return rc;
}

static int request(struct sb__fileio *t, struct sb_user *u,
    const struct sb__fileio_req *q, struct sb_err *err)
{
    struct sb__fileio_user *fu = u->data;
    int rc;

    if (fu->queue)
        rc = sb__fileio_queue_add(t, fu->queue, u->rec, q, &u->random.rng, err);
    else
        rc = sb__fileio_request(t, fu->buf, q, &u->random.rng, err);
    if (rc == 0 && q->write && t->o->fsync_all)
        rc = sync_one(t, fu, u->rec, q->file, err);
    if (rc)
        return rc;
    if (!fu->queue)
        sb__fileio_count(u->rec, q);
    *(q->write ? &fu->writes : &fu->reads) += 1;
    fu->dirty |= q->write;
    return 0;
}

// After every fsync_freq requests, each file is synced in an event of its own.
static void schedule_sync(
    const struct sb__fileio *t, struct sb__fileio_user *fu)
{
    uint64_t freq = (uint64_t)t->o->fsync_freq;

    if (freq == 0 || t->o->fsync_all || !fu->dirty)
        return;
    if ((fu->reads + fu->writes) % freq == 0) {
        fu->syncing = 0;
        fu->dirty = false;
    }
}

static int fileio_event(
    struct sb__fileio *t, struct sb_user *u, struct sb_err *err)
{
    struct sb__fileio_user *fu = u->data;
    struct sb__fileio_req q;
    int rc;

    if (fu->syncing < t->o->num)
        return sync_one(t, fu, u->rec, fu->syncing++, err);
    if (sequential(t))
        next_sequential(t, &q);
    else
        next_random(t, u, &q);
    assert(q.file < t->o->num && q.size <= t->request);
    q.write = is_write(t, fu);
    rc = request(t, u, &q, err);
    if (rc == 0)
        schedule_sync(t, fu);
    return rc;
}

static int fileio_begin(struct sb_workload *w, struct sb_err *err)
{
    return sb__fileio_open(w->data, err);
}

static int fileio_user_init(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb__fileio *t = w->data;
    struct sb__fileio_user *fu = calloc(1, sizeof(*fu));

    u->data = fu;
    if (!fu)
        return sb_err_set(err, SB_ENOMEM, "fileio: out of memory");
    if (t->o->io_mode == FILEIO_ASYNC) {
        int rc = sb__fileio_queue_new(t, &fu->queue, err);

        if (rc)
            return rc;
    } else if (!(fu->buf = sb__fileio_buffer(t->request))) {
        return sb_err_set(err, SB_ENOMEM, "fileio: out of memory");
    }
    fu->syncing = t->o->num;
    atomic_fetch_add_explicit(&t->active, 1, memory_order_relaxed);
    return 0;
}

static int fileio_user_run(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb__fileio_user *fu = u->data;
    int rc = 0;

    while (rc == 0 && sb_user_next(u) == 1)
        rc = fileio_event(w->data, u, err);
    return rc ? rc : sb__fileio_queue_wait(w->data, fu->queue, u->rec, err);
}

// --file-fsync-end, done by the last user to end, when no user writes any
// more. If that user ran no event, its syncs are counted in the recorder of
// another user, whose thread has ended its loop.
static int fileio_user_done(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb__fileio *t = w->data;
    struct sb_rec *rec;
    int64_t active;
    int rc = 0;

    if (u->rec)
        atomic_store_explicit(&t->rec, u->rec, memory_order_relaxed);
    active = atomic_fetch_sub_explicit(&t->active, 1, memory_order_acq_rel);
    assert(active > 0);
    if (active > 1)
        return 0;
    rec = atomic_load_explicit(&t->rec, memory_order_relaxed);
    if (!t->o->fsync_end || t->o->fsync_all || !writes(t) || !rec)
        return 0;
    for (int64_t i = 0; rc == 0 && i < t->o->num; i++)
        rc = sync_one(t, u->data, rec, i, err);
    return rc;
}

static void fileio_user_free(struct sb_workload *w, struct sb_user *u)
{
    struct sb__fileio_user *fu = u->data;

    if (fu) {
        sb__fileio_queue_free(w->data, fu->queue);
        free(fu->buf);
    }
    free(fu);
    u->data = NULL;
}

static int fileio_end(struct sb_workload *w, struct sb_err *err)
{
    sb__fileio_close(w->data);
    return 0;
}

static const struct sb_workload_ops fileio_ops = {
    .begin = fileio_begin,
    .user_init = fileio_user_init,
    .user_run = fileio_user_run,
    .user_done = fileio_user_done,
    .user_free = fileio_user_free,
    .end = fileio_end,
};

static int find_mode(
    const char *name, enum sb__fileio_mode *mode, struct sb_err *err)
{
    if (!name || !name[0])
        return sb_err_set(
            err, SB_EUSAGE, "Missing required argument: --file-test-mode");
    for (size_t i = 0; i < MODES; i++) {
        if (strcmp(modes[i].name, name) == 0) {
            *mode = (enum sb__fileio_mode)i;
            return 0;
        }
    }
    return sb_err_set(err, SB_EUSAGE, "Invalid IO operations mode: %s.", name);
}

static int configure(struct sb__fileio *t, struct sb_err *err)
{
    const struct sb__fileio_opts *o = t->o;
    int rc = find_mode(o->mode, &t->mode, err);

    if (rc == 0)
        rc = sb__fileio_flags(o, &t->open_flags, err);
    if (rc == 0 && o->io_mode == FILEIO_ASYNC)
        rc = sb__fileio_queue_built(err);
    if (rc == 0 && t->validate && o->block < FILEIO_SEAL)
        rc = sb_err_set(err, SB_EUSAGE, FILEIO_SEAL_ERROR);
    t->blocks = sb__fileio_blocks(o);
    t->request = (size_t)o->block;
    if (rc == 0 && o->merged > 0 && sequential(t))
        t->request *= (size_t)o->merged;
    return rc;
}

static void fileio_destroy(struct sb_workload *w)
{
    if (!w)
        return;
    sb__fileio_close(w->data);
    free(w->data);
}

static struct sb_workload *fileio_create(
    const void *opts, const struct sb_run_opts *run, struct sb_err *err)
{
    struct sb__fileio *t = calloc(1, sizeof(*t));

    if (!t) {
        sb_err_set(err, SB_ENOMEM, "fileio: out of memory");
        return NULL;
    }
    t->w =
        (struct sb_workload){ .ops = &fileio_ops, .data = t, .blocks = true };
    t->o = opts;
    t->threads = run->threads;
    t->events = run->events;
    t->validate = run->validate;
    if (configure(t, err)) {
        free(t);
        return NULL;
    }
    return &t->w;
}

static void describe_syncs(const struct sb__fileio_opts *o, FILE *out)
{
    if (o->fsync_all) {
        fprintf(out, "Calling fsync() after each write operation.\n");
        return;
    }
    if (o->fsync_freq > 0)
        fprintf(out,
            "Periodic FSYNC enabled, calling fsync() each %" PRId64
            " requests.\n",
            o->fsync_freq);
    if (o->fsync_end)
        fprintf(out, "Calling fsync() at the end of test, Enabled.\n");
}

static void fileio_describe(struct sb_workload *w, FILE *out)
{
    const struct sb__fileio *t = w->data;
    const struct sb__fileio_opts *o = t->o;
    char each[32], total[32], block[32], merged[32];

    sb__fileio_size_text(o->total / o->num, each, sizeof(each));
    sb__fileio_size_text(o->total, total, sizeof(total));
    sb__fileio_size_text(o->block, block, sizeof(block));
    sb__fileio_size_text(o->block * o->merged, merged, sizeof(merged));
    sb__fileio_flags_text(o, out);
    fprintf(out,
        "%" PRId64 " files, %s each\n%s total file size\nBlock size %s\n",
        o->num, each, total, block);
    if (o->merged > 0)
        fprintf(out, "Merging requests up to %s for sequential IO.\n", merged);
    if (!sequential(t))
        fprintf(out,
            "Number of IO requests: %" PRId64
            "\nRead/Write ratio for combined random IO test: %2.2f\n",
            t->events, o->rw_ratio);
    describe_syncs(o, out);
    fprintf(out, "Using %s I/O mode\n%sDoing %s test\n",
        o->io_mode == FILEIO_MMAP    ? "fast mmaped"
        : o->io_mode == FILEIO_ASYNC ? "asynchronous"
                                     : "synchronous",
        t->validate ? "Using checksums validation.\n" : "",
        modes[t->mode].text);
}

static double mebibytes_rate(const struct sb_report *r, uint64_t bytes)
{
    return sb__bench_rate(r, bytes) / 1048576;
}

static void fileio_interval(
    void *w, const struct sb_report *r, double pct, FILE *out)
{
    const struct sb_counters *c = &r->snap->c;
    double ms = pct > 0 ? sb_report_percentile(r, pct) / 1e6 : 0;

    fprintf(out,
        "reads: %4.2f MiB/s writes: %4.2f MiB/s fsyncs: %4.2f/s latency "
        "(ms,%g%%): %4.*f\n",
        mebibytes_rate(r, c->bytes_read), mebibytes_rate(r, c->bytes_written),
        sb__bench_rate(r, c->others), pct, sb_units_ms_decimals(ms, 3), ms);
}

static void fileio_final(void *w, const struct sb_report *r, FILE *out)
{
    const struct sb_counters *c = &r->snap->c;

    fprintf(out,
        "\nFile operations:\n"
        "    reads/s:                      %4.2f\n"
        "    writes/s:                     %4.2f\n"
        "    fsyncs/s:                     %4.2f\n"
        "\nThroughput:\n"
        "    read, MiB/s:                  %4.2f\n"
        "    written, MiB/s:               %4.2f\n",
        sb__bench_rate(r, c->reads), sb__bench_rate(r, c->writes),
        sb__bench_rate(r, c->others), mebibytes_rate(r, c->bytes_read),
        mebibytes_rate(r, c->bytes_written));
}

const struct sb_builtin sb__bench_fileio = {
    .name = "fileio",
    .title = "File I/O test",
    .opts = &fileio_opt_table,
    .opts_size = sizeof(struct sb__fileio_opts),
    .create = fileio_create,
    .destroy = fileio_destroy,
    .command = sb__fileio_command,
    .describe = fileio_describe,
    .interval = fileio_interval,
    .final = fileio_final,
};
