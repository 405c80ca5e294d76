// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/hdr.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "kit/units.h"
#include "out/reporter.h"
#include "out/target.h"

// The percentile table --------------------------------------------------------

#define TICKS    5 // rows for each halving of the distance to 100 %
#define DECIMALS 3

struct table {
    FILE *out;
    int decimals;
    uint64_t total, below; // all values; those up to the current bucket
    double level;          // percentile of the next row
    double last;           // highest value of the current bucket, ms
    double sum, mean, squares;
};

// The distance to the next row halves each time half of the rest is done. The
// rows end when a double has no more digits for the next one.
static void next_level(struct table *t)
{
    double halvings = floor(log(100 / (100 - t->level)) / log(2)) + 1;
    double next = t->level + 100 / (TICKS * exp2(halvings));

    t->level = next > t->level ? next : 100;
}

static void visit_row(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct table *t = arg;

    t->below += count;
    t->last = (double)(low + width - 1) / 1e6;
    double reached = 100 * (double)t->below / (double)t->total;
    while (reached >= t->level && t->level < 100) {
        fprintf(t->out, "%12.*f %2.12f %10" PRIu64 " %14.2f\n", t->decimals,
            t->last, t->level / 100, t->below, 1 / (1 - t->level / 100));
        next_level(t);
        // The last bucket has one row, and the row of 100 %.
        if (t->below == t->total)
            break;
    }
}

// Middle of a bucket in milliseconds, as HdrHistogram computes it.
static double middle(uint64_t low, uint64_t width)
{
    return (double)(low + width / 2) / 1e6;
}

static void visit_sum(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct table *t = arg;

    t->sum += middle(low, width) * (double)count;
}

static void visit_squares(
    void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct table *t = arg;
    double d = middle(low, width) - t->mean;

    t->squares += d * d * (double)count;
}

static void footer(struct table *t, const struct sb_hist_snap *hist)
{
    double n = t->total ? (double)t->total : 1;

    sb_hist_snap_each(hist, visit_sum, t);
    t->mean = t->sum / n;
    sb_hist_snap_each(hist, visit_squares, t);
    fprintf(t->out,
        "#[Mean    = %12.*f, StdDeviation   = %12.*f]\n"
        "#[Max     = %12.*f, Total count    = %12" PRIu64 "]\n"
        "#[Buckets = %12u, SubBuckets     = %12u]\n",
        t->decimals, t->mean, t->decimals, sqrt(t->squares / n), t->decimals,
        t->last, t->total, (unsigned)SB_HDR_BUCKETS,
        (unsigned)SB_HDR_SUB_BUCKETS);
}

int sb_hgrm_write(
    FILE *out, const struct sb_hist_snap *hist, struct sb_err *err)
{
    struct table t = { .out = out, .decimals = DECIMALS, .total = hist->total };
    uint64_t min, max;

    if (sb_hist_snap_bounds(hist, &min, &max))
        t.decimals = sb_units_ms_decimals((double)min / 1e6, DECIMALS);
    errno = 0;
    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
        "1/(1-Percentile)");
    sb_hist_snap_each(hist, visit_row, &t);
    assert(t.below == t.total);
    if (t.total)
        fprintf(out, "%12.*f %2.12f %10" PRIu64 "\n", t.decimals, t.last, 1.0,
            t.total);
    footer(&t, hist);
    if (fflush(out) || ferror(out))
        return sb_err_set(err, SB_ESYS, "cannot write the percentile table: %s",
            strerror(errno));
    return 0;
}

// First words of an encoded histogram and of a compressed one. The low byte
// gives the size of a counter; 0x10 stands for variable length.
#define COOKIE            UINT32_C(0x1c849313)
#define COOKIE_COMPRESSED UINT32_C(0x1c849314)

#define HEADER            40 // bytes before the counters
#define HEADER_COMPRESSED 8
#define VARINT_MAX        9

