// SPDX-License-Identifier: GPL-2.0-or-later

#include "out/page.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>

#include "base/escape.h"

// The style sheets and scripts of the page, in the order in which they are
// included. Files named uPlot* are in the folder of the charts library.
static const char *const styles[] = { "uPlot.min.css", "report.css" };
static const char *const scripts[] = { "uPlot.iife.min.js", "data.js",
    "format.js", "charts.js", "heat.js", "sections.js", "workloads.js",
    "beside.js", "compare.js", "history.js", "sweep.js", "live.js",
    "report.js" };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

// What one page needs while it is written.
struct writer {
    FILE *out;
    const struct sb_page_parts *parts;
    struct sb_err *err;
    char nonce[33];
};

static bool is_charts(const char *name)
{
    return strncmp(name, "uPlot", 5) == 0;
}

static int missing(
    const char *name, const char *path, int native, struct sb_err *err)
{
    if (is_charts(name) && native == ENOENT)
        return sb_err_set(err, SB_ENOTFOUND,
            "the charts library is missing (%s): third_party/get-charts in "
            "the source tree downloads it; then run make install again",
            path);
    return sb_err_set(err, SB_ENOTFOUND, "%s: %s", path, strerror(native));
}

// Opens a file of the page or of the charts library.
static FILE *open_part(
    const struct sb_page_parts *p, const char *name, struct sb_err *err)
{
    char path[PATH_MAX + 64];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", is_charts(name) ? p->charts : p->page,
        name);
    f = fopen(path, "re");
    if (!f)
        missing(name, path, errno, err);
    return f;
}

static int put_bytes(struct writer *w, const void *data, size_t n)
{
    if (n && fwrite(data, 1, n, w->out) != n)
        return sb_err_set(
            w->err, SB_ESYS, "the page cannot be written: %s", strerror(errno));
    return 0;
}

static int puts_(struct writer *w, const char *text)
{
    return put_bytes(w, text, strlen(text));
}

// Text in an element or in an attribute in double quotes.
static int put_text(struct writer *w, const char *text)
{
    char copy[8192]; // names of files may be in any encoding

    sb_utf8_copy(copy, sizeof(copy), text);
    for (const char *p = copy; *p; p++) {
        const char *entity = NULL;
        int rc;

        switch (*p) {
        case '&':
            entity = "&amp;";
            break;
        case '<':
            entity = "&lt;";
            break;
        case '>':
            entity = "&gt;";
            break;
        case '"':
            entity = "&quot;";
            break;
        default:
            break;
        }
        rc = entity ? puts_(w, entity) : put_bytes(w, p, 1);
        if (rc)
            return rc;
    }
    return 0;
}

static int put_file(struct writer *w, const char *name)
{
    FILE *f = open_part(w->parts, name, w->err);
    char buf[16384];
    size_t n;
    int rc = 0;

    if (!f)
        return SB_ENOTFOUND;
    while (rc == 0 && (n = fread(buf, 1, sizeof(buf), f)) > 0)
        rc = put_bytes(w, buf, n);
    if (rc == 0 && ferror(f))
        rc = sb_err_set(w->err, SB_ESYS, "%s: %s", name, strerror(errno));
    fclose(f);
    return rc;
}

// JSON text in which no "<" is left. In JSON, "<" occurs only in strings.
static int put_json(struct writer *w, const char *data, size_t n)
{
    const char *end = data + n;

    while (data < end) {
        const char *p = memchr(data, '<', (size_t)(end - data));
        int rc = put_bytes(w, data, (size_t)((p ? p : end) - data));

        if (rc == 0 && p)
            rc = puts_(w, "\\u003c");
        if (rc)
            return rc;
        data = p ? p + 1 : end;
    }
    return 0;
}

// Of several runs, the histograms of operations, stages and ranks whose
// percentiles are in the document are left out: the page shows only these, and
// the histograms of a sweep are most of its size. Those of whole runs, of which
// the page draws curves, get wider buckets. They are at this depth of brackets:
// the document, runs, a run, its latency, the histogram.
#define RUN_DEPTH 5u

