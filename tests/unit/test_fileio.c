// SPDX-License-Identifier: GPL-2.0-or-later
//
// fileio in a folder of its own: files, requests, syncs, validation.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // F_SETPIPE_SZ
#endif
#include "builtin/fileio.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define BLOCK 512

static struct sb__fileio_opts defaults(void)
{
    return (struct sb__fileio_opts){ .num = 3,
        .block = BLOCK,
        .total = 3 * 7 * BLOCK,
        .mode = "rndrw",
        .async_backlog = 128,
        .fsync_freq = 10,
        .fsync_end = true,
        .rw_ratio = 1.5 };
}

static struct sb_run_opts run_opts(int threads, int events)
{
    return (struct sb_run_opts){ .threads = threads,
        .events = events,
        .forced_shutdown_ns = -1,
        .thread_stack_size = 1 << 20,
        .thread_init_timeout = INT64_C(30000000000),
        .think_time = "",
        .shutdown_grace = INT64_C(10000000000) };
}

static void keep_counters(void *data, const struct sb_report *r)
{
    *(struct sb_counters *)data = r->snap->c;
}

static int run(const struct sb__fileio_opts *o, const struct sb_run_opts *r,
    struct sb_counters *c, struct sb_err *err)
{
    const struct sb_dist_opts dist = { .seed = 7,
        .spec_iter = 12,
        .spec_pct = 1,
        .spec_res = 75,
        .pareto_h = 0.2,
        .zipfian_exp = 0.8 };
    const struct sb_listener l = { .data = c, .final = keep_counters };
    struct sb_random_shared random;
    struct sb_run_result res;
    struct sb_workload *w;
    int rc;

    sb_err_clear(err);
    *c = (struct sb_counters){ 0 };
    sb_random_share(&random, &dist, 1, NULL);
    w = sb__bench_fileio.create(o, r, err);
    if (!w)
        return err->code;
    rc = sb_run(w, r, &random, &l, &res);
    *err = res.err;
    sb__bench_fileio.destroy(w);
    return rc;
}

// Runs prepare or cleanup. The caller frees *text.
static int command(const char *name, const struct sb__fileio_opts *o,
    bool validate, char **text)
{
    struct sb_run_opts r = run_opts(1, 0);
    size_t size;
    FILE *out = open_memstream(text, &size);
    struct sb_err err = { 0 };
    int rc;

    r.validate = validate;
    rc = sb__fileio_command(name, o, &r, out, &err);
    fclose(out);
    return rc;
}

static int64_t size_of(const char *name)
{
    struct stat st;

    return stat(name, &st) ? -1 : st.st_size;
}

static void prepares(void)
{
    struct sb__fileio_opts o = defaults();
    char *text;

    CHECK_INT(command("prepare", &o, false, &text), 0);
    CHECK(strncmp(text,
              "3 files, 3Kb each, 0Mb total\n"
              "Creating files for the test...\n"
              "Extra file open flags: (none)\n"
              "Creating file test_file.0\n"
              "Creating file test_file.1\n"
              "Creating file test_file.2\n"
              "10752 bytes written in ",
              170) == 0);
    free(text);
    CHECK_INT(size_of("test_file.2"), 7 * BLOCK);
    CHECK_INT(command("prepare", &o, false, &text), 0);
    CHECK(
        strstr(text, "Reusing existing file test_file.2\nNo bytes written.\n"));
    free(text);
    o.total = 3 * 8 * BLOCK - 1;                        // not a whole block
    CHECK_INT(truncate("test_file.1", BLOCK + 100), 0); // nor is this one
    CHECK_INT(command("prepare", &o, false, &text), 0);
    CHECK(strstr(text, "Extending existing file test_file.2\n4608 bytes"));
    free(text);
    CHECK_INT(size_of("test_file.1"), 8 * BLOCK);
    CHECK_INT(size_of("test_file.2"), 8 * BLOCK);
    CHECK_INT(command("cleanup", &o, false, &text), 0);
    CHECK_STR(text, "Removing test files...\n");
    free(text);
    CHECK_INT(size_of("test_file.0"), -1);
    CHECK_INT(command("cleanup", &o, false, &text), 0); // no files: no error
    free(text);
    CHECK_INT(command("dance", &o, false, &text), SB_EUNSUPPORTED);
    free(text);
}