_Static_assert(SB_HDR_SUB_BUCKETS == 2048,
    "three significant digits: 2,048 is the power of two after 2 x 10^3");
_Static_assert((SB_HDR_BUCKETS + 1) * SB_HDR_SUB_BUCKETS / 2 == SB_HIST_BUCKETS,
    "as many counters as an HdrHistogram with this range");

int sb_hdr_init(struct sb_hdr *h, FILE *out, struct sb_err *err)
{
    *h = (struct sb_hdr){ .out = out };
    sb_buf_init(&h->plain, 0);
    sb_buf_init(&h->packed, 0);
    sb_buf_init(&h->text, 0);
    h->zip = calloc(1, sizeof(*h->zip));
    // Counters of one histogram seldom repeat: searching for repetitions takes
    // twice the time and makes typical texts larger, not smaller.
    if (h->zip && deflateInit2(h->zip, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS,
                      MAX_MEM_LEVEL, Z_HUFFMAN_ONLY) == Z_OK)
        return 0;
    free(h->zip);
    h->zip = NULL;
    return sb_err_set(err, SB_ENOMEM, "no histogram log: out of memory");
}

void sb_hdr_done(struct sb_hdr *h)
{
    if (h->zip)
        deflateEnd(h->zip);
    free(h->zip);
    sb_buf_done(&h->plain);
    sb_buf_done(&h->packed);
    sb_buf_done(&h->text);
    *h = (struct sb_hdr){ 0 };
}

// Encoding -------------------------------------------------------------------

static void put_number(unsigned char *to, uint64_t n, unsigned bytes)
{
    while (bytes--) {
        to[bytes] = (unsigned char)n;
        n >>= 8;
    }
}

// Appends a signed number: zigzag, seven bits per byte, the lowest first. The
// ninth byte has eight bits.
static void add_varint(struct sb_buf *b, int64_t signed_n)
{
    uint64_t n = (uint64_t)signed_n << 1 ^ (uint64_t)(signed_n >> 63);
    unsigned char byte[VARINT_MAX];
    size_t len = 0;

    while (n > 0x7f && len < VARINT_MAX - 1) {
        byte[len++] = (unsigned char)(n | 0x80);
        n >>= 7;
    }
    byte[len++] = (unsigned char)n;
    sb_buf_add(b, byte, len);
}

struct counters {
    struct sb_buf *out;
    uint32_t next; // the first bucket that is not written yet
};

// Writes the counter of a bucket after the empty ones before it. A negative
// number is a run of zeros; a single zero is written as the counter 0.
static void add_counter(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct counters *c = arg;
    uint32_t index = sb_hist_index(low), zeros = index - c->next;

    (void)width;
    assert(index >= c->next); // buckets come in ascending order
    if (zeros == 1)
        add_varint(c->out, 0);
    else if (zeros)
        add_varint(c->out, -(int64_t)zeros);
    add_varint(c->out, count > INT64_MAX ? INT64_MAX : (int64_t)count);
    c->next = index + 1;
}

static int encode_plain(struct sb_buf *b, const struct sb_hist_snap *hist)
{
    const double ratio = 1; // of recorded values to integers
    unsigned char header[HEADER] = { 0 };
    struct counters c = { .out = b };
    uint64_t ratio_bits;

    sb_buf_clear(b);
    sb_buf_add(b, header, sizeof(header));
    sb_hist_snap_each(hist, add_counter, &c);
    if (c.next == 0)
        add_varint(b, 0); // readers expect at least one counter
    if (b->failed)
        return SB_ENOMEM;
    memcpy(&ratio_bits, &ratio, sizeof(ratio_bits));
    put_number(header, COOKIE, 4);
    put_number(header + 4, b->len - HEADER, 4);
    put_number(header + 8, 0, 4); // offset of the first counter
    put_number(header + 12, SB_HDR_DIGITS, 4);
    put_number(header + 16, SB_HDR_LOWEST, 8);
    put_number(header + 24, SB_HDR_HIGHEST, 8);
    put_number(header + 32, ratio_bits, 8);
    memcpy(b->data, header, sizeof(header));
    return 0;
}