struct thinning {
    bool string, escaped;
    char name[16]; // the last string
    size_t len;    // of it
    unsigned depth;
    unsigned known; // depth of the object whose percentiles were read; 0: none
    unsigned skip;  // depth of the histogram that is not copied; 0: none
    // Of a histogram with wider buckets:
    bool widen;
    uint64_t row[3]; // low, high, count: the row that is read
    unsigned column;
    uint64_t bucket[3]; // the row that is to be written; count 0: none
    bool written;       // a row was
};

// How much higher the end of a wider bucket is than its beginning.
#define WIDER 1.01

static void end_string(struct thinning *t)
{
    t->string = false;
    t->name[t->len < sizeof(t->name) ? t->len : 0] = '\0';
    if (!t->skip && strcmp(t->name, "percentiles") == 0)
        t->known = t->depth;
}

static void in_string(struct thinning *t, char c)
{
    if (!t->escaped && c == '"') {
        end_string(t);
        return;
    }
    t->escaped = !t->escaped && c == '\\';
    if (t->len < sizeof(t->name))
        t->name[t->len++] = c;
}

// Returns whether the text begins or ends here that is left out.
static bool is_edge(struct thinning *t, char c)
{
    switch (c) {
    case '"':
        t->string = true;
        t->len = 0;
        return false;
    case '[':
    case '{':
        t->depth++;
        if (t->skip || c == '{' || t->known + 1 != t->depth ||
            strcmp(t->name, "histogram") != 0)
            return false;
        t->skip = t->depth;
        t->widen = t->depth <= RUN_DEPTH;
        t->bucket[2] = 0;
        t->written = false;
        return true;
    case ']':
    case '}': {
        bool ends = t->skip != 0 && t->skip == t->depth;

        t->skip = ends ? 0 : t->skip;
        t->depth -= t->depth > 0;
        t->known = t->known > t->depth ? 0 : t->known;
        return ends;
    }
    default:
        return false;
    }
}

static int put_bucket(struct writer *w, struct thinning *t)
{
    char text[80];
    int n = snprintf(text, sizeof(text),
        "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", t->written ? "," : "",
        t->bucket[0], t->bucket[1], t->bucket[2]);

    t->written = true;
    return t->bucket[2] ? put_bytes(w, text, (size_t)n) : 0;
}

// Reads the rows of a histogram, and joins buckets.
static int widen(struct writer *w, struct thinning *t, char c)
{
    int rc = 0;

    if (c == '[') {
        memset(t->row, 0, sizeof(t->row));
        t->column = 0;
    } else if (c >= '0' && c <= '9' && t->column < 3) {
        t->row[t->column] = 10 * t->row[t->column] + (uint64_t)(c - '0');
    } else if (c == ',') {
        t->column++;
    } else if (c == ']' && t->bucket[2] &&
               (double)t->row[1] <= WIDER * (double)t->bucket[0]) {
        t->bucket[1] = t->row[1];
        t->bucket[2] += t->row[2];
    } else if (c == ']') {
        if (t->bucket[2])
            rc = put_bucket(w, t);
        memcpy(t->bucket, t->row, sizeof(t->row));
    }
    return rc;
}

static int put_part_of_json(
    struct writer *w, struct thinning *t, const char *data, size_t n)
{
    size_t from = 0;
    int rc = 0;

    if (!w->parts->several)
        return put_json(w, data, n);
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (t->string) {
            in_string(t, data[i]);
        } else if (is_edge(t, data[i])) {
            if (t->skip)
                rc = put_json(w, data + from, i + 1 - from);
            else if (t->widen)
                rc = put_bucket(w, t);
            from = i;
        } else if (t->skip && t->widen) {
            rc = widen(w, t, data[i]);
        }
    }
    return rc || t->skip ? rc : put_json(w, data + from, n - from);
}

static int put_doc(struct writer *w, const struct sb_page_doc *doc)
{
    struct thinning thin = { 0 };
    char buf[65536];
    size_t n;
    int rc = 0;

    fprintf(w->out, "<script type=\"application/json\" class=\"%s\" ",
        doc->kind ? doc->kind : "result");
    if (doc->side &&
        ((rc = puts_(w, "data-side=\"")) || (rc = put_text(w, doc->side)) ||
            (rc = puts_(w, "\" "))))
        return rc;
    if ((rc = puts_(w, "data-name=\"")) ||
        (rc = put_text(w, doc->name ? doc->name : "")) ||
        (rc = puts_(w, "\">")))
        return rc;
    while (rc == 0 && (n = fread(buf, 1, sizeof(buf), doc->file)) > 0)
        rc = put_part_of_json(w, &thin, buf, n);
    if (rc == 0 && ferror(doc->file))
        rc = sb_err_set(w->err, SB_ESYS, "%s: %s",
            doc->name ? doc->name : "the result", strerror(errno));
    return rc ? rc : puts_(w, "</script>\n");
}