static void needs_prepare(void)
{
    struct sb__fileio_opts o = defaults();
    struct sb_run_opts r = run_opts(1, 10);
    struct sb_counters c;
    struct sb_err err;
    char *text;

    CHECK_INT(run(&o, &r, &c, &err), SB_ESYS);
    CHECK(strstr(err.msg, "Did you forget to run the prepare step?"));
    CHECK_INT(command("prepare", &o, false, &text), 0);
    free(text);
    o.total *= 2;
    CHECK_INT(run(&o, &r, &c, &err), SB_EUSAGE);
    CHECK(strstr(err.msg, "Size of file 'test_file.0' is 3.5KiB, but at least "
                          "7KiB is expected."));
    o.total /= 2;
    CHECK_INT(command("cleanup", &o, false, &text), 0);
    free(text);
}

// The expected counts of a run of 130 events by one thread.
static const struct {
    const char *mode;
    int io_mode;
    int64_t merged;
    uint64_t reads, writes, syncs; // syncs: including the 3 at the end
    uint64_t size;                 // bytes of all requests
} cases[] = {
    // 100 requests and 10 rounds of 3 syncs, and so on.
    { "seqrewr", FILEIO_SYNC, 0, 0, 100, 30 + 3, 100 * BLOCK },
    { "seqwr", FILEIO_SYNC, 0, 0, 100, 30 + 3, 100 * BLOCK },
    { "seqwr", FILEIO_MMAP, 0, 0, 100, 30 + 3, 100 * BLOCK },
    { "seqrd", FILEIO_SYNC, 0, 130, 0, 0, 130 * BLOCK },
    // Files of 7 blocks, in requests of 3, 3 and 1.
    { "seqrd", FILEIO_MMAP, 3, 130, 0, 0, (43 * 7 + 3) * BLOCK },
    { "rndrd", FILEIO_SYNC, 3, 130, 0, 0, 130 * BLOCK },
    { "rndwr", FILEIO_MMAP, 0, 0, 100, 30 + 3, 100 * BLOCK },
    { "rndrw", FILEIO_SYNC, 0, 60, 40, 30 + 3, 100 * BLOCK },
    { "rndrw", FILEIO_ASYNC, 0, 60, 40, 30 + 3, 100 * BLOCK },
    { "rndrd", FILEIO_ASYNC, 0, 130, 0, 0, 130 * BLOCK },
    { "seqrd", FILEIO_ASYNC, 3, 130, 0, 0, (43 * 7 + 3) * BLOCK },
    { "seqrewr", FILEIO_ASYNC, 0, 0, 100, 30 + 3, 100 * BLOCK },
    { "seqwr", FILEIO_ASYNC, 0, 0, 100, 30 + 3, 100 * BLOCK },
};

// Whether this build has io_uring and the system allows it: containers often
// do not.
static bool has_async(void)
{
    struct sb__fileio_opts o = defaults();
    struct sb__fileio t = { .o = &o, .request = BLOCK };
    struct sb__fileio_queue *queue = NULL;
    struct sb_err err = { 0 };
    int rc = sb__fileio_queue_new(&t, &queue, &err);

    if (rc)
        printf("# not tested: %s\n", err.msg);
    sb__fileio_queue_free(&t, queue);
    return rc == 0;
}

