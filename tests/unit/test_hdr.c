// SPDX-License-Identifier: GPL-2.0-or-later
//
// test_hdr write FOLDER: writes a log, a percentile table, and what a reader
// must find in the log, for tests/db/test_hdr.
// Not with tsan: one thread.
#include "out/hdr.h"

#include <stdlib.h>
#include <zlib.h>

#include "hists.h"

#define STARTED 1790000000.125

// Reading back ---------------------------------------------------------------

struct decoded {
    uint32_t cookie, payload, offset, digits, compressed_cookie;
    uint64_t lowest, highest, ratio_bits;
    size_t counters; // read, runs of zeros included
    uint64_t *counter;
};

static uint64_t number(const unsigned char *p, int bytes)
{
    uint64_t n = 0;

    while (bytes--)
        n = n << 8 | *p++;
    return n;
}

static int digit(char c)
{
    const char *all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                      "0123456789+/";
    const char *at = strchr(all, c);

    return c && at ? (int)(at - all) : -1;
}

static size_t from_base64(const char *text, unsigned char *out)
{
    size_t len = strlen(text), n = 0;

    CHECK_INT(len % 4, 0);
    for (size_t i = 0; i + 4 <= len; i += 4) {
        int pad = (text[i + 2] == '=') + (text[i + 3] == '=');
        unsigned bits = 0;

        for (size_t k = 0; k < 4; k++) {
            int value = digit(text[i + k]);

            CHECK(value >= 0 || (i + 4 == len && k >= 4 - (size_t)pad));
            bits = bits << 6 | (unsigned)(value > 0 ? value : 0);
        }
        for (int k = 0; k < 3 - pad; k++)
            out[n++] = (unsigned char)(bits >> (16 - 8 * k));
    }
    return n;
}

static int64_t varint(const unsigned char **p)
{
    uint64_t n = 0;

    for (int i = 0; i < 9; i++) {
        unsigned byte = *(*p)++;

        n |= (uint64_t)(i < 8 ? byte & 0x7f : byte) << (7 * i);
        if (i < 8 && !(byte & 0x80))
            break;
    }
    return (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
}

static void read_counters(
    struct decoded *d, const unsigned char *p, const unsigned char *end)
{
    while (p < end) {
        int64_t n = varint(&p);

        if (n < 0) {
            CHECK(n <= -2);
            d->counters += (size_t)-n;
        } else if (d->counters < SB_HIST_BUCKETS) {
            d->counter[d->counters++] = (uint64_t)n;
        }
        CHECK(d->counters <= SB_HIST_BUCKETS);
    }
    CHECK(p == end);
}

static struct decoded decode(const char *text)
{
    unsigned char *packed = malloc(strlen(text) + 1);
    unsigned long size = 10 * SB_HIST_BUCKETS + 40;
    unsigned char *plain = malloc(size);
    struct decoded d = { .counter = calloc(SB_HIST_BUCKETS, sizeof(uint64_t)) };
    size_t len = from_base64(text, packed);

    CHECK(len > 8);
    d.compressed_cookie = (uint32_t)number(packed, 4);
    CHECK_INT(number(packed + 4, 4), len - 8);
    CHECK_INT(uncompress(plain, &size, packed + 8, len - 8), Z_OK);
    CHECK(size > 40);
    d.cookie = (uint32_t)number(plain, 4);
    d.payload = (uint32_t)number(plain + 4, 4);
    d.offset = (uint32_t)number(plain + 8, 4);
    d.digits = (uint32_t)number(plain + 12, 4);
    d.lowest = number(plain + 16, 8);
    d.highest = number(plain + 24, 8);
    d.ratio_bits = number(plain + 32, 8);
    CHECK_INT(d.payload, size - 40);
    read_counters(&d, plain + 40, plain + size);
    free(packed);
    free(plain);
    return d;
}

static struct decoded encoded(const struct sb_hist_snap *s)
{
    struct sb_hdr h;
    struct sb_buf text;

    sb_buf_init(&text, 0);
    CHECK_INT(sb_hdr_init(&h, NULL, NULL), 0);
    CHECK_INT(sb_hdr_encode(&h, s, &text), 0);
    struct decoded d = decode(text.data);
    sb_buf_done(&text);
    sb_hdr_done(&h);
    return d;
}

// Encodes the histogram, reads it back, and compares all counters. Frees it.
static void check_same(struct sb_hist_snap *s)
{
    struct decoded d = encoded(s);
    int different = 0;

    for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++)
        different += d.counter[i] != sb_hist_snap_count(s, i);
    CHECK_INT(different, 0);
    free(d.counter);
    sb_hist_snap_done(s);
}

