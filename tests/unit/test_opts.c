// SPDX-License-Identifier: GPL-2.0-or-later
//
// Values of options and precedence of their sources. test_opts_text.c tests
// what is read and printed as text.
#include <math.h>

#include "base/log.h"
#include "check_opts.h"

static void defaults(void)
{
    begin();
    CHECK_INT(add(), 0);
    CHECK(!v.debug);
    CHECK_INT(v.threads, 1);
    CHECK_INT(v.size, 65536);
    CHECK_INT(v.time, 10000000000);
    CHECK_INT(v.delay, 0);
    CHECK_NEAR(v.ratio, 1.5, 0);
    CHECK_STR(v.host, "");
    CHECK_STR(v.password, "");
    CHECK_INT(v.ports.count, 1);
    CHECK_STR(v.ports.item[0], "3306");
    CHECK_INT(v.mode, 0);
    CHECK_STR(text_of("host"), "");
    CHECK_STR(text_of("debug"), "off");
    end();
}

static double rate_of(const char *text, int want)
{
    const struct sb_opt opt = { .name = "rate",
        .type = SB_OPT_DOUBLE,
        .min = 0,
        .max = 1e7,
        .flags = SB_OPT_RATE };
    double rate = -1;

    CHECK_INT(sb_opts_parse(o, &opt, text, &rate, &err), want);
    return rate;
}

static void rates(void)
{
    begin();
    CHECK_NEAR(rate_of("1.5k", 0), 1500, 0);
    CHECK_NEAR(rate_of("80%", 0), -80, 0);
    CHECK_NEAR(rate_of("0.5%", 0), -0.5, 0);
    CHECK(isinf(rate_of("MAX", 0)));
    rate_of("-80", SB_ERANGE);
    rate_of("20M", SB_ERANGE);
    rate_of("0%", SB_EUSAGE);
    rate_of("-1%", SB_EUSAGE);
    rate_of("x%", SB_EUSAGE);
    rate_of("%", SB_EUSAGE);
    rate_of("", SB_EUSAGE);
    rate_of("maximum", SB_EUSAGE);
    CHECK_STR(err.msg, "Invalid value for the 'rate' option: 'maximum' (must "
                       "be a number, a percentage such as 80%, or max)");
    end();
}

static void every_type(void)
{
    begin();
    give("--threads=10k");
    give("--table_size=512K");
    give("--time=1m30s");
    give("--delay=20");
    give("--ratio=-2.5e1");
    give("--host=a=b");
    give("--ports=1, 2,,3");
    give("--mode=DISABLE");
    give("--debug");
    CHECK_INT(read_args(), 0);
    CHECK_INT(add(), 0);
    CHECK_INT(v.threads, 10000);
    CHECK_INT(v.size, 524288);
    CHECK_INT(v.time, 90000000000);
    CHECK_INT(v.delay, 20000);
    CHECK_NEAR(v.ratio, -25, 0);
    CHECK_STR(v.host, "a=b");
    CHECK_INT(v.ports.count, 3);
    CHECK_STR(v.ports.item[1], "2");
    CHECK_STR(v.ports.item[2], "3");
    CHECK_INT(v.mode, 1);
    CHECK_STR(text_of("mode"), "disable");
    CHECK(v.debug);
    CHECK_STR(text_of("debug"), "on");
    CHECK_INT(sb_opts_check(o, NULL, &err), 0);
    end();
}

static void booleans(void)
{
    static const char *const on[] = { "on", "TRUE", "1", "yes" };
    static const char *const off[] = { "off", "False", "0", "no" };
    struct sb_err ignored;

    begin();
    CHECK_INT(add(), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(sb_opts_set(o, "debug", on[i], SB_SRC_CMDLINE, &err), 0);
        CHECK(v.debug);
        CHECK_INT(sb_opts_set(o, "debug", off[i], SB_SRC_CMDLINE, &err), 0);
        CHECK(!v.debug);
    }
    CHECK_INT(sb_opts_set(o, "debug", NULL, SB_SRC_CMDLINE, &err), 0);
    CHECK(v.debug);
    CHECK_INT(sb_opts_set(o, "debug", "", SB_SRC_CMDLINE, &ignored), SB_EUSAGE);
    end();
}

