// SPDX-License-Identifier: GPL-2.0-or-later
#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "check_folder.h"
#include "out/reporter.h"

// Intervals. Sanitizers keep what was freed.
#define MINUTES 2000
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DAY 4000
#else
#define DAY 86400
#endif

static int init(struct sb_reporters *rs, const char *const *list, size_t n,
    struct sb_err *err)
{
    const struct sb_report_opts o = { .report = { list, n } };

    return sb_reporters_init(rs, &o, err);
}

#define INIT(rs, err, ...)                         \
    init(rs, (const char *const[]){ __VA_ARGS__ }, \
        sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), err)

static void list_is_parsed(void)
{
    struct sb_reporters rs;
    struct sb_err err = { 0 };

    CHECK_INT(INIT(&rs, &err, "text"), 0);
    CHECK_INT(rs.n, 0);
    CHECK(!rs.no_text);
    CHECK_INT(INIT(&rs, &err, "none", "json=a=b.json", "csv=c"), 0);
    CHECK(rs.no_text);
    CHECK(!rs.omitted);
    CHECK_INT(rs.n, 2);
    CHECK_STR(rs.item[0].kind->name, "json");
    CHECK_STR(rs.item[0].target, "a=b.json");
    CHECK_STR(rs.item[1].kind->name, "csv");
}

// Another report on standard output omits the text, unless it is named.
static void text_makes_room(void)
{
    struct sb_reporters rs;
    struct sb_err err = { 0 };

    CHECK_INT(INIT(&rs, &err, "json=a.json", "csv=-"), 0);
    CHECK(rs.no_text && rs.omitted);
    CHECK_INT(INIT(&rs, &err, "json=/dev/stdout"), 0);
    CHECK(rs.no_text && rs.omitted);
    CHECK_INT(INIT(&rs, &err, "json=-", "text"), 0);
    CHECK(!rs.no_text && !rs.omitted);
    CHECK_INT(INIT(&rs, &err, "none", "json=-"), 0);
    CHECK(rs.no_text && !rs.omitted);
}

static void errors_name_the_report(void)
{
    struct sb_reporters rs;
    struct sb_err err = { 0 };

    CHECK_INT(INIT(&rs, &err, "xml=a"), SB_EUSAGE);
    CHECK(strstr(err.msg, "unknown report 'xml' (must be one of text, none, "
                          "json, "));
    CHECK_INT(INIT(&rs, &err, "json"), SB_EUSAGE);
    CHECK_STR(err.msg, "--report=json: the target is missing: write json=FILE");
    CHECK_INT(INIT(&rs, &err, "json="), SB_EUSAGE);
    CHECK_INT(INIT(&rs, &err, "json=a", "csv=a"), SB_EUSAGE);
    CHECK_STR(err.msg, "--report: two reports cannot be written to 'a'");
}

// The help of --report has each of them, with its target: completion of command
// lines reads them there.
static void help_names_every_report(void)
{
    const char *help = sb_report_opt_table.opts[0].help;
    char names[sizeof(((struct sb_err *)0)->msg)], *end, *name, *rest;
    struct sb_reporters rs;
    struct sb_err err = { 0 };
    int n = 0;

    CHECK_STR(sb_report_opt_table.opts[0].name, "report");
    CHECK_INT(INIT(&rs, &err, "xml=a"), SB_EUSAGE);
    snprintf(names, sizeof(names), "%s", strstr(err.msg, "none, ") + 6);
    end = strchr(names, ')');
    CHECK(end != NULL);
    *end = '\0';
    for (name = strtok_r(names, ", ", &rest); name;
         name = strtok_r(NULL, ", ", &rest), n++) {
        INIT(&rs, &err, name); // "...: write json=FILE"
        const char *example = strstr(err.msg, "write ");

        if (example)
            CHECK(strstr(help, example + 6));
    }
    CHECK(n >= 8);
}

static void labels_have_keys(void)
{
    const char *const good[] = { "a=b", "c=" }, *const bad[] = { "=b" };
    struct sb_report_opts o = { .labels = { good, 2 } };
    struct sb_reporters rs;
    struct sb_err err = { 0 };

    CHECK_INT(sb_reporters_init(&rs, &o, &err), 0);
    o.labels = (struct sb_opt_list){ bad, 1 };
    CHECK_INT(sb_reporters_init(&rs, &o, &err), SB_EUSAGE);
    CHECK_STR(err.msg, "--label: '=b' is not of the form KEY=VALUE");
}

