// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/assert.h"

#include <stdlib.h>
#include <string.h>

#include "out/reporter.h"
#include "out/target.h"

#define REPLACEMENT "\xef\xbf\xbd" // U+FFFD

// Escaping --------------------------------------------------------------------

// The length of the character at p, 0 if it is no UTF-8; *code is its number.
static size_t decode(const unsigned char *p, uint32_t *code)
{
    static const uint32_t first[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = *p < 0x80   ? 1
                 : *p < 0xc0 ? 0
                 : *p < 0xe0 ? 2
                 : *p < 0xf0 ? 3
                 : *p < 0xf8 ? 4
                             : 0;

    if (len == 0)
        return 0;
    *code = len == 1 ? *p : *p & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (p[i] & 0x3f);
    }
    return *code < first[len] || *code > 0x10ffff ? 0 : len;
}

static bool is_allowed(uint32_t code)
{
    return code == '\t' || code == '\n' || code == '\r' ||
           (code >= ' ' && code != 0xfffe && code != 0xffff &&
               (code < 0xd800 || code > 0xdfff));
}

void sb_junit_escape(struct sb_buf *out, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    while (*p) {
        uint32_t code = 0;
        size_t len = decode(p, &code);

        if (len == 0 || !is_allowed(code))
            sb_buf_adds(out, REPLACEMENT);
        else if (code < ' ' || (code >= 0x7f && code < 0xa0) ||
                 (code < 0x7f && strchr("&<>\"'", (int)code)))
            sb_buf_addf(out, "&#%u;", (unsigned)code);
        else
            sb_buf_add(out, p, len);
        p += len ? len : 1;
    }
}

// Adds  name="value".
static void attribute(struct sb_buf *b, const char *name, const char *value)
{
    sb_buf_addf(b, " %s=\"", name);
    sb_junit_escape(b, value);
    sb_buf_adds(b, "\"");
}

// The document ----------------------------------------------------------------

static void add_date(struct sb_buf *b, const struct timespec *started)
{
    char date[32];
    struct tm tm;

    // Times with a zone are not in the schema.
    if (gmtime_r(&started->tv_sec, &tm) &&
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
        attribute(b, "timestamp", date);
}

static void add_case(
    struct sb_buf *b, const char *test, const char *name, double seconds)
{
    sb_buf_adds(b, "    <testcase");
    attribute(b, "classname", test);
    attribute(b, "name", name);
    sb_buf_addf(b, " time=\"%.3f\"", seconds);
}

// Ends a test case with a failure or an error.
static void add_problem(struct sb_buf *b, const char *element, const char *type,
    const char *message)
{
    sb_buf_addf(b, ">\n      <%s", element);
    attribute(b, "type", type);
    attribute(b, "message", message);
    sb_buf_adds(b, "/>\n    </testcase>\n");
}

static void add_limit(
    struct sb_buf *b, const struct sb_limit *l, const char *test)
{
    const struct sb_verdict *v = &l->verdict;
    char value[64], message[512];

    add_case(b, test, l->text, 0);
    sb_assert_value(l, value, sizeof(value));
    if (v->passed) {
        sb_buf_adds(b, ">\n      <system-out>measured: ");
        sb_junit_escape(b, value);
        sb_buf_adds(b, "</system-out>\n    </testcase>\n");
        return;
    }
    snprintf(message, sizeof(message),
        "measured: %s%s%s%s; the limit is %.200s", value, *v->why ? " (" : "",
        v->why, *v->why ? ")" : "", l->text);
    add_problem(b, "failure", "limit", message);
}

static void add_verdict(
    struct sb_buf *b, const struct sb_own_verdict *v, const char *test)
{
    char name[2 * SB_ANSWER_NAME], message[sizeof(v->text) + 20];

    add_case(b, test, sb_answer_full_name(name, v->workload, v->name), 0);
    if (v->passed == SB_PASSED_YES) {
        sb_buf_adds(b, ">\n      <system-out>");
        sb_junit_escape(b, v->text);
        sb_buf_adds(b, "</system-out>\n    </testcase>\n");
        return;
    }
    snprintf(message, sizeof(message), "%s%s",
        v->passed == SB_PASSED_UNKNOWN ? "unknown: " : "", v->text);
    add_problem(b, "failure", "verdict", message);
}

int sb_junit_write(struct sb_buf *b, const struct sb_junit_run *run,
    const struct sb_asserts *limits, const struct sb_answers *answers)
{
    unsigned n = limits ? limits->n : 0;
    unsigned verdicts = answers ? answers->nverdicts : 0;
    unsigned failed = (limits ? sb_asserts_failed(limits) : 0) +
                      (answers ? sb_answers_failed(answers) : 0);

    sb_buf_adds(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                   "<testsuites>\n  <testsuite");
    attribute(b, "name", "sysbench");
    sb_buf_addf(b,
        " tests=\"%u\" failures=\"%u\" errors=\"%d\" skipped=\"0\" "
        "time=\"%.3f\"",
        n + verdicts + 1, failed, run->failure != NULL, run->seconds);
    add_date(b, &run->started);
    if (*run->host)
        attribute(b, "hostname", run->host);
    sb_buf_adds(b, ">\n");
    add_case(b, run->test, "run", run->seconds);
    if (run->failure)
        add_problem(b, "error", run->reason, run->failure);
    else
        sb_buf_adds(b, "/>\n");
    for (unsigned i = 0; i < n; i++)
        add_limit(b, &limits->limit[i], run->test);
    for (unsigned i = 0; i < verdicts; i++)
        add_verdict(b, &answers->verdict[i], run->test);
    sb_buf_adds(b, "  </testsuite>\n</testsuites>\n");
    return b->failed ? SB_ENOMEM : 0;
}

// --report=junit=FILE ---------------------------------------------------------

struct junit {
    struct sb_target target;
    double seconds;
};

static int junit_open(struct sb_reporter *r, struct sb_err *err)
{
    struct junit *j = calloc(1, sizeof(*j));

    r->data = j;
    if (!j)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return sb_target_open(
        &j->target, r->target, SB_TARGET_WHOLE | r->chosen, err);
}

static int junit_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct junit *j = r->data;

    (void)err;
    j->seconds = whole->total_s;
    return 0;
}

