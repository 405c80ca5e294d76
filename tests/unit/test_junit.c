// SPDX-License-Identifier: GPL-2.0-or-later
//
// tests/cli/limits.t reads documents with an XML parser.
// Not with tsan: one thread.
#include "out/assert.h"

#include "check.h"

static void check_escaped(const char *text, const char *want)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_buf_adds(&b, "");
    sb_junit_escape(&b, text);
    CHECK_STR(b.data, want);
    sb_buf_done(&b);
}

#define BAD "\xef\xbf\xbd"

static void text_is_escaped(void)
{
    check_escaped("", "");
    check_escaped("p99 plain ~", "p99 plain ~");
    check_escaped("a<b>&\"c'", "a&#60;b&#62;&#38;&#34;c&#39;");
    check_escaped("a\tb\nc\rd", "a&#9;b&#10;c&#13;d");
    check_escaped("\x01\x1b[0m\x7f", BAD BAD "[0m&#127;");
    check_escaped("\xc2\x85", "&#133;");
    check_escaped("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
        "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    check_escaped("\xc4\xa6", "\xc4\xa6"); // U+0126: its low byte is &
}

static void wrong_bytes_are_replaced(void)
{
    check_escaped("\xff", BAD);
    check_escaped("\x80z", BAD "z");
    check_escaped("\xc3(", BAD "(");    // no second byte
    check_escaped("\xe2\x82", BAD BAD); // cut off
    check_escaped("\xc0\xaf", BAD BAD); // too long for its number
    check_escaped("\xe0\x80\xaf", BAD BAD BAD);
    check_escaped("\xed\xa0\x80", BAD);                 // half of a pair
    check_escaped("\xef\xbf\xbe", BAD);                 // U+FFFE
    check_escaped("\xf4\x90\x80\x80", BAD BAD BAD BAD); // beyond U+10FFFF
}

static struct sb_junit_run run_of(const char *failure)
{
    return (struct sb_junit_run){
        .test = "oltp_read_only",
        .host = "load<1>",
        .started = { .tv_sec = 1790000000 },
        .seconds = 60.0004,
        .reason = failure ? "failed" : "limit",
        .failure = failure,
    };
}

static void check_document(const struct sb_junit_run *run,
    const struct sb_asserts *limits, const char *want)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    CHECK_INT(sb_junit_write(&b, run, limits, NULL), 0);
    CHECK_STR(b.data, want);
    sb_buf_done(&b);
}

#define SUITE(counts)                                                   \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                      \
    "<testsuites>\n"                                                    \
    "  <testsuite name=\"sysbench\" " counts                            \
    " skipped=\"0\" time=\"60.000\" timestamp=\"2026-09-21T14:13:20\" " \
    "hostname=\"load&#60;1&#62;\">\n"                                   \
    "    <testcase classname=\"oltp_read_only\" name=\"run\" time=\"60.000\""
#define END "  </testsuite>\n</testsuites>\n"

static void a_run_is_a_test_case(void)
{
    struct sb_junit_run run = run_of(NULL);

    check_document(&run, NULL,
        SUITE("tests=\"1\" failures=\"0\" errors=\"0\"") "/>\n" END);
    run = run_of("all 3 events failed: <x>");
    check_document(&run, NULL,
        SUITE(
            "tests=\"1\" failures=\"0\" errors=\"1\"") ">\n"
                                                       "      <error "
                                                       "type=\"failed\" "
                                                       "message=\"all 3 events "
                                                       "failed: "
                                                       "&#60;x&#62;\"/>\n"
                                                       "    </testcase>\n" END);
}

static void limits_are_test_cases(void)
{
    struct sb_junit_run run = run_of(NULL);
    struct sb_snap s = { .ns = 1000000000 };
    struct sb_asserts a;
    struct sb_report r;

    s.c.completed = 10;
    s.c.err_ignored = 3;
    sb_report_fill(&r, &s, 1, false, 1);
    CHECK_INT(sb_asserts_init(&a, "tps>5,errors==0,p99<1", NULL, NULL), 0);
    sb_asserts_final(&a, &r, &(struct sb_assert_facts){ 0 });
    check_document(&run, &a,
        SUITE(
            "tests=\"4\" failures=\"2\" errors=\"0\"") "/>\n"
                                                       "    <testcase "
                                                       "classname=\"oltp_read_"
                                                       "only\" "
                                                       "name=\"tps&#62;5\" "
                                                       "time=\"0.000\">\n"
                                                       "      "
                                                       "<system-out>measured: "
                                                       "10.00 /s</system-out>\n"
                                                       "    </testcase>\n"
                                                       "    <testcase "
                                                       "classname=\"oltp_read_"
                                                       "only\" "
                                                       "name=\"errors==0\" "
                                                       "time=\"0.000\">\n"
                                                       "      <failure "
                                                       "type=\"limit\" "
                                                       "message=\"measured: 3; "
                                                       "the limit is "
                                                       "errors==0\"/>\n"
                                                       "    </testcase>\n"
                                                       "    <testcase "
                                                       "classname=\"oltp_read_"
                                                       "only\" "
                                                       "name=\"p99&#60;1\" "
                                                       "time=\"0.000\">\n"
                                                       "      <failure "
                                                       "type=\"limit\" "
                                                       "message=\"measured: no "
                                                       "value (no event "
                                                       "was completed); the "
                                                       "limit is "
                                                       "p99&#60;1\"/>\n"
                                                       "    </testcase>\n" END);
    sb_asserts_done(&a);
}

CHECK_FILE
{
    RUN(text_is_escaped);
    RUN(wrong_bytes_are_replaced);
    RUN(a_run_is_a_test_case);
    RUN(limits_are_test_cases);
    return check_done();
}