// Tests ----------------------------------------------------------------------

// The bucket of a value as the documents of HdrHistogram define it, with 2^11
// sub-buckets: an independent formula for sb_hist_index().
static void buckets_are_those_of_hdrhistogram(void)
{
    struct sb_rng r;

    sb_rng_init(&r, 1, 1);
    for (int i = 0; i < 200000; i++) {
        uint64_t v = sb_rng_next(&r) >> (16 + sb_rng_below(&r, 48));
        int bucket = 64 - 11 - __builtin_clzll(v | 2047);
        int sub = (int)(v >> bucket);

        CHECK_INT(sb_hist_index(v), (bucket + 1) * 1024 + (sub - 1024));
    }
    // The smallest power of two that is not less than 2 x 10^digits.
    CHECK(SB_HDR_SUB_BUCKETS / 2 < 2000 && 2000 <= SB_HDR_SUB_BUCKETS);
    // The number of doublings that the range needs.
    int buckets = 1;
    for (uint64_t top = SB_HDR_SUB_BUCKETS; top <= SB_HDR_HIGHEST; top *= 2)
        buckets++;
    CHECK_INT(buckets, SB_HDR_BUCKETS);
    CHECK_INT(sb_hist_index(SB_HDR_HIGHEST), SB_HIST_BUCKETS - 1);
}

static void header_is_complete(void)
{
    struct sb_hist_snap s = { 0 };

    count(&s, 5, 1);
    struct decoded d = encoded(&s);
    CHECK_INT(d.compressed_cookie, 0x1c849314);
    CHECK_INT(d.cookie, 0x1c849313);
    CHECK_INT(d.offset, 0);
    CHECK_INT(d.digits, 3);
    CHECK_INT(d.lowest, 1);
    CHECK(d.highest == (UINT64_C(1) << 48) - 1);
    CHECK(d.ratio_bits == UINT64_C(0x3ff0000000000000)); // 1.0
    CHECK_INT(d.counters, 6); // nothing after the last count
    free(d.counter);
    sb_hist_snap_done(&s);
}

static void empty_histogram_has_one_counter(void)
{
    struct sb_hist_snap s = { 0 };
    struct decoded d = encoded(&s);

    CHECK_INT(d.counters, 1);
    free(d.counter);
    check_same(&s);
}

static void gaps_and_edges_survive(void)
{
    struct sb_hist_snap s = { 0 };

    count(&s, 0, 1);
    count(&s, 2, 2); // one empty bucket between
    count(&s, 3, 3); // none
    count(&s, 6, 4); // two
    count(&s, 2047, 5);
    count(&s, 2048, 6);           // the first bucket wider than 1
    count(&s, SB_HDR_HIGHEST, 7); // the last one
    count(&s, UINT64_MAX, 8);     // also the last one
    check_same(&s);
}

static void large_counts_survive(void)
{
    struct sb_hist_snap s = { 0 };

    for (unsigned bit = 0; bit < 63; bit++) {
        count(&s, 10 + 3 * (uint64_t)bit, UINT64_C(1) << bit);
        count(&s, 11 + 3 * (uint64_t)bit, (UINT64_C(1) << bit) - (bit > 0));
    }
    count(&s, 5000, INT64_MAX);
    check_same(&s);
}

static void random_histograms_survive(void)
{
    struct sb_rng r;

    sb_rng_init(&r, 2, 1);
    for (int i = 0; i < 20; i++) {
        struct sb_hist_snap s = { 0 };

        count_random(&s, &r, 1 << i % 16, 1, 1e14);
        check_same(&s);
    }
}

// A histogram in which all buckets are used: the largest text.
static void full_histogram_survives(void)
{
    struct sb_hist_snap s = { 0 };
    struct sb_rng r;

    sb_rng_init(&r, 3, 1);
    for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++)
        sb_hist_snap_put(&s, i, sb_rng_next(&r) >> 1);
    check_same(&s);
}