static int compress_plain(struct sb_hdr *h)
{
    unsigned char header[HEADER_COMPRESSED] = { 0 }, part[4096];
    int rc;

    sb_buf_clear(&h->packed);
    sb_buf_add(&h->packed, header, sizeof(header));
    deflateReset(h->zip);
    h->zip->next_in = (unsigned char *)h->plain.data;
    h->zip->avail_in = (unsigned)h->plain.len;
    do {
        h->zip->next_out = part;
        h->zip->avail_out = sizeof(part);
        rc = deflate(h->zip, Z_FINISH);
        assert(rc == Z_OK || rc == Z_BUF_ERROR || rc == Z_STREAM_END);
        sb_buf_add(&h->packed, part, sizeof(part) - h->zip->avail_out);
    } while (rc != Z_STREAM_END);
    if (h->packed.failed)
        return SB_ENOMEM;
    put_number(header, COOKIE_COMPRESSED, 4);
    put_number(header + 4, h->packed.len - HEADER_COMPRESSED, 4);
    memcpy(h->packed.data, header, sizeof(header));
    return 0;
}

static void add_base64(struct sb_buf *out, const unsigned char *p, size_t len)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789+/";
    char part[1024];
    size_t used = 0;

    for (; len; p += 3) {
        size_t n = len < 3 ? len : 3;
        unsigned bits = (unsigned)p[0] << 16;

        bits |= n > 1 ? (unsigned)p[1] << 8 : 0;
        bits |= n > 2 ? p[2] : 0;
        part[used++] = digit[bits >> 18];
        part[used++] = digit[bits >> 12 & 63];
        part[used++] = n > 1 ? digit[bits >> 6 & 63] : '=';
        part[used++] = n > 2 ? digit[bits & 63] : '=';
        len -= n;
        if (used == sizeof(part) || len == 0) {
            sb_buf_add(out, part, used);
            used = 0;
        }
    }
}

int sb_hdr_encode(
    struct sb_hdr *h, const struct sb_hist_snap *hist, struct sb_buf *out)
{
    int rc = encode_plain(&h->plain, hist);

    if (rc == 0)
        rc = compress_plain(h);
    if (rc)
        return rc;
    add_base64(out, (const unsigned char *)h->packed.data, h->packed.len);
    return out->failed ? SB_ENOMEM : 0;
}

// The log --------------------------------------------------------------------

static int write_text(struct sb_hdr *h, struct sb_err *err)
{
    if (h->text.failed)
        return sb_err_set(err, SB_ENOMEM, "no histogram log: out of memory");
    errno = 0;
    if (fwrite(h->text.data, 1, h->text.len, h->out) != h->text.len ||
        fflush(h->out))
        return sb_err_set(err, SB_ESYS, "cannot write the histogram log: %s",
            strerror(errno));
    return 0;
}

int sb_hdr_begin(
    struct sb_hdr *h, const char *program, double started, struct sb_err *err)
{
    time_t seconds = (time_t)started;
    char date[64] = "";
    struct tm tm;

    // The form of Java's Date.toString(), as HdrHistogram writes it.
    if (gmtime_r(&seconds, &tm))
        strftime(date, sizeof(date), "%a %b %d %H:%M:%S UTC %Y", &tm);
    sb_buf_clear(&h->text);
    sb_buf_addf(&h->text,
        "#[Logged with %s]\n"
        "#[Histogram log format version 1.3]\n"
        "#[StartTime: %.3f (seconds since epoch), %s]\n"
        "#[BaseTime: %.3f (seconds since epoch)]\n"
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
        "\"Interval_Compressed_Histogram\"\n",
        program, started, date, started);
    return write_text(h, err);
}

