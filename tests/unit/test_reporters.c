// SPDX-License-Identifier: GPL-2.0-or-later
#include "check.h"
#include "out/reporter.h"

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
    CHECK_INT(rs.n, 2);
    CHECK_STR(rs.item[0].kind->name, "json");
    CHECK_STR(rs.item[0].target, "a=b.json");
    CHECK_STR(rs.item[1].kind->name, "csv");
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

int main(void)
{
    RUN(list_is_parsed);
    RUN(errors_name_the_report);
    RUN(labels_have_keys);
    return check_done();
}
