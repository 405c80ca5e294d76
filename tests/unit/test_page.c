// SPDX-License-Identifier: GPL-2.0-or-later
//
// With arguments, a tool for tests/page: `test_page PAGE CHARTS [--live]
// [RESULT]...` writes the page with these results to stdout.
// Not with tsan: one thread.
#include "out/page.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "check_folder.h"
#include "kit/buf.h"

// A folder for the parts of a page, with a charts library of one line.
static const char page_folder[] = "parts";
static const char charts_folder[] = "parts/lib";

static const char *const part_names[] = { "report.css", "data.js", "format.js",
    "charts.js", "heat.js", "sections.js", "workloads.js", "beside.js",
    "compare.js", "history.js", "sweep.js", "live.js", "report.js",
    "lib/uPlot.min.css", "lib/uPlot.iife.min.js" };

static void write_file(const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", page_folder, name);
    f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

// Each part contains its own name in brackets.
static void create_parts(void)
{
    mkdir(page_folder, 0700);
    mkdir(charts_folder, 0700);
    write_file("report.html", "<html@live@>\n@title@|@connect@\n@nonce@\n@"
                              "style@\n@data@\n@script@\nlast\n");
    for (size_t i = 0; i < sizeof(part_names) / sizeof(*part_names); i++) {
        char text[64];

        snprintf(text, sizeof(text), "[%s]", part_names[i]);
        write_file(part_names[i], text);
    }
}

static struct sb_page_parts parts(void)
{
    return (
        struct sb_page_parts){ .page = page_folder, .charts = charts_folder };
}

// Writes a page into static memory; NULL if that failed.
static const char *page_of(const struct sb_page_parts *p, struct sb_err *err)
{
    static char *text;
    size_t size = 0;
    FILE *out;
    int rc;

    free(text);
    text = NULL;
    out = open_memstream(&text, &size);
    rc = sb_page_write(out, p, err);
    fclose(out);
    return rc ? NULL : text;
}

static struct sb_page_doc doc_of(const char *name, const char *text)
{
    return (struct sb_page_doc){ .name = name,
        .file = fmemopen((void *)(uintptr_t)text, strlen(text), "r") };
}

static bool in_order(const char *text, const char *const *parts_, size_t n)
{
    for (size_t i = 0; text && i < n; i++) {
        text = strstr(text, parts_[i]);
        if (!text)
            printf("# %s is missing or too early\n", parts_[i]);
    }
    return text != NULL;
}

static void all_parts_in_order(void)
{
    static const char *const order[] = { "<html>", "sysbench|'none'",
        "<style nonce=\"", "[lib/uPlot.min.css]", "[report.css]", "</style>",
        "<script nonce=\"", "[lib/uPlot.iife.min.js]", "[data.js]",
        "[format.js]", "[charts.js]", "[heat.js]", "[sections.js]",
        "[workloads.js]", "[beside.js]", "[compare.js]", "[history.js]",
        "[sweep.js]", "[live.js]", "[report.js]", "</script>", "last\n" };
    struct sb_page_parts p = parts();
    struct sb_err err = { 0 };
    const char *text = page_of(&p, &err);

    CHECK_STR(err.msg, "");
    CHECK(in_order(text, order, sizeof(order) / sizeof(*order)));
    CHECK(!strstr(text, "data-live"));
}

// Copies the constant of the policy, the line after the title.
static void nonce_of(const char *text, char out[33])
{
    const char *line = text ? strstr(text, "'none'\n") : NULL;

    CHECK(line && strspn(line + 7, "0123456789abcdef") == 32);
    snprintf(out, 33, "%s", line ? line + 7 : "");
}

// A result cannot contain the constant that lets scripts run.
static void each_page_has_its_own_nonce(void)
{
    struct sb_page_parts p = parts();
    struct sb_err err = { 0 };
    char first[33], second[33], tag[64];
    const char *text = page_of(&p, &err);

    nonce_of(text, first);
    snprintf(tag, sizeof(tag), "<script nonce=\"%s\">", first);
    CHECK(text && strstr(text, tag));
    nonce_of(page_of(&p, &err), second);
    CHECK(strcmp(first, second) != 0);
}

static void live_page(void)
{
    struct sb_page_parts p = parts();
    struct sb_err err = { 0 };
    const char *text;

    p.live = true;
    p.title = "a <b> & \"c\"";
    text = page_of(&p, &err);
    CHECK(text && strstr(text, "<html data-live=\"\">"));
    CHECK(strstr(text, "a &lt;b&gt; &amp; &quot;c&quot;|'self'"));
}

static void documents(void)
{
    struct sb_page_doc docs[] = { doc_of("a.json", "{\"runs\":[]}"),
        doc_of("\"><script>", "[\"</script><!--<script>\"]"),
        doc_of(NULL, "{}") };
    struct sb_page_parts p = parts();
    struct sb_err err = { 0 };
    const char *text;

    docs[1].side = "B";
    docs[2].kind = "comparison";
    p.docs = docs;
    p.ndocs = 3;
    text = page_of(&p, &err);
    CHECK(text &&
          strstr(text, "<script type=\"application/json\" class=\"result\" "
                       "data-name=\"a.json\">{\"runs\":[]}</script>"));
    CHECK(strstr(text, "class=\"result\" data-side=\"B\" "
                       "data-name=\"&quot;&gt;&lt;script&gt;\">"
                       "[\"\\u003c/script>\\u003c!--\\u003cscript>\"]"
                       "</script>"));
    CHECK(strstr(text, "class=\"comparison\" data-name=\"\">{}</script>"));
    for (size_t i = 0; i < 3; i++)
        fclose(docs[i].file);
}

// Percentiles say what the page shows of an operation. A run keeps its
// histogram, and so does an operation without percentiles.
static void histograms_of_operations_are_left_out(void)
{
    static const char operation[] =
        "{\"latency\":{\"p\":\"]\\\"\",\"percentiles\":{\"50\":1},"
        "\"histogram\":[[1,2,3],[4,5,6]],\"x\":1}}";
    static const char thin[] =
        "{\"latency\":{\"p\":\"]\\\"\",\"percentiles\":{\"50\":1},"
        "\"histogram\":[],\"x\":1}}";
    static const char old[] = "{\"latency\":{\"histogram\":[[1,2,3]]}}";
    static const char run[] =
        "{\"latency\":{\"percentiles\":{\"50\":1},\"histogram\":[[7,8,9]]}";
    const size_t n = 5000; // longer than the buffers
    struct sb_page_parts p = parts();
    struct sb_page_doc doc;
    struct sb_err err = { 0 };
    struct sb_buf b = { 0 }, want = { 0 };
    const char *page;

    sb_buf_addf(&b, "{\"runs\":[%s,\"operations\":[%s", run, old);
    sb_buf_addf(&want, "{\"runs\":[%s,\"operations\":[%s", run, old);
    for (size_t i = 0; i < n; i++) {
        sb_buf_addf(&b, ",%s", operation);
        sb_buf_addf(&want, ",%s", thin);
    }
    sb_buf_addf(&b, "]}]}");
    sb_buf_addf(&want, "]}]}</script>");
    doc = doc_of("a", b.data);
    p.docs = &doc;
    p.ndocs = 1;
    p.several = true;
    page = page_of(&p, &err);
    CHECK(page && strstr(page, want.data));
    fclose(doc.file);
    sb_buf_done(&b);
    sb_buf_done(&want);
}

// Buckets of several runs are joined up to a width of 1 %.
static void histograms_of_several_runs_have_wide_buckets(void)
{
    static const char run[] =
        "{\"runs\":[{\"latency\":{\"percentiles\":{},\"histogram\":"
        "[[0,0,1],[1,1,2],[1000,1003,3],[1004,1007,4],[1008,1010,1],"
        "[1011,1015,5]]}},{\"latency\":{\"percentiles\":{},\"histogram\":[]}}]"
        "}";
    static const char want[] =
        "{\"runs\":[{\"latency\":{\"percentiles\":{},\"histogram\":"
        "[[0,0,1],[1,1,2],[1000,1010,8],[1011,1015,5]]}},{\"latency\":{"
        "\"percentiles\":{},\"histogram\":[]}}]}</script>";
    struct sb_page_parts p = parts();
    struct sb_page_doc doc = doc_of("a", run);
    struct sb_err err = { 0 };
    const char *page;

    p.docs = &doc;
    p.ndocs = 1;
    page = page_of(&p, &err);
    CHECK(page && strstr(page, run));
    rewind(doc.file);
    p.several = true;
    page = page_of(&p, &err);
    CHECK(page && strstr(page, want));
    fclose(doc.file);
}

// A document that is longer than the buffers, with "<" at every place.
static void long_document(void)
{
    const size_t n = 200001;
    char *text = malloc(n + 1);
    struct sb_page_parts p = parts();
    struct sb_page_doc doc;
    struct sb_err err = { 0 };
    const char *page;
    size_t found = 0;

    memset(text, '<', n);
    text[n] = '\0';
    doc = doc_of("x", text);
    p.docs = &doc;
    p.ndocs = 1;
    page = page_of(&p, &err);
    // One call of strstr(): with asan, each reads the whole page.
    const char *s = page ? strstr(page, "\\u003c") : NULL;
    while (s && strncmp(s, "\\u003c", 6) == 0) {
        s += 6;
        found++;
    }
    CHECK_INT(found, n);
    fclose(doc.file);
    free(text);
}

static void missing_files(void)
{
    struct sb_page_parts p = parts();
    struct sb_err err = { 0 };

    CHECK_INT(sb_page_check(&p, &err), 0);
    p.charts = "parts/none";
    CHECK_INT(sb_page_check(&p, &err), SB_ENOTFOUND);
    CHECK_STR(err.msg, "the charts library is missing "
                       "(parts/none/uPlot.min.css): third_party/get-charts in "
                       "the source tree downloads it; then run make install "
                       "again");
    CHECK(!page_of(&p, &err));
    p = parts();
    p.page = "none";
    CHECK_INT(sb_page_check(&p, &err), SB_ENOTFOUND);
    CHECK_STR(err.msg, "none/report.html: No such file or directory");
}

static void cannot_write(void)
{
    FILE *full = fopen("/dev/full", "w");
    struct sb_page_parts p = parts();
    struct sb_err err = { 0 };

    if (!full)
        return;
    setvbuf(full, NULL, _IONBF, 0);
    CHECK_INT(sb_page_write(full, &p, &err), SB_ESYS);
    CHECK_STR(err.msg, "the page cannot be written: No space left on device");
    fclose(full);
}

static void wrong_template(void)
{
    struct sb_page_parts p = parts();
    struct sb_err err = { 0 };

    write_file("report.html", "a@b.org @nothing@\n");
    CHECK(!page_of(&p, &err));
    CHECK_STR(err.msg, "report.html: unknown part @b.org @");
    create_parts();
}

// In the real files, nothing ends their element too early.
static void real_files(void)
{
    const char *top = getenv("SB_SRCDIR");
    char folder[4096], path[4200];
    static char text[1 << 18];

    if (!top)
        return;
    snprintf(folder, sizeof(folder), "%s/src/out/page", top);
    for (size_t i = 0; i < sizeof(part_names) / sizeof(*part_names); i++) {
        FILE *f;
        size_t n;

        if (strncmp(part_names[i], "lib/", 4) == 0)
            snprintf(path, sizeof(path), "%s/third_party/charts/%s", top,
                part_names[i] + 4);
        else
            snprintf(path, sizeof(path), "%s/%s", folder, part_names[i]);
        f = fopen(path, "r");
        if (!f && strncmp(part_names[i], "lib/", 4) == 0)
            continue;
        CHECK(f);
        n = fread(text, 1, sizeof(text) - 1, f);
        text[n] = '\0';
        CHECK(n > 0 && n < sizeof(text) - 1);
        CHECK(!strstr(text, "</script") && !strstr(text, "</style"));
        CHECK(!strstr(text, "<!--"));
        fclose(f);
    }
}

static int write_page(int argc, char **argv)
{
    struct sb_page_doc docs[64];
    struct sb_page_parts p = {
        .page = argv[1], .charts = argv[2], .docs = docs
    };
    struct sb_err err = { 0 };

    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--live") == 0)
            p.live = true;
        else if (p.ndocs < 64)
            docs[p.ndocs++] = (struct sb_page_doc){ .name = argv[i],
                .file = fopen(argv[i], "r") };
    }
    if (sb_page_write(stdout, &p, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    return 0;
}

CHECK_FILE
{
    if (argc > 2)
        return write_page(argc, argv);
    check_folder();
    create_parts();
    RUN(all_parts_in_order);
    RUN(each_page_has_its_own_nonce);
    RUN(live_page);
    RUN(documents);
    RUN(histograms_of_operations_are_left_out);
    RUN(histograms_of_several_runs_have_wide_buckets);
    RUN(long_document);
    RUN(missing_files);
    RUN(cannot_write);
    RUN(wrong_template);
    RUN(real_files);
    return check_done();
}
