// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>
#include <sys/resource.h>

#include "check.h"
#include "out/spool.h"

static struct sb_snap snap;
static struct sb_report report;

// A series with two columns, whose row is [1,2.5], and a report without events.
static void fill(struct sb_series *s)
{
    sb_series_init(s);
    CHECK_INT(sb_series_set(s, "run", "", "time", "s", 1), 0);
    CHECK_INT(sb_series_set(s, "run", "", "p50", "ms", 2.5), 0);
    memset(&snap, 0, sizeof(snap));
    sb_report_fill(&report, &snap, 1, false, 1);
}

static const char *copy(struct sb_spool *from)
{
    static char text[64];
    FILE *out = fmemopen(text, sizeof(text), "w");
    struct sb_err err = { 0 };

    text[0] = '\0';
    CHECK_INT(sb_spool_copy(from, ",", out, &err), 0);
    fclose(out);
    return text;
}

static void one_log_for_all_documents(void)
{
    struct sb_series s;
    struct sb_row_log l;
    struct sb_err err = { 0 };

    fill(&s);
    sb_row_log_init(&l, &s);
    sb_row_log_add(&l, &report); // no document
    CHECK_INT(sb_row_log_open(&l, ".", &err), 0);
    FILE *file = l.intervals.file;
    CHECK_INT(sb_row_log_open(&l, "nowhere", &err), 0);
    CHECK(l.intervals.file == file);
    sb_row_log_add(&l, &report);
    sb_row_log_add(&l, &report);
    CHECK_INT(l.failed.code, 0);
    CHECK_STR(copy(&l.intervals), "[1,2.5],\n[1,2.5]\n");
    CHECK_STR(copy(&l.histograms), "[],\n[]\n");
    sb_row_log_done(&l);
    sb_series_done(&s);
}

static void folder_is_named(void)
{
    struct sb_series s;
    struct sb_row_log l;
    struct sb_err err = { 0 };

    fill(&s);
    sb_row_log_init(&l, &s);
    CHECK_INT(sb_row_log_open(&l, "nowhere", &err), SB_ESYS);
    sb_row_log_add(&l, &report);
    CHECK_INT(l.failed.code, 0);
    sb_row_log_done(&l);
    sb_series_done(&s);
}

// Adds a row while files may have at most `bytes`, as on a full disk.
static void add_limited(struct sb_row_log *l, rlim_t bytes)
{
    struct rlimit old, limit;

    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = bytes;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    sb_row_log_add(l, &report);
    setrlimit(RLIMIT_FSIZE, &old);
}

static void error_is_kept(void)
{
    struct sb_series s;
    struct sb_row_log l;
    struct sb_err err = { 0 };

    fill(&s);
    sb_row_log_init(&l, &s);
    CHECK_INT(sb_row_log_open(&l, ".", &err), 0);
    add_limited(&l, 4);
    CHECK_INT(l.failed.code, SB_ESYS);
    CHECK_STR(
        l.failed.msg, "cannot keep the figures of an interval: File too large");
    CHECK_INT(l.missing, 1);
    // There is room again.
    sb_row_log_add(&l, &report);
    CHECK_INT(l.failed.code, 0);
    CHECK_INT(l.missing, 1);
    CHECK_STR(copy(&l.intervals), "[1,2.5]\n");
    sb_row_log_miss(&l);
    CHECK_INT(l.failed.code, SB_ENOMEM);
    CHECK_INT(l.missing, 2);
    sb_row_log_done(&l);
    sb_series_done(&s);
}

// The row fits and its histogram, which is longer, does not.
static void both_files_have_the_same_rows(void)
{
    struct sb_series s;
    struct sb_row_log l;
    struct sb_err err = { 0 };

    fill(&s);
    for (uint64_t ms = 1; ms < 4000; ms *= 2)
        CHECK_INT(
            sb_hist_snap_put(&snap.service, sb_hist_index(ms * 1000000), 7), 0);
    sb_row_log_init(&l, &s);
    CHECK_INT(sb_row_log_open(&l, ".", &err), 0);
    add_limited(&l, 9);
    CHECK_INT(l.failed.code, SB_ESYS);
    CHECK_INT(l.intervals.lines, 0);
    CHECK_INT(l.histograms.lines, 0);
    CHECK_INT(l.missing, 1);
    sb_hist_snap_done(&snap.service);
    sb_row_log_add(&l, &report);
    CHECK_STR(copy(&l.intervals), "[1,2.5]\n");
    CHECK_STR(copy(&l.histograms), "[]\n");
    sb_row_log_done(&l);
    sb_series_done(&s);
}

CHECK_FILE
{
    RUN(one_log_for_all_documents);
    RUN(folder_is_named);
    RUN(error_is_kept);
    RUN(both_files_have_the_same_rows);
    return check_done();
}