// A limit that ended the run is a failure of that limit only.
static const char *failure_of(const struct sb_outcome *o)
{
    if (o->failure)
        return o->failure;
    if (strcmp(o->reason, "signal") == 0)
        return "the run was interrupted";
    if (strcmp(o->reason, "forced") == 0)
        return "the run was ended by force";
    if (o->unwritten)
        return "the run itself was successful, but a report could not be "
               "written completely";
    // For example, a report hook of the script failed.
    if (o->status != 0 && o->status != SB_STATUS_LIMITS)
        return "the run failed";
    return NULL;
}

static int junit_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct junit *j = r->data;
    const struct sb_junit_run run = {
        .test = r->facts->test ? r->facts->test : "",
        .host = r->facts->host.name,
        .started = r->facts->started,
        .seconds = j->seconds,
        .reason = o->unwritten ? "report" : o->reason,
        .failure = failure_of(o),
    };
    struct sb_buf text;
    int rc = sb_target_again(&j->target, err);

    if (rc)
        return rc;
    sb_buf_init(&text, 0);
    rc = sb_junit_write(&text, &run, r->facts->limits, r->facts->answers);
    if (rc)
        sb_err_set(err, rc, "out of memory");
    else
        fwrite(text.data, 1, text.len, j->target.file);
    sb_buf_done(&text);
    return rc ? rc : sb_target_commit(&j->target, err);
}

static int junit_draft(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct junit *j = r->data;

    r->drafted = sb_target_is_replaced(&j->target);
    return r->drafted ? junit_finish(r, o, err) : 0;
}

static void junit_done(struct sb_reporter *r)
{
    struct junit *j = r->data;

    if (!j)
        return;
    sb_target_done(&j->target);
    free(j);
}

const struct sb_reporter_kind sb__junit_kind = {
    .name = "junit",
    .target = "FILE",
    .form = SB_REPORT_DOCUMENT,
    .open = junit_open,
    .final = junit_final,
    .draft = junit_draft,
    .finish = junit_finish,
    .done = junit_done,
};