static void requests(void)
{
    bool async = has_async();
    struct sb__fileio_opts o = defaults();
    struct sb_run_opts r = run_opts(1, 130);
    struct sb_counters c;
    struct sb_err err;
    char *text;

    CHECK_INT(command("prepare", &o, true, &text), 0);
    free(text);
    for (int validate = 0; validate <= 1; validate++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
            o.mode = cases[i].mode;
            o.io_mode = cases[i].io_mode;
            o.merged = cases[i].merged;
            // No validation after seqwr: the blocks that it did not write
            // would have to be prepared again.
            r.validate = validate && strcmp(o.mode, "seqwr") != 0;
            if ((validate && !r.validate) ||
                (o.io_mode == FILEIO_ASYNC && !async))
                continue;
            if (!validate && strcmp(o.mode, "seqwr") == 0)
                CHECK_INT(size_of("test_file.0"), 7 * BLOCK);
            CHECK_INT(run(&o, &r, &c, &err), 0);
            CHECK_STR(err.msg, "");
            CHECK_INT(c.completed, 130);
            CHECK_INT(c.reads, cases[i].reads);
            CHECK_INT(c.writes, cases[i].writes);
            CHECK_INT(c.others, cases[i].syncs);
            CHECK_INT(c.bytes_read + c.bytes_written, cases[i].size);
        }
        CHECK_INT(command("prepare", &o, true, &text), 0);
        free(text);
    }
    CHECK_INT(command("cleanup", &o, false, &text), 0);
    free(text);
}

// Requests to a pipe of one page: only one can be complete.
static void in_progress(void)
{
    enum { PAGE = 4096, BACKLOG = 8 };
    struct sb__fileio_opts o = { .block = PAGE, .async_backlog = BACKLOG };
    struct sb__fileio_file f = { .fd = -1 };
    struct sb__fileio t = { .o = &o, .request = PAGE, .file = &f };
    struct sb__fileio_req q = { 0, 0, PAGE, true };
    struct sb__fileio_queue *queue = NULL;
    static struct sb_rec rec;
    static char page[PAGE];
    struct sb_err err = { 0 };
    struct sb_rng rng;
    int fd[2];

    if (!has_async())
        return;
    sb_rng_init(&rng, 1, 1);
    CHECK_INT(pipe(fd), 0);
    f.fd = fd[1];
#ifdef F_SETPIPE_SZ
    CHECK(fcntl(f.fd, F_SETPIPE_SZ, PAGE) == PAGE);
#endif
    CHECK_INT(sb__fileio_queue_new(&t, &queue, &err), 0);
    for (int i = 0; i < BACKLOG - 1; i++)
        CHECK_INT(sb__fileio_queue_add(&t, queue, &rec, &q, &rng, &err), 0);
    CHECK(atomic_load(&rec.tally.writes) <= 1);
    // The queue becomes full, so this waits for one more.
    CHECK_INT(read(fd[0], page, PAGE), PAGE);
    CHECK_INT(sb__fileio_queue_add(&t, queue, &rec, &q, &rng, &err), 0);
    CHECK(atomic_load(&rec.tally.writes) >= 1);
    for (int i = 0; i < BACKLOG - 2; i++)
        CHECK_INT(read(fd[0], page, PAGE), PAGE);
    CHECK_INT(sb__fileio_queue_wait(&t, queue, &rec, &err), 0);
    CHECK_INT(atomic_load(&rec.tally.writes), BACKLOG);
    CHECK_INT(atomic_load(&rec.tally.bytes_written), BACKLOG * PAGE);
    sb__fileio_queue_free(&t, queue);
    close(fd[0]);
    close(fd[1]);
}

// Writes a block and a half, and reads two.
static void short_requests(void)
{
    struct sb__fileio_opts o = { .block = BLOCK, .async_backlog = 4 };
    struct sb__fileio_file f = { .fd = open("short", O_RDWR | O_CREAT, 0600) };
    struct sb__fileio t = { .o = &o, .request = BLOCK, .file = &f };
    struct sb__fileio_req q = { 0, 0, BLOCK, false };
    struct sb__fileio_queue *queue = NULL;
    static struct sb_rec rec;
    struct sb_err err = { 0 };

    if (has_async()) {
        CHECK_INT(ftruncate(f.fd, BLOCK + BLOCK / 2), 0);
        CHECK_INT(sb__fileio_queue_new(&t, &queue, &err), 0);
        sb__fileio_queue_add(&t, queue, &rec, &q, NULL, &err);
        q.pos = BLOCK;
        sb__fileio_queue_add(&t, queue, &rec, &q, NULL, &err);
        sb__fileio_queue_wait(&t, queue, &rec, &err);
        CHECK_STR(err.msg, "Failed to read file! file: 0 pos: 512 errno = 0 "
                           "(end of file)");
        CHECK_INT(atomic_load(&rec.tally.reads), 1);
        CHECK_INT(atomic_load(&rec.tally.bytes_read), BLOCK);
        close(f.fd);
        f.fd = open("/dev/full", O_WRONLY);
        q.write = true;
        sb_err_clear(&err);
        sb__fileio_queue_add(&t, queue, &rec, &q, NULL, &err);
        sb__fileio_queue_wait(&t, queue, &rec, &err);
        CHECK_STR(err.msg, "Failed to write file! file: 0 pos: 512 errno = 28 "
                           "(No space left on device)");
        CHECK_INT(atomic_load(&rec.tally.writes), 0);
        sb__fileio_queue_free(&t, queue);
    }
    close(f.fd);
    unlink("short");
}