static void messages(void)
{
    CHECK_STR(try("--threads=x"), "Invalid value for the 'threads' option: "
                                  "'x' (must be a whole number)");
    CHECK_INT(err.code, SB_EUSAGE);
    CHECK_STR(try("--threads"), "Invalid value for the 'threads' option: '' "
                                "(must be a whole number; write "
                                "--threads=...)");
    CHECK_STR(try("--threads=0"),
        "Invalid value for the 'threads' option: '0' (the minimum is 1)");
    CHECK_INT(err.code, SB_ERANGE);
    CHECK_STR(try("--table-size=2M"),
        "Invalid value for the 'table-size' option: '2M' (the maximum is 1M)");
    CHECK_STR(try("--table-size=1"),
        "Invalid value for the 'table-size' option: '1' (the minimum is 1K)");
    CHECK_STR(try("--time=2h"),
        "Invalid value for the 'time' option: '2h' (the maximum is 1h)");
    CHECK_STR(try("--time=-1"),
        "Invalid value for the 'time' option: '-1' (the minimum is 0s)");
    CHECK_STR(try("--threads=99999999999999999999"),
        "Invalid value for the 'threads' option: '99999999999999999999' "
        "(it is too large)");
    CHECK_STR(try("--mode=x"), "Invalid value for the 'mode' option: 'x' "
                               "(must be one of auto, disable)");
    CHECK_STR(try("--debug=maybe"), "Invalid value for the 'debug' option: "
                                    "'maybe' (must be on or off)");
    CHECK_STR(try("--db-password=x"), "");
    CHECK_STR(try("--"), "invalid option: -- (a name must follow the dashes)");
    CHECK_STR(
        try("--=1"), "invalid option: --=1 (a name must follow the dashes)");
    CHECK_STR(try("-x"), "invalid option: -x (options begin with two dashes)");
    CHECK_STR(try("-"), "");
    CHECK_STR(try("-h"), "");
    begin();
    give("-h");
    CHECK_INT(read_args(), 0);
    CHECK(sb_opts_given(o, "help", false));
    end();
}

static void positionals(void)
{
    begin();
    give("cpu");
    give("--threads=3");
    give("-");
    give("");
    CHECK_INT(read_args(), 0);
    CHECK_STR(sb_opts_positional(o, 0), "cpu");
    CHECK_STR(sb_opts_positional(o, 1), "-");
    CHECK_STR(sb_opts_positional(o, 2), "");
    CHECK(!sb_opts_positional(o, 3));
    end();
}

// The result does not depend on the order in which sources are read.
static void precedence(void)
{
    for (int late = 0; late < 2; late++) {
        begin();
        if (late)
            CHECK_INT(add(), 0);
        give("--threads=4");
        give("--threads=5");
        CHECK_INT(read_args(), 0);
        CHECK_INT(env("SYSBENCH_THREADS=3", "SYSBENCH_TABLE_SIZE=2K"), 0);
        CHECK_INT(file("threads=2\ntable_size=3K\nratio=7\n"), 0);
        if (!late)
            CHECK_INT(add(), 0);
        CHECK_INT(v.threads, 5);
        CHECK_INT(v.size, 2048);
        CHECK_NEAR(v.ratio, 7, 0);
        CHECK_STR(origin_of("threads"), "");
        CHECK_STR(origin_of("table-size"), "SYSBENCH_TABLE_SIZE");
        CHECK_STR(origin_of("ratio"), "f.cnf:3");
        CHECK_INT(sb_opts_check(o, NULL, &err), 0);
        end();
    }
}

static void overridden_values_are_checked(void)
{
    begin();
    give("--threads=4");
    CHECK_INT(read_args(), 0);
    CHECK_INT(file("\nthreads=0"), 0);
    CHECK_INT(add(), SB_ERANGE);
    CHECK_STR(err.msg, "Invalid value for the 'threads' option: '0' "
                       "(the minimum is 1), set by f.cnf:2");
    end();
}