static void log_has_head_and_lines(void)
{
    struct sb_hist_snap s = { 0 };
    struct sb_hdr h;
    char *got = NULL, *line;
    size_t size = 0;
    FILE *out = open_memstream(&got, &size);

    count(&s, 1500000, 10);
    CHECK_INT(sb_hdr_init(&h, out, NULL), 0);
    CHECK_INT(sb_hdr_begin(&h, "sysbench 2.0.0", STARTED, NULL), 0);
    CHECK_INT(sb_hdr_interval(&h, NULL, 0, 1.0004, &s, NULL), 0);
    CHECK_INT(sb_hdr_interval(&h, "SELECT", 1.0004, 0.9996, &s, NULL), 0);
    CHECK_INT(sb_hdr_interval(&h, "a b,c\n\"\xc3\xa4\"", 2, 1, &s, NULL), 0);
    fclose(out);
    const char *head =
        "#[Logged with sysbench 2.0.0]\n"
        "#[Histogram log format version 1.3]\n"
        "#[StartTime: 1790000000.125 (seconds since epoch), "
        "Mon Sep 21 14:13:20 UTC 2026]\n"
        "#[BaseTime: 1790000000.125 (seconds since epoch)]\n"
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
        "\"Interval_Compressed_Histogram\"\n";
    CHECK(strncmp(got, head, strlen(head)) == 0);
    line = got + strlen(head);
    // 1,500,000 is in the bucket from 1,499,136 to 1,500,159.
    CHECK(strncmp(line, "0.000,1.000,1.500,HISTFAAAA", 27) == 0);
    line = strchr(line, '\n') + 1;
    CHECK(strncmp(line, "Tag=SELECT,1.000,1.000,1.500,HISTFAAAA", 38) == 0);
    line = strchr(line, '\n') + 1;
    CHECK(strncmp(line, "Tag=a_b_c_\"\xc3\xa4\",2.000,1.000,1.5", 30) == 0);
    line = strchr(line, '\n') + 1;
    CHECK_STR(line, "");
    free(got);
    sb_hdr_done(&h);
    sb_hist_snap_done(&s);
}

// In whole milliseconds, as readers add them.
static void intervals_meet(void)
{
    struct sb_hist_snap s = { 0 };
    struct sb_hdr h;
    char *got = NULL, *line;
    size_t size = 0;
    FILE *out = open_memstream(&got, &size);
    long end = 0;

    count(&s, 1500000, 10);
    CHECK_INT(sb_hdr_init(&h, out, NULL), 0);
    for (int i = 0; i < 100; i++)
        CHECK_INT(sb_hdr_interval(&h, NULL, i * 0.1004, 0.1004, &s, NULL), 0);
    fclose(out);
    line = got;
    for (int i = 0; i < 100; i++) {
        double from = 0, seconds = 0;

        CHECK_INT(sscanf(line, "%lf,%lf,", &from, &seconds), 2);
        CHECK_INT((long)(from * 1e3 + 0.5), end);
        end += (long)(seconds * 1e3 + 0.5);
        line = strchr(line, '\n') + 1;
    }
    CHECK_INT(end, 10040);
    free(got);
    sb_hdr_done(&h);
    sb_hist_snap_done(&s);
}

static void failed_writes_are_reported(void)
{
    FILE *full = fopen("/dev/full", "w");
    struct sb_hist_snap s = { 0 };
    struct sb_err err = { 0 };
    struct sb_hdr h;

    if (!full)
        return; // not on this system
    CHECK_INT(sb_hdr_init(&h, full, NULL), 0);
    CHECK_INT(sb_hdr_begin(&h, "x", 0, &err), SB_ESYS);
    CHECK_STR(
        err.msg, "cannot write the histogram log: No space left on device");
    CHECK_INT(sb_hdr_interval(&h, NULL, 0, 1, &s, &err), SB_ESYS);
    CHECK_INT(sb_hgrm_write(full, &s, &err), SB_ESYS);
    CHECK_STR(
        err.msg, "cannot write the percentile table: No space left on device");
    sb_hdr_done(&h);
    fclose(full);
}

static void done_accepts_zero(void)
{
    struct sb_hdr h = { 0 };

    sb_hdr_done(&h);
    CHECK(!h.zip);
}