// Users that lock several files, with requests in progress, do not wait for
// each other, and never read a block that is being written.
static void validates_async(void)
{
    struct sb__fileio_opts o = defaults();
    struct sb_run_opts r = run_opts(4, 2000);
    struct sb_counters c;
    struct sb_err err;
    char *text;

    if (!has_async())
        return;
    o.io_mode = FILEIO_ASYNC;
    o.async_backlog = 16;
    r.validate = true;
    CHECK_INT(command("prepare", &o, true, &text), 0);
    free(text);
    CHECK_INT(run(&o, &r, &c, &err), 0);
    CHECK_STR(err.msg, "");
    CHECK_INT(c.completed, 2000);
    CHECK_INT(c.reads + c.writes + c.others, 2000 + 3);
    o.fsync_all = true;
    CHECK_INT(run(&o, &r, &c, &err), 0);
    CHECK_INT(c.reads + c.writes, 2000);
    CHECK_INT(c.others, c.writes);
    CHECK_INT(command("cleanup", &o, false, &text), 0);
    free(text);
}

// Files are used in order: 9 requests fill the first and begin the second.
static void in_order(void)
{
    struct sb__fileio_opts o = defaults();
    struct sb_run_opts r = run_opts(2, 9);
    struct sb_counters c;
    struct sb_err err;
    char *text;

    o.mode = "seqwr";
    o.fsync_freq = 0;
    CHECK_INT(run(&o, &r, &c, &err), 0);
    CHECK_INT(size_of("test_file.0"), 7 * BLOCK);
    CHECK_INT(size_of("test_file.1"), 2 * BLOCK);
    CHECK_INT(size_of("test_file.2"), 0);
    CHECK_INT(command("cleanup", &o, false, &text), 0);
    free(text);
}

static void syncs(void)
{
    struct sb__fileio_opts o = defaults();
    struct sb_run_opts r = run_opts(2, 40);
    struct sb_counters c;
    struct sb_err err;
    char *text;

    CHECK_INT(command("prepare", &o, false, &text), 0);
    free(text);
    o.mode = "rndwr";
    o.fsync_all = true;
    o.fsync_mode = FILEIO_FDATASYNC;
    CHECK_INT(run(&o, &r, &c, &err), 0);
    CHECK_INT(c.writes, 40);
    CHECK_INT(c.others, 40);
    o.fsync_all = false;
    o.fsync_freq = 0;
    CHECK_INT(run(&o, &r, &c, &err), 0);
    CHECK_INT(c.writes, 40);
    CHECK_INT(c.others, 3); // each file once, shared by two users
    o.fsync_end = false;
    CHECK_INT(run(&o, &r, &c, &err), 0);
    CHECK_INT(c.others, 0);
    CHECK_INT(command("cleanup", &o, false, &text), 0);
    free(text);
}

