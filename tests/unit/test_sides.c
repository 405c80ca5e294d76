// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include <stdlib.h>

#include "check.h"
#include "check_folder.h"
#include "results/sides.h"

// Writes a result file of intervals of 1 s with these numbers of events, all of
// which took 2 ms.
static void put(const char *path, const int *events, unsigned n, double last)
{
    FILE *f = fopen(path, "w");
    uint32_t bucket = sb_hist_index(2000000);
    uint64_t low = sb_hist_low(bucket);
    int sum = 0;

    fprintf(f, "{\"format\":\"sysbench-result\",\"version\":1,\"runs\":[{"
               "\"interval\":1,\"intervals\":{\"rows\":[\n[-1,1,999,2]");
    for (unsigned i = 0; i < n; i++) {
        fprintf(f, ",\n[%u,%g,%d,2]", i + 1, i + 1 < n ? 1 : last, events[i]);
        sum += events[i];
    }
    fprintf(f, "\n],\"columns\":[");
    const char *const figures[] = { "time", "seconds", "events", "p50" };
    for (int i = 0; i < 4; i++)
        fprintf(f, "%s{\"group\":\"run\",\"name\":\"\",\"figure\":\"%s\"}",
            i ? "," : "", figures[i]);
    fprintf(f,
        "]},\"histograms\":{\"rows\":[\n]},\"counters\":{\"completed\":%d},"
        "\"latency\":{\"min\":2000000,\"max\":2000000,\"sum\":%d000000,"
        "\"histogram\":[[%" PRIu64 ",%" PRIu64 ",%d]]},\"end\":{\"seconds\":"
        "%g}}]}",
        sum, 2 * sum, low, low + sb_hist_width(bucket) - 1, sum, n - 1 + last);
    fclose(f);
}

static const struct sb_figure throughput = { "run", "", "throughput", "/s",
    false };
static const struct sb_figure p50 = { "run", "", "p50", "ms", true };

// The value is that of the run's own report. Rows of the warm-up and the short
// rest of the run have no part in the error.
static void measured_intervals_count(void)
{
    const int events[] = { 100, 102, 98, 100, 101, 99, 100, 102, 98, 100, 7 };
    struct sb_side s;
    struct sb_mean m[2];

    put("one.json", events, 11, 0.01);
    CHECK_INT(sb_side_read(&s, "one.json"), 0);
    CHECK_INT(s.nruns, 1);
    CHECK_INT(sb_side_means(&s, &throughput, m), 0);
    CHECK_INT(m[0].n, 10);
    CHECK_NEAR(m[0].value, 1007 / 10.01, 1e-9);
    CHECK_NEAR(m[0].value, sb_result_run_throughput(s.run[0]), 1e-9);
    CHECK(m[0].error > 0 && m[0].error < 1);
    CHECK_INT(sb_side_means(&s, &p50, m), 0);
    CHECK_NEAR(m[0].value, 2, 0.002);
    sb_side_done(&s);
}

static void files_make_one_side(void)
{
    const int a[] = { 100, 100, 100 }, b[] = { 200, 200, 200 };
    struct sb_side s;
    struct sb_mean m[2];

    put("a.json", a, 3, 1);
    put("b.json", b, 3, 1);
    CHECK_INT(sb_side_read(&s, "a.json,b.json"), 0);
    CHECK_INT(s.nruns, 2);
    CHECK_INT(sb_side_means(&s, &throughput, m), 0);
    CHECK_NEAR(m[0].value, 100, 1e-9);
    CHECK_NEAR(m[1].value, 200, 1e-9);
    sb_side_done(&s);
    // A name with a comma.
    put("a.json,b.json", b, 3, 1);
    CHECK_INT(sb_side_read(&s, "a.json,b.json"), 0);
    CHECK_INT(s.nruns, 1);
    sb_side_done(&s);
}

// Writes a copy of a file of put() with other members at its end.
static void put_other(const char *path, const char *from, const char *members)
{
    char text[4096];
    FILE *in = fopen(from, "r"), *out = fopen(path, "w");
    size_t n = fread(text, 1, sizeof(text) - 1, in);
    char *end;

    text[n] = '\0';
    end = strstr(text, "\"end\"");
    fprintf(out, "%.*s%s}]}", (int)(end - text), text, members);
    fclose(in);
    fclose(out);
}

static void put_all(void)
{
    const int a[] = { 100, 100, 100 };

    put("good.json", a, 3, 1);
    put_other("cut.json", "good.json", "\"end\":{\"reason\":\"signal\"}");
    put_other("bad.json", "good.json", "\"end\":{\"reason\":\"failed\"}");
    put_other("warm.json", "good.json", "\"warmup\":true,\"end\":{}");
    put_other("search.json", "good.json",
        "\"search\":{\"rate\":null},\"end\":{\"reason\":\"limit\"}");
    put_other("found.json", "good.json",
        "\"search\":{\"rate\":9},\"end\":{\"reason\":\"limit\"}");
}

static void runs_without_a_measurement_are_left_out(void)
{
    struct sb_side s;

    put_all();
    // Reading takes all of them: `merge` adds them.
    CHECK_INT(sb_side_read(&s, "cut.json,bad.json,good.json,warm.json,"
                               "search.json,found.json"),
        0);
    CHECK_INT(s.nruns, 6);
    CHECK_INT(s.nnotes, 0);
    CHECK_INT(sb_side_leave_out(&s), 0);
    CHECK_INT(s.nruns, 3);
    CHECK_INT(s.left_out, 3);
    CHECK_INT(s.nnotes, 4);
    CHECK_STR(s.note[0].file->path, "bad.json");
    CHECK_STR(s.note[0].what, "was left out, because it failed");
    CHECK_STR(
        s.note[1].what, "was left out, because it ended during its warm-up");
    CHECK_STR(s.note[2].what,
        "was left out, because it ended during the search for its rate");
    CHECK_STR(s.note[3].file->path, "cut.json");
    sb_side_done(&s);
    CHECK_INT(sb_side_read(&s, "bad.json"), 0);
    CHECK_INT(sb_side_leave_out(&s), SB_EUSAGE);
    sb_side_done(&s);
}

static void errors_are_errors(void)
{
    struct sb_side s;

    CHECK_INT(sb_side_read(&s, "nothing.json"), SB_ESYS);
    sb_side_done(&s);
    FILE *f = fopen("none.json", "w");
    fputs("{\"format\":\"sysbench-result\",\"runs\":[{}]}", f);
    fclose(f);
    CHECK_INT(sb_side_read(&s, "none.json"), SB_EUSAGE);
    sb_side_done(&s);
}

CHECK_FILE
{
    check_folder();
    RUN(measured_intervals_count);
    RUN(files_make_one_side);
    RUN(runs_without_a_measurement_are_left_out);
    RUN(errors_are_errors);
    return check_done();
}