// For the reader of HdrHistogram ----------------------------------------------

static FILE *create(const char *folder, const char *name)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    if (!f)
        perror(path);
    return f;
}

static void print_count(void *arg, uint64_t low, uint64_t width, uint64_t n)
{
    (void)width;
    fprintf(arg, "count %" PRIu64 " %" PRIu64 "\n", low, n);
}

// What third_party/hdrhistogram/Reader.java prints for the same interval; start
// and length in milliseconds.
static void expect(FILE *f, const char *tag, uint64_t start, uint64_t length,
    const struct sb_hist_snap *s)
{
    static const double percentile[] = { 50, 95, 99, 99.9, 100 };
    uint64_t from = (uint64_t)(STARTED * 1e3) + start, min = 0, max = 0;

    sb_hist_snap_bounds(s, &min, &max);
    fprintf(f,
        "interval %s %" PRIu64 " %" PRIu64 " total %" PRIu64 " min %" PRIu64
        " max %" PRIu64 "\n",
        tag, from, from + length, s->total, min, max);
    for (size_t i = 0; i < sizeof(percentile) / sizeof(percentile[0]); i++)
        fprintf(f, "percentile %.1f %.0f\n", percentile[i],
            sb_hist_snap_percentile(s, percentile[i], UINT64_MAX));
    sb_hist_snap_each(s, print_count, f);
}

// Fills the histogram of interval i: few or many values, microseconds or
// seconds, the last bucket, counts with many digits, none at all.
static void fill(struct sb_hist_snap *s, struct sb_rng *r, uint64_t i)
{
    if (i == 3)
        return;
    count_random(s, r, 10 << (2 * i), 1e5, 1e9);
    if (i == 4)
        count(s, SB_HDR_HIGHEST, 2);
    if (i == 5)
        count(s, 300000, UINT64_C(123456789012));
    if (i == 6) {
        count(s, 0, 1);
        count_random(s, r, 100, 1, 1e4);
    }
}

static int write_sample(const char *folder)
{
    FILE *log = create(folder, "log.hdr"), *want = create(folder, "want");
    FILE *table = create(folder, "table.hgrm");
    struct sb_hist_snap sum = { 0 };
    struct sb_hdr h = { 0 };
    struct sb_rng r;
    int rc = -1;

    sb_rng_init(&r, 4, 1);
    if (log && want && table)
        rc = sb_hdr_init(&h, log, NULL);
    if (rc == 0)
        rc = sb_hdr_begin(&h, "sysbench 2.0.0", STARTED, NULL);
    if (rc == 0)
        fprintf(want, "started %.0f, 1 to %" PRIu64 ", digits 3\n",
            STARTED * 1e3, SB_HDR_HIGHEST);
    for (uint64_t i = 0; rc == 0 && i < 9; i++) {
        const char *tag = i == 6 || i == 7 ? "SELECT" : NULL;
        struct sb_hist_snap s = { 0 };

        fill(&s, &r, i);
        rc = sb_hdr_interval(&h, tag, (double)i, 1, &s, NULL);
        expect(want, tag ? tag : "-", i * 1000, 1000, &s);
        if (rc == 0 && !tag)
            rc = sb_hist_snap_add(&sum, &s);
        sb_hist_snap_done(&s);
    }
    if (rc == 0)
        rc = sb_hgrm_write(table, &sum, NULL);
    sb_hist_snap_done(&sum);
    sb_hdr_done(&h);
    for (int i = 0; i < 3; i++) {
        FILE *f = i == 0 ? log : i == 1 ? want : table;

        if (f && fclose(f))
            rc = -1;
    }
    return rc != 0;
}

CHECK_FILE
{
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        return write_sample(argv[2]);
    RUN(buckets_are_those_of_hdrhistogram);
    RUN(header_is_complete);
    RUN(empty_histogram_has_one_counter);
    RUN(gaps_and_edges_survive);
    RUN(large_counts_survive);
    RUN(random_histograms_survive);
    RUN(full_histogram_survives);
    RUN(log_has_head_and_lines);
    RUN(intervals_meet);
    RUN(failed_writes_are_reported);
    RUN(done_accepts_zero);
    return check_done();
}