// What becomes of a report ----------------------------------------------------

// Calls of a reporter, and what its interval() and final() return.
struct calls {
    int intervals, finals, finishes, number, status;
    int interval_rc, final_rc, finish_rc;
};

static int finished; // reporters

static int fake_open(struct sb_reporter *r, struct sb_err *err)
{
    (void)r;
    (void)err;
    return 0;
}

static int result(int rc, struct sb_err *err)
{
    return rc ? sb_err_set(err, rc, "no") : 0;
}

static int fake_interval(struct sb_reporter *r, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err)
{
    struct calls *c = r->data;

    (void)report;
    (void)row;
    c->intervals++;
    return result(c->interval_rc, err);
}

static int fake_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct calls *c = r->data;

    (void)whole;
    c->finals++;
    return result(c->final_rc, err);
}

static int fake_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct calls *c = r->data;

    c->finishes++;
    c->number = ++finished;
    c->status = o->status;
    return result(c->finish_rc, err);
}

static void fake_done(struct sb_reporter *r)
{
    (void)r;
}

#define FAKE(f)                                                                \
    {                                                                          \
        .name = "fake", .form = (f), .open = fake_open,                        \
        .interval = fake_interval, .final = fake_final, .finish = fake_finish, \
        .done = fake_done                                                      \
    }

static const struct sb_reporter_kind lines = FAKE(SB_REPORT_LINES),
                                     document = FAKE(SB_REPORT_DOCUMENT),
                                     view = FAKE(SB_REPORT_VIEW);

// A run of three intervals with a view, a document and lines, in this order.
static void perform(struct sb_reporters *rs, struct calls c[3])
{
    static const struct sb_facts facts;
    const struct sb_outcome o = { .reason = "limit" };
    struct sb_snap snap = { 0 };
    struct sb_report r;
    struct sb_err err = { 0 };

    *rs = (struct sb_reporters){ .n = 3,
        .item = { { .kind = &view, .data = &c[0] },
            { .kind = &document, .data = &c[1] },
            { .kind = &lines, .data = &c[2] } } };
    finished = 0;
    CHECK_INT(sb_reporters_open(rs, &facts, &err), 0);
    sb_report_fill(&r, &snap, 1, false, 1);
    for (int i = 0; i < 3; i++) {
        sb_reporters_row(rs, &r);
        sb_reporters_interval(rs, &r);
    }
    r.whole = &snap;
    sb_reporters_final(rs, &r);
    sb_reporters_finish(rs, &o);
}

static void end(struct sb_reporters *rs)
{
    sb_reporters_done(rs);
}

