// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes a result file of a long run with invented figures, in the digits of
// the program: 10 operations, 20 counters of the server. The times of an event
// and of its operations are log-normal; throughput wanders by some percent.
//
// usage: day SECONDS EVENTS SEED >FILE
//     EVENTS: per second, at first.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/rng.h"
#include "out/series.h"

#define OPS      10
#define COUNTERS 20
#define DRAWS    64 // times per operation and interval

static struct sb_stats stats;
static struct sb_rng rng;
static struct sb_snap now, whole;
static struct sb_snap_op now_op[OPS], whole_op[OPS];

static double uniform(double low, double high)
{
    return low + (high - low) * (double)(sb_rng_next(&rng) >> 11) / 0x1p53;
}

static uint64_t time_of(double median)
{
    double n = 0;

    for (int i = 0; i < 12; i++)
        n += uniform(0, 1);
    return (uint64_t)(median * exp((n - 6) * 0.4));
}

static void add(struct sb_hist_snap *h, uint64_t ns, uint64_t n, uint64_t *sum,
    uint64_t *min, uint64_t *max)
{
    if (sb_hist_snap_put(h, sb_hist_index(ns), n))
        exit(1);
    *sum += n * ns;
    *min = *min == 0 || ns < *min ? ns : *min;
    *max = ns > *max ? ns : *max;
}

// Adds n executions around `median` to an operation and to its total.
static void execute(unsigned op, double median, uint64_t n)
{
    struct sb_snap_op *list[] = { &now_op[op], &whole_op[op] };

    for (uint64_t left = n, i = 0; left > 0; i++) {
        uint64_t part = i == DRAWS - 1 || left < n / DRAWS + 1 ? left
                                                               : n / DRAWS + 1;
        uint64_t ns = time_of(median);

        for (int k = 0; k < 2; k++) {
            struct sb_snap_op *o = list[k];

            o->count += part;
            o->rows += part;
            add(&o->hist, ns, part, &o->ns, &o->min, &o->max);
        }
        left -= part;
    }
}

static void clear(void)
{
    sb_hist_snap_clear(&now.service);
    memset(&now.c, 0, sizeof(now.c));
    now.service_min = now.service_max = 0;
    for (unsigned i = 0; i < OPS; i++) {
        struct sb_snap_op *o = &now_op[i];

        sb_hist_snap_clear(&o->hist);
        o->count = o->ns = o->min = o->max = o->rows = 0;
    }
}

static void take(uint64_t events)
{
    struct sb_snap *list[] = { &now, &whole };

    clear();
    for (uint64_t i = 0; i < events; i++) {
        uint64_t ns = time_of(64e9 / (double)events);

        for (int k = 0; k < 2; k++)
            add(&list[k]->service, ns, 1, &list[k]->c.service_ns,
                &list[k]->service_min, &list[k]->service_max);
    }
    for (int k = 0; k < 2; k++) {
        list[k]->c.completed += events;
        list[k]->c.started += events;
        list[k]->c.reads += 14 * events;
        list[k]->c.writes += 4 * events;
        list[k]->c.others += 2 * events;
    }
    for (unsigned i = 0; i < OPS; i++)
        execute(i, 64e9 / (double)events / (double)(4 + 3 * i),
            events * (i == 0 ? 10 : 1));
}

static void set_others(struct sb_series *s, double events)
{
    char name[32];
    int rc = 0;

    for (unsigned i = 0; i < COUNTERS; i++) {
        snprintf(name, sizeof(name), "counter_%u", i);
        rc |= sb_series_set(s, "server", name, "value", i % 4 ? "/s" : "",
            i % 4 ? events * i * uniform(0.9, 1.1) : floor(64 * uniform(0, 1)));
    }
    rc |= sb_series_set(
        s, "client", "cpu", "value", "processors", uniform(1, 1.2));
    rc |= sb_series_set(s, "client", "wait", "value", "", uniform(0, 0.02));
    rc |= sb_series_set(
        s, "client", "machine", "value", "processors", uniform(1, 2));
    if (rc)
        exit(1);
}

static void print_bucket(void *arg, uint64_t low, uint64_t width, uint64_t n)
{
    bool *first = arg;

    printf("%s[%llu,%llu,%llu]", *first ? "" : ",", (unsigned long long)low,
        (unsigned long long)(low + width - 1), (unsigned long long)n);
    *first = false;
}

static void print_latency(
    const struct sb_hist_snap *h, uint64_t min, uint64_t max, uint64_t sum)
{
    static const double pct[] = { 50, 75, 90, 95, 99, 99.9 };
    bool first = true;

    printf("{\"kind\":\"service\",\"count\":%llu,\"min\":%llu,\"avg\":%.6f,"
           "\"max\":%llu,\"sum\":%llu,\"percentiles\":{",
        (unsigned long long)h->total, (unsigned long long)min,
        (double)sum / (double)h->total, (unsigned long long)max,
        (unsigned long long)sum);
    for (int i = 0; i < 6; i++)
        printf("%s\"%g\":%.0f", i ? "," : "", pct[i],
            sb_hist_snap_percentile(h, pct[i], max));
    printf("},\"histogram\":[");
    sb_hist_snap_each(h, print_bucket, &first);
    printf("]}");
}