static int put_docs(struct writer *w)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < w->parts->ndocs; i++)
        rc = put_doc(w, &w->parts->docs[i]);
    return rc;
}

// Of the page's policy (report.html), which keeps the browser from running
// scripts that a result contains. A result that is older than the page does not
// have this number.
static int draw_nonce(struct writer *w)
{
    unsigned char bytes[16];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return sb_err_set(
            w->err, SB_ESYS, "getrandom() failed: %s", strerror(errno));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(w->nonce + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

// One element that includes files.
static int put_files(
    struct writer *w, const char *tag, const char *const *names, size_t n)
{
    int rc;

    fprintf(w->out, "<%s nonce=\"%s\">\n", tag, w->nonce);
    for (size_t i = 0; i < n; i++) {
        rc = put_file(w, names[i]);
        if (rc == 0)
            rc = puts_(w, "\n");
        if (rc)
            return rc;
    }
    fprintf(w->out, "</%s>", tag);
    return 0;
}

// Replaces @name@ of the template.
static int put_part(struct writer *w, const char *name)
{
    const struct sb_page_parts *p = w->parts;

    if (strcmp(name, "title") == 0)
        return put_text(w, p->title ? p->title : "sysbench");
    if (strcmp(name, "live") == 0)
        return p->live ? puts_(w, " data-live=\"\"") : 0;
    if (strcmp(name, "nonce") == 0)
        return puts_(w, w->nonce);
    if (strcmp(name, "connect") == 0)
        return puts_(w, p->live ? "'self'" : "'none'");
    if (strcmp(name, "style") == 0)
        return put_files(w, "style", styles, COUNT(styles));
    if (strcmp(name, "script") == 0)
        return put_files(w, "script", scripts, COUNT(scripts));
    if (strcmp(name, "data") == 0)
        return put_docs(w);
    return sb_err_set(
        w->err, SB_EINTERNAL, "report.html: unknown part @%s@", name);
}

// A line of the template: text with parts between @ signs.
static int put_line(struct writer *w, char *line)
{
    for (;;) {
        char *begin = strchr(line, '@');
        char *end = begin ? strchr(begin + 1, '@') : NULL;
        int rc;

        if (!end)
            return puts_(w, line);
        *begin = *end = '\0';
        if ((rc = puts_(w, line)) || (rc = put_part(w, begin + 1)))
            return rc;
        line = end + 1;
    }
}

int sb_page_check(const struct sb_page_parts *p, struct sb_err *err)
{
    const char *const *lists[] = { styles, scripts };
    const size_t counts[] = { COUNT(styles), COUNT(scripts) };
    FILE *f = open_part(p, "report.html", err);

    for (size_t i = 0; f && i < COUNT(lists); i++) {
        for (size_t k = 0; f && k < counts[i]; k++) {
            fclose(f);
            f = open_part(p, lists[i][k], err);
        }
    }
    if (!f)
        return SB_ENOTFOUND;
    fclose(f);
    return 0;
}

int sb_page_write(FILE *out, const struct sb_page_parts *p, struct sb_err *err)
{
    struct writer w = { .out = out, .parts = p, .err = err };
    char line[1024];
    int rc = sb_page_check(p, err);
    FILE *f;

    if (rc == 0)
        rc = draw_nonce(&w);
    if (rc)
        return rc;
    f = open_part(p, "report.html", err);
    if (!f)
        return SB_ENOTFOUND;
    while (rc == 0 && fgets(line, sizeof(line), f))
        rc = put_line(&w, line);
    if (rc == 0 && ferror(f))
        rc = sb_err_set(err, SB_ESYS, "report.html: %s", strerror(errno));
    fclose(f);
    if (rc == 0 && ferror(out))
        rc = sb_err_set(err, SB_ESYS, "the page cannot be written");
    return rc;
}
