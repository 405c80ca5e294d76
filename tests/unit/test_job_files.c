// SPDX-License-Identifier: GPL-2.0-or-later
#include "ranks/job.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "check.h"
#include "check_folder.h"
#include "loopback.h"

#define SECOND UINT64_C(1000000000)

static void write_file(const char *name, const char *text, size_t len)
{
    FILE *f = fopen(name, "w");

    fwrite(text, 1, len, f);
    fclose(f);
}

// Reads a file as a script of another rank does; returns its length, -1 if it
// cannot be read.
static long read_remote(const char *name, char *out, size_t size)
{
    char copy[SB_FILE_PATH];
    const char *path = sb_file_path(name, copy);
    FILE *f = path == copy ? fopen(path, "r") : NULL;

    if (!f)
        return -1;
    size_t n = fread(out, 1, size, f);
    fclose(f);
    return (long)n;
}

static _Atomic bool over;

// Rank 0 answers while it does other things.
static void *answer(void *arg)
{
    while (!atomic_load(&over)) {
        sb_job_poll(arg);
        usleep(100);
    }
    return NULL;
}

struct reader {
    _Atomic long len;
    char text[32];
};

static void *read_in_thread(void *arg)
{
    struct reader *r = arg;

    r->len = read_remote("data.txt", r->text, sizeof(r->text) - 1);
    return NULL;
}

static bool is_over(void *arg)
{
    struct reader *r = arg;

    return r->len != -2;
}

static void files_are_those_of_rank_0(void)
{
    struct sb_job *zero = loopback_job(0, 2, "a"),
                  *one = loopback_job(1, 2, "b");
    struct sb_job_files *served = sb_job_files_new(zero),
                        *used = sb_job_files_new(one);
    struct reader r = { .len = -2 };
    static char large[1000000], back[1000001];
    pthread_t server, thread;
    char text[32] = "";

    check_folder();
    memset(large, 'x', sizeof(large));
    write_file("data.txt", "one\0two", 7);
    write_file("empty.txt", "", 0);
    write_file("large.txt", large, sizeof(large));
    over = false;
    pthread_create(&server, NULL, answer, zero);
    CHECK_INT(read_remote("data.txt", text, sizeof(text)), 7);
    CHECK(memcmp(text, "one\0two", 7) == 0);
    CHECK_INT(read_remote("empty.txt", text, sizeof(text)), 0);
    CHECK_INT(read_remote("large.txt", back, sizeof(back)), sizeof(large));
    CHECK(memcmp(large, back, sizeof(large)) == 0);
    CHECK_INT(read_remote("nowhere.txt", text, sizeof(text)), -1);
    CHECK_INT(read_remote(".", text, sizeof(text)), -1); // a folder
    // The copy stays, from its beginning.
    unlink("data.txt");
    CHECK_INT(read_remote("data.txt", text, sizeof(text)), 7);
    // Other threads wait for the main thread, which asks.
    write_file("data.txt", "new", 3);
    pthread_create(&thread, NULL, read_in_thread, &r);
    sb_job_wait(one, is_over, &r, sb_clock_monotonic() + SECOND);
    pthread_join(thread, NULL);
    CHECK_INT(r.len, 7);
    atomic_store(&over, true);
    pthread_join(server, NULL);
    sb_job_files_free(used);
    sb_job_files_free(served);
    CHECK(!sb_files_are_remote());
    sb_job_free(zero);
    sb_job_free(one);
    loopback_reset();
}

// Without rank 0, nothing waits for its files.
static void a_job_that_ends_has_no_files(void)
{
    struct sb_job *zero = loopback_job(0, 2, "a"),
                  *one = loopback_job(1, 2, "b");
    struct sb_job_files *used = sb_job_files_new(one);
    struct reader r = { .len = -2 };
    pthread_t thread;
    char text[8];

    pthread_create(&thread, NULL, read_in_thread, &r);
    sb_job_tell_all(zero, SB_JOB_QUIT, NULL);
    for (int i = 0; i < 10000 && r.len == -2; i++) {
        sb_job_poll(one);
        usleep(1000);
    }
    pthread_join(thread, NULL);
    CHECK_INT(r.len, -1);
    CHECK_INT(read_remote("other.txt", text, sizeof(text)), -1);
    sb_job_files_free(used);
    sb_job_free(zero);
    sb_job_free(one);
    loopback_reset();
}

CHECK_FILE
{
    RUN(files_are_those_of_rank_0);
    RUN(a_job_that_ends_has_no_files);
    return check_done();
}