static void aliases(void)
{
    sb_log_set_level(-1);
    for (int order = 0; order < 2; order++) {
        begin();
        give(order ? "--threads=4" : "--num-threads=2");
        give(order ? "--num_threads=2" : "--threads=4");
        CHECK_INT(read_args(), 0);
        CHECK_INT(add(), 0);
        CHECK_INT(v.threads, 4);
        end();
    }
    begin();
    give("--num-threads=2");
    give("--num-threads=3");
    CHECK_INT(read_args(), 0);
    CHECK_INT(add(), 0);
    CHECK(sb_opts_given(o, "threads", false));
    CHECK_INT(file("threads=9"), 0);
    CHECK_INT(v.threads, 3);
    CHECK_STR(text_of("num_threads"), "3");
    CHECK_STR(origin_of("threads"), "num-threads");
    CHECK_INT(env("SYSBENCH_NUM_THREADS=0", NULL), SB_ERANGE);
    CHECK_STR(err.msg,
        "Invalid value for the 'num-threads' option: '0' (the minimum is 1), "
        "set by SYSBENCH_NUM_THREADS");
    end();
    sb_log_set_level(SB_LOG_NOTICE);
}

static void declared_twice(void)
{
    struct sample other;

    begin();
    CHECK_INT(add(), 0);
    CHECK_INT(sb_opts_add(o, &sample, &other, &err), SB_EINTERNAL);
    CHECK_STR(err.msg, "option 'num-threads' is declared twice");
    end();
}

static void bad_tables(void)
{
    static const struct sb_opt alias[] = {
        { "a", SB_OPT_INT, .alias_of = "b" },
        { .name = NULL },
    };
    static const struct sb_opt type[] = {
        { "d", SB_OPT_INT, .help = "" },
        { "e", SB_OPT_SIZE, .alias_of = "d" },
        { .name = NULL },
    };
    static const struct sb_opt def[] = {
        { "c", SB_OPT_INT, .def = "x" },
        { .name = NULL },
    };
    static const struct sb_opt_table tables[] = {
        { .title = "A", .opts = alias },
        { .title = "B", .opts = type },
        { .title = "C", .opts = def },
    };
    int64_t target;

    for (int i = 0; i < 3; i++) {
        begin();
        CHECK_INT(sb_opts_add(o, &tables[i], &target, &err), SB_EINTERNAL);
        CHECK_INT(err.code, SB_EINTERNAL);
        end();
    }
}

static void scripts(void)
{
    struct sb_opt_view view;

    begin();
    give("--range-size=7");
    give("--ratio=3");
    CHECK_INT(read_args(), 0);
    CHECK_INT(add(), 0);
    CHECK_INT(script("range_size", SB_OPT_INT, "100"), 0);
    CHECK_INT(script("variant", SB_OPT_STRING, NULL), 0);
    CHECK_INT(script("threads", SB_OPT_DOUBLE, "16"), 0);
    CHECK_INT(script("ratio", SB_OPT_DOUBLE, "9"), 0);
    CHECK_INT(v.threads, 16);
    CHECK_NEAR(v.ratio, 3, 0);
    CHECK(sb_opts_find(o, "range-size", &view));
    CHECK_INT(*(const int64_t *)view.value, 7);
    CHECK_STR(view.opt->name, "range_size");
    CHECK_STR(view.table->title, "x.lua options");
    CHECK(sb_opts_find(o, "variant", &view));
    CHECK_STR(*(const char *const *)view.value, "");
    CHECK(!sb_opts_given(o, "threads", false));
    CHECK_INT(script("num-threads", SB_OPT_INT, "5"), 0);
    CHECK_INT(v.threads, 5);
    CHECK_INT(script("bad", SB_OPT_INT, "x"), SB_EUSAGE);
    end();
}

static void script_before_table(void)
{
    begin();
    give("--host=h");
    CHECK_INT(read_args(), 0);
    CHECK_INT(script("threads", SB_OPT_STRING, "8"), 0);
    CHECK_INT(script("host", SB_OPT_STRING, "x"), 0);
    CHECK_INT(add(), 0);
    CHECK_INT(v.threads, 8);
    CHECK_STR(v.host, "h");
    end();
}