static void add_tag(struct sb_buf *b, const char *tag)
{
    sb_buf_adds(b, "Tag=");
    for (; *tag; tag++) {
        bool plain = (unsigned char)*tag > ' ' && *tag != ',' && *tag != 0x7f;

        sb_buf_add(b, plain ? tag : "_", 1);
    }
    sb_buf_adds(b, ",");
}

// Both ends are rounded, and the length is their difference: otherwise an
// interval could end after the next one begins.
int sb_hdr_interval(struct sb_hdr *h, const char *tag, double from,
    double seconds, const struct sb_hist_snap *hist, struct sb_err *err)
{
    double begin_ms = round(from * 1e3), end_ms = round((from + seconds) * 1e3);
    uint64_t min = 0, max = 0;

    sb_hist_snap_bounds(hist, &min, &max);
    sb_buf_clear(&h->text);
    if (tag)
        add_tag(&h->text, tag);
    // The maximum in milliseconds is for people; programs use the histogram.
    sb_buf_addf(&h->text, "%.3f,%.3f,%.3f,", begin_ms / 1e3,
        (end_ms - begin_ms) / 1e3, (double)max / 1e6);
    if (sb_hdr_encode(h, hist, &h->text))
        h->text.failed = true;
    sb_buf_adds(&h->text, "\n");
    return write_text(h, err);
}

// --report=hdr=FILE -----------------------------------------------------------

struct hdr {
    struct sb_target target;
    struct sb_hdr log;
    struct sb_hist_snap sum; // of the intervals written so far
    double until;            // end of the last one, s
    bool begun;
};

// rc: the result of a function that has written to the file. If a write failed,
// replaces *err by an error with the name of the file.
static int flush(struct sb_target *t, int rc, struct sb_err *err)
{
    struct sb_err why = { 0 };

    if (rc && rc != SB_ESYS)
        return rc;
    if (sb_target_flush(t, &why)) {
        *err = why;
        rc = why.code;
    }
    return rc;
}

static int hdr_open(struct sb_reporter *r, struct sb_err *err)
{
    struct hdr *h = calloc(1, sizeof(*h));
    int rc;

    r->data = h;
    if (!h)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    rc = sb_target_open(
        &h->target, r->target, SB_TARGET_LINES | r->chosen, err);
    return rc ? rc : sb_hdr_init(&h->log, h->target.file, err);
}

static int hdr_begin(struct sb_reporter *r, struct sb_err *err)
{
    struct hdr *h = r->data;

    return sb_target_begin(&h->target, err);
}

static int write_head(struct sb_reporter *r, struct sb_err *err)
{
    struct hdr *h = r->data;
    const struct timespec *started = &r->facts->started;
    char program[64];

    if (h->begun)
        return 0;
    h->begun = true;
    snprintf(program, sizeof(program), "sysbench %s", r->facts->version);
    return sb_hdr_begin(&h->log, program,
        (double)started->tv_sec + (double)started->tv_nsec / 1e9, err);
}

static int write_interval(struct sb_reporter *r, double until, double seconds,
    const struct sb_hist_snap *times, struct sb_err *err)
{
    struct hdr *h = r->data;
    int rc = write_head(r, err);

    if (rc == 0)
        rc = sb_hdr_interval(
            &h->log, NULL, until - seconds, seconds, times, err);
    h->until = until;
    return flush(&h->target, rc, err);
}

static int hdr_interval(struct sb_reporter *r, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err)
{
    struct hdr *h = r->data;

    (void)row;
    if (report->warmup)
        return 0;
    if (sb_hist_snap_add(&h->sum, report->latency))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return write_interval(
        r, report->total_s, report->interval_s, report->latency, err);
}