static void print_head(void)
{
    printf("{\"format\":\"sysbench-result\",\n\"version\":1,\n"
           "\"program\":{\"name\":\"sysbench\",\"version\":\"2.0.0\"},\n"
           "\"runs\":[{\n\"test\":\"day\",\n\"command\":\"run\",\n"
           "\"started\":\"2026-11-22T11:50:00.123Z\",\n\"seed\":\"1\",\n"
           "\"labels\":{},\n\"threads\":64,\n\"interval\":1,\n"
           "\"open_loop\":false,\n\"host\":{},\n\"databases\":[],\n"
           "\"options\":[],\n\"intervals\":{\"rows\":[\n");
}

static void print_tail(
    const struct sb_series *s, const struct sb_buf *heat, double seconds)
{
    printf("],\n\"columns\":[");
    for (unsigned i = 0; i < s->ncols; i++)
        printf("%s{\"group\":\"%s\",\"name\":\"%s\",\"figure\":\"%s\","
               "\"unit\":\"%s\"}",
            i ? "," : "", s->col[i].group, s->col[i].name, s->col[i].figure,
            s->col[i].unit);
    printf("]},\n\"histograms\":{\"octave\":4,\"rows\":[\n");
    fwrite(heat->data, 1, heat->len, stdout);
    printf("]},\n\"counters\":{\"scheduled\":%llu,\"skipped\":0,"
           "\"unfinished\":0,\"queue\":0",
        (unsigned long long)whole.c.started);
#define X(name) printf(",\"" #name "\":%llu", (unsigned long long)whole.c.name);
    SB_COUNTER_MAP(X)
#undef X
    printf("},\n\"latency\":");
    print_latency(&whole.service, whole.service_min, whole.service_max,
        whole.c.service_ns);
    printf(",\n\"service\":null,\n\"lag\":null,\n\"users\":{\"events\":[],"
           "\"service_ns\":[],\"min_ns\":[],\"max_ns\":[]},\n\"operations\":[");
    for (unsigned i = 0; i < OPS; i++) {
        const struct sb_snap_op *o = &whole_op[i];

        printf("%s{\"name\":\"%s\",\"kind\":\"read\",\"errors\":0,\"hits\":0,"
               "\"misses\":0,\"rows\":%llu,\"latency\":",
            i ? "," : "", stats.op[i].name, (unsigned long long)o->rows);
        print_latency(&o->hist, o->min, o->max, o->ns);
        printf("}");
    }
    printf("],\n\"errors\":[],\n\"metrics\":[],\n\"end\":{\"reason\":\"limit\","
           "\"status\":0,\"seconds\":%.6f,\"failure\":null}}]}\n",
        seconds);
}

static double interval(struct sb_series *s, struct sb_buf *line,
    struct sb_buf *heat, double start, uint64_t events)
{
    double seconds = 1 + uniform(-1e-4, 1e-4);
    struct sb_report r;

    take(events);
    now.ns = (uint64_t)(seconds * 1e9);
    sb_report_fill(&r, &now, 64, false, start + seconds);
    r.stats = &stats;
    r.running = 64;
    if (sb_series_row(s, &r))
        exit(1);
    set_others(s, (double)events);
    sb_buf_clear(line);
    sb_buf_adds(line, start > 0 ? ",\n" : "");
    sb_series_json(line, s);
    fwrite(line->data, 1, line->len, stdout);
    sb_buf_adds(heat, start > 0 ? ",\n" : "");
    sb_series_heat(heat, r.latency);
    return start + seconds;
}

int main(int argc, char **argv)
{
    unsigned long n = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
    double level = argc == 4 ? strtod(argv[2], NULL) : 0, at = 0, slow = 1;
    struct sb_buf line, heat;
    struct sb_series s;
    char name[16];

    if (n == 0 || level < 1 || sb_stats_init(&stats, 1, 1, false))
        return 2;
    sb_rng_init(&rng, 0, strtoul(argv[3], NULL, 10));
    for (unsigned i = 0; i < OPS; i++) {
        snprintf(name, sizeof(name), "operation%u", i);
        sb_stats_op(&stats, name, SB_OP_READ);
    }
    now.op = now_op;
    now.nops = OPS;
    sb_series_init(&s);
    sb_buf_init(&line, 0);
    sb_buf_init(&heat, 0);
    print_head();
    for (unsigned long i = 0; i < n; i++) {
        slow = 0.9 * slow + 0.1 * uniform(0.9, 1.1);
        at = interval(&s, &line, &heat, at,
            (uint64_t)(level * slow * uniform(0.97, 1.03)));
    }
    printf("\n");
    sb_buf_adds(&heat, "\n");
    print_tail(&s, &heat, at);
    return line.failed || heat.failed || fflush(stdout) ? 1 : 0;
}