static void set(void)
{
    begin();
    give("--threads=4");
    CHECK_INT(read_args(), 0);
    CHECK_INT(add(), 0);
    CHECK_INT(sb_opts_set(o, "nosuch", "1", SB_SRC_FILE, &err), SB_ENOTFOUND);
    CHECK_INT(sb_opts_set(o, "threads", "2", SB_SRC_FILE, &err), 0);
    CHECK_INT(v.threads, 4);
    CHECK_INT(sb_opts_set(o, "threads", "2", SB_SRC_CMDLINE, &err), 0);
    CHECK_INT(v.threads, 2);
    CHECK_INT(sb_opts_set(o, "ratio", "2", SB_SRC_DEFAULT, &err), 0);
    CHECK_NEAR(v.ratio, 2, 0);
    CHECK(!sb_opts_given(o, "ratio", false));
    end();
}

static void overrides(void)
{
    struct sample copy;

    begin();
    CHECK_INT(add(), 0);
    copy = v;
    CHECK_INT(sb_opts_parse(o, &sample_opts[6], "h", &copy, &err), 0);
    CHECK_STR(copy.host, "h");
    CHECK_STR(v.host, "");
    CHECK_INT(sb_opts_parse(o, &sample_opts[1], "0", &copy, &err), SB_ERANGE);
    CHECK_INT(copy.threads, 1);
    CHECK_INT(
        sb_opts_parse(o, &sample_opts[0], "1", &copy, &err), SB_EINTERNAL);
    end();
}

// A value that a user gave is distinguished from an equal default.
static void given_in(enum sb_opt_source source, bool late)
{
    begin();
    if (late)
        CHECK_INT(add(), 0);
    if (source == SB_SRC_CMDLINE)
        give("--threads=1");
    CHECK_INT(read_args(), 0);
    if (source == SB_SRC_ENV)
        CHECK_INT(env("SYSBENCH_THREADS=1", NULL), 0);
    if (source == SB_SRC_FILE)
        CHECK_INT(file("threads=1"), 0);
    if (!late)
        CHECK_INT(add(), 0);
    CHECK_INT(v.threads, 1);
    CHECK_INT(v.threads_given, source != SB_SRC_DEFAULT);
    CHECK(!v.host_given);
    end();
}

static void given(void)
{
    struct sample copy;

    for (int source = SB_SRC_DEFAULT; source <= SB_SRC_CMDLINE; source++) {
        given_in((enum sb_opt_source)source, false);
        given_in((enum sb_opt_source)source, true);
    }
    sb_log_set_level(-1);
    begin();
    give("--num-threads=1");
    CHECK_INT(read_args(), 0);
    CHECK_INT(add(), 0);
    CHECK(v.threads_given);
    CHECK_INT(script("threads", SB_OPT_INT, "7"), 0);
    CHECK(v.threads_given);
    CHECK_INT(script("host", SB_OPT_STRING, "from a script"), 0);
    CHECK_STR(v.host, "from a script");
    CHECK(!v.host_given);
    CHECK_INT(sb_opts_set(o, "host", "", SB_SRC_DEFAULT, &err), 0);
    CHECK(!v.host_given);
    copy = v;
    CHECK_INT(sb_opts_parse(o, &sample_opts[6], "", &copy, &err), 0);
    CHECK(copy.host_given);
    CHECK(!v.host_given);
    end();
    sb_log_set_level(SB_LOG_NOTICE);
}

CHECK_FILE
{
    RUN(defaults);
    RUN(every_type);
    RUN(rates);
    RUN(booleans);
    RUN(messages);
    RUN(positionals);
    RUN(precedence);
    RUN(overridden_values_are_checked);
    RUN(aliases);
    RUN(declared_twice);
    RUN(bad_tables);
    RUN(scripts);
    RUN(script_before_table);
    RUN(set);
    RUN(overrides);
    RUN(given);
    return check_done();
}