static void lines_finish_first_and_views_last(void)
{
    struct calls c[3] = { { 0 } };
    struct sb_reporters rs;

    perform(&rs, c);
    CHECK_INT(c[2].number, 1);
    CHECK_INT(c[1].number, 2);
    CHECK_INT(c[0].number, 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(c[i].status, 0);
    CHECK_INT(sb_reporters_status(&rs, 0), 0);
    end(&rs);
}

static void lost_intervals_end_lines_only(void)
{
    struct calls c[3] = { { .interval_rc = SB_ESYS },
        { .interval_rc = SB_ESYS }, { .interval_rc = SB_ESYS } };
    struct sb_reporters rs;

    perform(&rs, c);
    CHECK_INT(c[0].intervals, 3);
    CHECK_INT(c[1].intervals, 3);
    CHECK_INT(c[2].intervals, 1);
    CHECK_INT(c[0].finals + c[1].finals, 2);
    CHECK_INT(c[2].finals + c[2].finishes, 0);
    CHECK_INT(rs.item[0].state, SB_REPORTER_GAPS);
    CHECK_INT(rs.item[1].state, SB_REPORTER_GAPS);
    CHECK_INT(rs.item[2].state, SB_REPORTER_ENDED);
    // Reports have the status of the program.
    CHECK_INT(c[0].status, 1);
    CHECK_INT(c[1].status, 1);
    CHECK_INT(sb_reporters_status(&rs, 0), 1);
    CHECK_INT(sb_reporters_status(&rs, 3), 3);
    end(&rs);
}

static void only_views_go_on_without_totals(void)
{
    struct calls c[3] = { { .final_rc = SB_ENOMEM }, { .final_rc = SB_ENOMEM },
        { .final_rc = SB_ENOMEM } };
    struct sb_reporters rs;

    perform(&rs, c);
    CHECK_INT(c[0].finishes, 1);
    CHECK_INT(c[1].finishes, 0);
    CHECK_INT(c[2].finishes, 0);
    end(&rs);
}

static void a_late_failure_is_in_later_reports(void)
{
    struct calls c[3] = { { 0 }, { 0 }, { .finish_rc = SB_ESYS } };
    struct sb_reporters rs;

    perform(&rs, c);
    CHECK_INT(c[2].status, 0);
    CHECK_INT(c[1].status, 1);
    CHECK_INT(c[0].status, 1);
    CHECK_INT(sb_reporters_status(&rs, 0), 1);
    end(&rs);
}

// Documents on a disk that is full for a while --------------------------------

static const char *const list_json[] = { "json=r.json" };
static const struct sb_opt_list no_labels;

static void measure(struct sb_reporters *rs, unsigned i, rlim_t bytes)
{
    struct rlimit old, limit;
    struct sb_snap snap = { .c.completed = 10 + i };
    struct sb_report r;

    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = bytes < old.rlim_cur ? bytes : old.rlim_cur;
    signal(SIGXFSZ, SIG_IGN);
    sb_report_fill(&r, &snap, 1, false, i);
    sb_reporters_row(rs, &r);
    setrlimit(RLIMIT_FSIZE, &limit);
    sb_reporters_interval(rs, &r);
    setrlimit(RLIMIT_FSIZE, &old);
}

static void check_document(void)
{
    json_t *doc = json_load_file("r.json", 0, NULL);
    const json_t *run = json_array_get(json_object_get(doc, "runs"), 0);
    const json_t *intervals = json_object_get(run, "intervals");
    const json_t *rows = json_object_get(intervals, "rows");
    int completed = 0, status = 0;

    CHECK_INT(json_array_size(rows), 2);
    CHECK_NEAR(
        json_number_value(json_array_get(json_array_get(rows, 1), 0)), 5, 0);
    CHECK_INT(json_array_size(
                  json_object_get(json_object_get(run, "histograms"), "rows")),
        2);
    CHECK_INT(json_integer_value(json_object_get(intervals, "missing")), 3);
    CHECK_INT(json_unpack((json_t *)run, "{s:{s:i},s:{s:i}}", "counters",
                  "completed", &completed, "end", "status", &status),
        0);
    CHECK_INT(completed, 65);
    CHECK_INT(status, 1);
    json_decref(doc);
}

static const struct sb_facts facts = { .version = "2",
    .luajit = "",
    .test = "t",
    .command = "run",
    .labels = &no_labels };

static void a_document_keeps_its_totals(void)
{
    const struct sb_report_opts o = { .report = { list_json, 1 } };
    const struct sb_outcome outcome = { .reason = "limit" };
    struct sb_snap snap = { .c.completed = 65 };
    struct sb_reporters rs;
    struct sb_report r;
    struct sb_err err = { 0 };

    CHECK_INT(sb_reporters_init(&rs, &o, &err), 0);
    CHECK_INT(sb_reporters_open(&rs, &facts, &err), 0);
    for (unsigned i = 1; i <= 5; i++)
        measure(&rs, i, i >= 2 && i <= 4 ? 20 : RLIM_INFINITY);
    sb_report_fill(&r, &snap, 1, false, 5);
    r.whole = &snap;
    sb_reporters_final(&rs, &r);
    sb_reporters_finish(&rs, &outcome);
    sb_reporters_done(&rs);
    check_document();
}

// Bytes of memory that this process uses.
static long used_memory(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

// Adds intervals of one second with 1,000 events, reconnects, and values of
// servers, also to the whole run.
static void add_intervals(
    struct sb_reporters *rs, unsigned from, unsigned to, struct sb_snap *whole)
{
    static const char *const counter[] = { "a", "b", "c", "d", "e" };
    struct sb_snap snap = { .ns = 1000000000 };
    struct sb_report r;

    for (uint64_t ms = 1; ms <= 10; ms++)
        CHECK_INT(
            sb_hist_snap_put(&snap.service, sb_hist_index(ms * 1000000), 100),
            0);
    snap.c.completed = snap.c.started = 1000;
    for (unsigned i = from; i < to; i++) {
        snap.c.reconnects = i % 7 == 0;
        CHECK_INT(sb_hist_snap_add(&whole->service, &snap.service), 0);
        whole->ns += snap.ns;
        whole->c.completed += snap.c.completed;
        whole->c.started += snap.c.started;
        whole->c.reconnects += snap.c.reconnects;
        sb_report_fill(&r, &snap, 1, false, i + 1);
        struct sb_series *row = sb_reporters_row(rs, &r);

        CHECK(row != NULL);
        for (size_t k = 0; row && k < sizeof(counter) / sizeof(counter[0]); k++)
            sb_series_set(row, "server", counter[k], "value", "/s", i * k / 3.);
        sb_reporters_interval(rs, &r);
    }
    sb_hist_snap_done(&snap.service);
}

// The lines of a file that contain a text.
static unsigned lines_with(const char *file, const char *text)
{
    FILE *f = fopen(file, "r");
    char *line = NULL;
    size_t size = 0;
    unsigned n = 0;

    CHECK(f != NULL);
    while (f && getline(&line, &size, f) > 0)
        n += strstr(line, text) != NULL;
    free(line);
    if (f)
        fclose(f);
    return n;
}

// Rows and totals of the day agree.
static void check_day(const struct sb_snap *whole)
{
    json_t *doc = json_load_file("day.json", 0, NULL);
    json_t *run = json_array_get(json_object_get(doc, "runs"), 0), *row;
    const json_t *intervals = json_object_get(run, "intervals");
    const json_t *columns = json_object_get(intervals, "columns");
    double events = 0, reconnects = 0;
    size_t i, events_at = 0, reconnects_at = 0;

    json_array_foreach(columns, i, row)
    {
        const char *figure = json_string_value(json_object_get(row, "figure"));

        if (strcmp(figure, "events") == 0)
            events_at = i;
        else if (strcmp(figure, "reconnects") == 0)
            reconnects_at = i;
    }
    json_array_foreach(json_object_get(intervals, "rows"), i, row)
    {
        events += json_number_value(json_array_get(row, events_at));
        reconnects += json_number_value(json_array_get(row, reconnects_at));
    }
    CHECK_INT(i, DAY);
    CHECK_NEAR(events, (double)whole->c.completed, 0.01);
    CHECK_NEAR(reconnects, (double)whole->c.reconnects, 0.01);
    json_decref(doc);
    CHECK_INT(lines_with("day.csv", ",run,,"), DAY);
    CHECK_INT(lines_with("day.ndjson", "{\"line\":\"interval\""), DAY);
    CHECK_INT(lines_with("day.hdr", "HISTF"), DAY);
}

// Rows are kept in files, so a day needs no more memory than some minutes. Rows
// and histograms of this day in memory would be some 12 MB.
static void a_day_needs_no_more_memory(void)
{
    static const char *const day[] = { "json=day.json", "csv=day.csv",
        "ndjson=day.ndjson", "hdr=day.hdr", "hgrm=day.hgrm", "junit=day.xml" };
    const struct sb_report_opts o = { .report = {
                                          day, sizeof(day) / sizeof(day[0]) } };
    const struct sb_outcome outcome = { .reason = "limit" };
    struct sb_snap whole = { 0 };
    struct sb_reporters rs;
    struct sb_report r;
    struct sb_err err = { 0 };

    CHECK_INT(sb_reporters_init(&rs, &o, &err), 0);
    CHECK_INT(sb_reporters_open(&rs, &facts, &err), 0);
    add_intervals(&rs, 0, MINUTES, &whole);
    long before = used_memory();

    CHECK(before > 0);
    add_intervals(&rs, MINUTES, DAY, &whole);
    if (DAY == 86400)
        CHECK(used_memory() - before < 2000000);
    CHECK_INT(rs.rows.intervals.lines, DAY);
    sb_report_fill(&r, &whole, DAY, false, DAY);
    r.whole = &whole;
    sb_reporters_final(&rs, &r);
    sb_reporters_finish(&rs, &outcome);
    CHECK(!rs.failed);
    sb_reporters_done(&rs);
    check_day(&whole);
    sb_hist_snap_done(&whole.service);
}

CHECK_FILE
{
    check_folder();
    RUN(list_is_parsed);
    RUN(text_makes_room);
    RUN(errors_name_the_report);
    RUN(help_names_every_report);
    RUN(labels_have_keys);
    RUN(lines_finish_first_and_views_last);
    RUN(lost_intervals_end_lines_only);
    RUN(only_views_go_on_without_totals);
    RUN(a_late_failure_is_in_later_reports);
    RUN(a_document_keeps_its_totals);
    RUN(a_day_needs_no_more_memory);
    return check_done();
}