// A line for each operation, with the name as its tag, of the whole measured
// part. Lines per interval would take too long: see docs/internals/hdr.md.
static int write_operations(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct hdr *h = r->data;
    const struct sb_snap *s = whole->snap;
    int rc = write_head(r, err);

    for (unsigned i = 0; rc == 0 && s->op && whole->stats && i < s->nops; i++)
        if (s->op[i].hist.total)
            rc = sb_hdr_interval(&h->log, whole->stats->op[i].name, 0,
                whole->total_s, &s->op[i].hist, err);
    return flush(&h->target, rc, err);
}

// Writes a last line with the events that no interval contains: the latest
// ones, and those that ended after the time limit. Then the operations.
static int hdr_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct hdr *h = r->data;
    struct sb_hist_snap rest = { 0 };
    double left = whole->total_s - h->until;
    int rc = 0;

    if (whole->warmup)
        return 0;
    if (sb_hist_snap_sub(&rest, whole->latency, &h->sum))
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    else if (rest.total)
        rc = write_interval(r, left > 0 ? whole->total_s : h->until,
            left > 0 ? left : 0, &rest, err);
    sb_hist_snap_done(&rest);
    return rc ? rc : write_operations(r, whole, err);
}

static int hdr_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct hdr *h = r->data;

    (void)o;
    int rc = flush(&h->target, write_head(r, err), err);

    return rc ? rc : sb_target_commit(&h->target, err);
}

// The outcome is no part of the file.
static int hdr_draft(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct hdr *h = r->data;

    (void)o;
    return flush(&h->target, write_head(r, err), err);
}

static void hdr_done(struct sb_reporter *r)
{
    struct hdr *h = r->data;

    if (!h)
        return;
    sb_hdr_done(&h->log);
    sb_hist_snap_done(&h->sum);
    sb_target_done(&h->target);
    free(h);
}

const struct sb_reporter_kind sb__hdr_kind = {
    .name = "hdr",
    .target = "FILE",
    .form = SB_REPORT_LINES,
    .open = hdr_open,
    .begin = hdr_begin,
    .interval = hdr_interval,
    .final = hdr_final,
    .draft = hdr_draft,
    .finish = hdr_finish,
    .done = hdr_done,
};

// --report=hgrm=FILE ----------------------------------------------------------

struct hgrm {
    struct sb_target target;
    bool written;
};

static int hgrm_open(struct sb_reporter *r, struct sb_err *err)
{
    struct hgrm *h = calloc(1, sizeof(*h));

    r->data = h;
    if (!h)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return sb_target_open(
        &h->target, r->target, SB_TARGET_WHOLE | r->chosen, err);
}

static int hgrm_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct hgrm *h = r->data;

    assert(!h->written); // a second table would follow the first one
    h->written = true;
    return flush(
        &h->target, sb_hgrm_write(h->target.file, whole->latency, err), err);
}

// A run that has not begun leaves a table without rows, not an older file.
static int hgrm_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct hgrm *h = r->data;
    struct sb_hist_snap none = { 0 };
    int rc = 0;

    (void)o;
    if (!h->target.file) // committed by draft()
        return 0;
    if (!h->written)
        rc = flush(&h->target, sb_hgrm_write(h->target.file, &none, err), err);
    return rc ? rc : sb_target_commit(&h->target, err);
}

// The outcome is no part of the file.
static int hgrm_draft(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct hgrm *h = r->data;

    (void)o;
    assert(h->written);
    return sb_target_is_replaced(&h->target) ? sb_target_commit(&h->target, err)
                                             : sb_target_flush(&h->target, err);
}

static void hgrm_done(struct sb_reporter *r)
{
    struct hgrm *h = r->data;

    if (!h)
        return;
    sb_target_done(&h->target);
    free(h);
}

const struct sb_reporter_kind sb__hgrm_kind = {
    .name = "hgrm",
    .target = "FILE",
    .form = SB_REPORT_DOCUMENT,
    .open = hgrm_open,
    .final = hgrm_final,
    .draft = hgrm_draft,
    .finish = hgrm_finish,
    .done = hgrm_done,
};
