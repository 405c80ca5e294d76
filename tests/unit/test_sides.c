// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "check.h"
#include "cmd/sides.h"

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
        "%u}}]}",
        sum, 2 * sum, low, low + sb_hist_width(bucket) - 1, sum, n);
    fclose(f);
}

static const struct sb_figure throughput = { "run", "", "throughput", "/s",
    false };
static const struct sb_figure p50 = { "run", "", "p50", "ms", true };

// Rows of the warm-up and the short rest of the run are left out.
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
    CHECK_NEAR(m[0].value, 100, 1e-9);
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

int main(void)
{
    RUN(measured_intervals_count);
    RUN(files_make_one_side);
    RUN(errors_are_errors);
    return check_done();
}