static void bad_options(void)
{
    struct sb__fileio_opts o = defaults();
    struct sb_run_opts r = run_opts(1, 10);
    const char *const flags[] = { "sync", "direct", "odd" };
    struct sb_counters c;
    struct sb_err err;
    size_t size;
    char *text;
    FILE *out;

    o.mode = "";
    CHECK_INT(run(&o, &r, &c, &err), SB_EUSAGE);
    CHECK_STR(err.msg, "Missing required argument: --file-test-mode");
    o.mode = "seq";
    CHECK_INT(run(&o, &r, &c, &err), SB_EUSAGE);
    CHECK_STR(err.msg, "Invalid IO operations mode: seq.");
    o.mode = "rndrw";
    o.extra_flags = (struct sb_opt_list){ flags, 3 };
    CHECK_INT(run(&o, &r, &c, &err), SB_EUSAGE);
    CHECK_STR(err.msg, "Invalid value for file-extra-flags: odd");
    o.extra_flags.count = 2;
    out = open_memstream(&text, &size);
    sb__fileio_flags_text(&o, out);
    fclose(out);
    CHECK_STR(text, "Extra file open flags: sync directio\n");
    free(text);
    o.extra_flags.count = 0;
    o.block = FILEIO_SEAL - 1;
    r.validate = true;
    CHECK_INT(run(&o, &r, &c, &err), SB_EUSAGE);
}

static void seals(void)
{
    struct sb_rng rng;
    char buf[4 * 64];
    struct sb_err err;

    sb_rng_init(&rng, 1, 1);
    sb__fileio_seal(buf, sizeof(buf), 64, 5, 640, &rng);
    CHECK_INT(sb__fileio_verify(buf, sizeof(buf), 64, 5, 640, &err), 0);
    CHECK_INT(sb__fileio_verify(buf + 64, 64, 64, 5, 704, &err), 0);
    // A block of another offset or file, or with a changed bit, is detected.
    CHECK(sb__fileio_verify(buf, 64, 64, 5, 0, &err) < 0);
    CHECK(sb__fileio_verify(buf, 64, 64, 4, 640, &err) < 0);
    for (size_t i = 0; i < sizeof(buf); i++) {
        buf[i] ^= 4;
        CHECK(sb__fileio_verify(buf, sizeof(buf), 64, 5, 640, &err) < 0);
        buf[i] ^= 4;
    }
    CHECK(strstr(err.msg, "Validation failed on file 5, block offset 832:"));
}

static void corruption(void)
{
    struct sb__fileio_opts o = defaults();
    struct sb_run_opts r = run_opts(2, 100);
    struct sb_counters c;
    struct sb_err err;
    char *text;
    int fd;

    CHECK_INT(command("prepare", &o, true, &text), 0);
    free(text);
    o.mode = "seqrd";
    r.validate = true;
    CHECK_INT(run(&o, &r, &c, &err), 0);
    fd = open("test_file.1", O_WRONLY);
    CHECK_INT(pwrite(fd, "?", 1, 3 * BLOCK + 17), 1);
    close(fd);
    CHECK_INT(run(&o, &r, &c, &err), SB_EINTERNAL);
    CHECK(strstr(err.msg, "Validation failed on file 1, block offset 1536:"));
    CHECK_INT(command("cleanup", &o, false, &text), 0);
    free(text);
}

static void sizes(void)
{
    struct sb__fileio_opts o = defaults();
    char text[32];

    sb__fileio_size_text(1000, text, sizeof(text));
    CHECK_STR(text, "1000B");
    sb__fileio_size_text(1638400, text, sizeof(text));
    CHECK_STR(text, "1.5625MiB");
    sb__fileio_size_text(INT64_C(2) << 30, text, sizeof(text));
    CHECK_STR(text, "2GiB");
    CHECK_INT(sb__fileio_blocks(&o), 7);
    o.total++;
    CHECK_INT(sb__fileio_blocks(&o), 7); // rounded down
    o.total += 2;
    CHECK_INT(sb__fileio_blocks(&o), 8);
    o.total = 1;
    CHECK_INT(sb__fileio_blocks(&o), 1);
}

CHECK_FILE
{
    char dir[] = "/tmp/test_fileio.XXXXXX";

    if (!mkdtemp(dir) || chdir(dir))
        return 99;
    RUN(prepares);
    RUN(needs_prepare);
    RUN(requests);
    RUN(in_progress);
    RUN(short_requests);
    RUN(validates_async);
    RUN(in_order);
    RUN(syncs);
    RUN(bad_options);
    RUN(seals);
    RUN(corruption);
    RUN(sizes);
    if (chdir("/") || rmdir(dir))
        return 99;
    return check_done();
}
