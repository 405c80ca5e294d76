// SPDX-License-Identifier: GPL-2.0-or-later
//
// Config file, secrets, unknown names, --help and --print-config.
#include <unistd.h>

#include "check_opts.h"

static void secrets(void)
{
    begin();
    give("--db-password=hunter2");
    give("--url=mongodb://joe:pw@h/x");
    give("--token=abc");
    give("--host=postgresql://h/?password=pw&x=1");
    CHECK_INT(read_args(), 0);
    CHECK_STR(args[1], "--db-password=*******");
    CHECK_STR(args[2], "--url=mongodb://joe:**@h/x");
    CHECK_STR(args[3], "--token=***");
    CHECK_STR(args[4], "--host=postgresql://h/?password=**&x=1");
    CHECK_INT(add(), 0);
    CHECK_STR(v.password, "hunter2");
    CHECK_STR(v.url, "mongodb://joe:pw@h/x");
    CHECK_STR(text_of("db-password"), "***");
    CHECK_STR(text_of("url"), "mongodb://joe:***@h/x");
    end();
}

static void late_secrets(void)
{
    static const struct sb_opt opts[] = {
        { "code", SB_OPT_INT, .flags = SB_OPT_SECRET },
        { .name = NULL },
    };
    static const struct sb_opt_table table = { .title = "Late", .opts = opts };
    int64_t code;

    begin();
    give("--code=abc");
    CHECK_INT(read_args(), 0);
    CHECK_STR(args[1], "--code=abc");
    CHECK_INT(sb_opts_add(o, &table, &code, &err), SB_EUSAGE);
    CHECK_STR(args[1], "--code=***");
    CHECK_STR(err.msg, "Invalid value for the 'code' option: '***' "
                       "(must be a whole number)");
    end();
}

static void masks(void)
{
    static const char *const cases[][2] = {
        { "", "" },
        { "plain", "plain" },
        { "a://u@h", "a://u@h" },
        { "a://u:@h", "a://u:@h" },
        { "a://:p@h", "a://:***@h" },
        { "a://u:p@q@h/@", "a://u:***@h/@" },
        { "a://u:p/q@h", "a://u:***@h" },
        // Possibly not passwords; hidden to be safe.
        { "a://h:1,[::1]:2,h/x@y", "a://h:***@y" },
        { "a://h/x?y=:z@w", "a://h/x?y=:***@w" },
        { "a://h,b://u:p@h2,c://v:q@h3", "a://h,b://u:***@h2,c://v:***@h3" },
        { "host=h password=p user=u", "host=h password=*** user=u" },
        { "Password = 'p \\' q' user=u", "Password = '***' user=u" },
        { "password=a&b user=u", "password=*** user=u" },
        { "password", "password" },
        { "password=", "password=" },
        { "mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:a/b=,X:y&z=1",
            "mongodb://h/?authMechanismProperties=***&z=1" },
        // Not passwords.
        { "a://h:1,[::1]:2/x?y=z", "a://h:1,[::1]:2/x?y=z" },
        { "a://%2Ftmp%2Fx.sock/d", "a://%2Ftmp%2Fx.sock/d" },
        { "SET @a:=1, @b:='x:y@z'", "SET @a:=1, @b:='x:y@z'" },
        { "h1:1,h2:2", "h1:1,h2:2" },
        { "host=::1 user=a@b", "host=::1 user=a@b" },
    };

    begin();
    CHECK_INT(add(), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(sb_opts_set(o, "host", cases[i][0], SB_SRC_CMDLINE, &err), 0);
        CHECK_STR(text_of("host"), cases[i][1]);
        CHECK_STR(v.host, cases[i][0]);
    }
    end();
}

// Passwords in places where users may put them by mistake, in every kind of
// text that can have one. No part of them may be shown.
static void malformed(void)
{
    static const char *const forms[] = {
        "a://u:SECRET%zz@h/",
        "a://u:SECRET@[::1/d",
        "a://u:SECRET@",
        "a://u:SECRET/d",
        "a://u:SECRET",
        "a://[::1:SECRET",
        "a://[::1]:SECRET/d",
        "a://h:1,u:SECRET",
        "a://u:x SECRET@h",
        "a://u:x SECRET",
        "a://u:x/SECRET@h/d",
        "a://u:x?SECRET@h/d",
        "a://u:x#SECRET@h/d",
        "a://u:x@SECRET@h/d",
        "a://u%3ASECRET@h/d",
        "a://u%3aSECRET%40h/d",
        "a://u%3aSECRET/d",
        "a://h/?password=SECRET%zz",
        "a://h/?password=x SECRET",
        "a://h/?password=x#SECRET&y=z",
        "a://h/?p%61ssword=SECRET",
        "a://h/?%70ASSWORD%3dSECRET",
        "a://h/?password==SECRET=x",
        "a://h/?tlsCertificateKeyFilePassword=SECRET",
        "a://h/?oauth_client_secret=SECRET",
        "a://h/?authMechanismProperties=AWS_SESSION_TOKEN%3ASECRET,X:y",
        "a://h/?x=y&authmechanismproperties=X:SECRET",
        "a://h,b://u:SECRET@h2,c://h3",
        "u:SECRET@h",
        "u:x SECRET@h",
        "u:x@SECRET@h",
        "u%3ASECRET%40h",
        "a:/u:SECRET@h",
        "a:u:SECRET@h",
        "//u:SECRET@h",
        "a://u:x://SECRET@h/d",
        "a://u@h:SECRET",
        "password=SECRET",
        "host=h pass=SECRET",
        "host=h PWD = SECRET",
        "host=h password\t=\nSECRET\nuser=u",
        "password=x\\ SECRET user=u",
        "password='x\\'SECRET",
        "password = 'SECRET",
        "Passwd=SECRET",
        "sslpassword=SECRET",
        "dbname='a://u:SECRET@h/d'",
        "dbname=a://u:x password=SECRET y@z",
        "a://u:SECRET@h password='x@SECRET'",
        "a://h/?passwordSECRET&x=y",
        "password=x SECRET user=u",
        "host=u:SECRET@h",
        "user=u host=u:SECRET@h x",
        "-x=u:x SECRET@h",
    };

    static const char *const malformed_addresses[] = {
        "a://u;SECRET@h",
        "host=h password SECRET",
        "a://h/?password=x&SECRET",
        "a://h/d a://SECRET",
        "a://h:1:SECRET",
        "host='h SECRET",
        "SECRET",
    };

    begin();
    CHECK_INT(add(), 0);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        CHECK_INT(sb_opts_set(o, "host", forms[i], SB_SRC_CMDLINE, &err), 0);
        if (strstr(text_of("host"), "SECRET"))
            CHECK_STR(text_of("host"), forms[i]);
    }
    // An option whose name says that it is a URL or a connection string.
    for (size_t i = 0;
         i < sizeof(malformed_addresses) / sizeof(malformed_addresses[0]);
         i++) {
        CHECK_INT(
            sb_opts_set(o, "url", malformed_addresses[i], SB_SRC_CMDLINE, &err),
            0);
        CHECK_STR(text_of("url"), "***");
    }
    CHECK_INT(sb_opts_set(o, "url", "host = h dbname='a b'\tuser=u",
                  SB_SRC_CMDLINE, &err),
        0);
    CHECK_STR(text_of("url"), "host = h dbname='a b'\tuser=u");
    CHECK_INT(sb_opts_set(o, "url", "a://u@h:1,[::1]:2,%2Ftmp/d?x=y&z=@w",
                  SB_SRC_CMDLINE, &err),
        0);
    CHECK_STR(text_of("url"), "***");
    CHECK_INT(sb_opts_set(o, "url", "a://u@h:1,[::1]:2,%2Ftmp/d?x=y&z=w",
                  SB_SRC_CMDLINE, &err),
        0);
    CHECK_STR(text_of("url"), "a://u@h:1,[::1]:2,%2Ftmp/d?x=y&z=w");
    end();
}

// A value that is neither a URL nor a list of settings is hidden completely.
static void neither_url_nor_settings(void)
{
    begin();
    give("--url=SECRET");
    give("--late-conninfo=me SECRET@h");
    CHECK_INT(read_args(), 0);
    CHECK_STR(args[1], "--url=******");
    CHECK_STR(args[2], "--late-conninfo=***********");
    CHECK_INT(add(), 0);
    CHECK_STR(text_of("url"), "***");
    CHECK_INT(sb_opts_set(o, "url", "a://h", SB_SRC_CMDLINE, &err), 0);
    CHECK_STR(text_of("url"), "a://h");
    CHECK_INT(sb_opts_set(o, "url", "", SB_SRC_CMDLINE, &err), 0);
    CHECK_STR(text_of("url"), "");
    end();
}

static char warned[512];

static void warn(const char *text)
{
    size_t len = strlen(warned);

    snprintf(warned + len, sizeof(warned) - len, "%s|", text);
}

static void unknown(void)
{
    begin();
    give("--table_szie=1");
    give("--nonsense");
    CHECK_INT(read_args(), 0);
    CHECK_INT(env("SYSBENCH_THREAD=1", "SYSBENCH_CONFIG_FILE=x"), 0);
    CHECK_INT(file("hots=1\nfar-from-it\n"), 0);
    CHECK_INT(add(), 0);
    warned[0] = '\0';
    CHECK_INT(sb_opts_check(o, warn, &err), SB_EUSAGE);
    CHECK_STR(
        err.msg, "invalid option: --table_szie (did you mean --table_size?)");
    CHECK_STR(warned,
        "SYSBENCH_THREAD is not an option (did you mean --threads?)|"
        "SYSBENCH_CONFIG_FILE: --config-file is only accepted on the "
        "command line|"
        "f.cnf:1: unknown option 'hots' (did you mean host?)|"
        "f.cnf:2: unknown option 'far-from-it'|");
    CHECK_STR(v.file, "");
    CHECK(!sb_opts_given(o, "config-file", false));
    end();
}

static enum sb_opts_section by_letter(void *arg, const char *name)
{
    (*(int *)arg)++;
    return name[0] == 'm'   ? SB_SECTION_MINE
           : name[0] == 'o' ? SB_SECTION_OTHER
                            : SB_SECTION_UNKNOWN;
}

static int sections(bool strict)
{
    int asked = 0;
    int rc = sb_opts_sections(o, strict, by_letter, &asked, &err);

    CHECK(asked > 0);
    return rc;
}

// Values in sections of other workloads are not parsed. Values in the
// workload's own sections take precedence, wherever the section is.
static void sections_of_workloads(void)
{
    begin();
    CHECK_INT(add(), 0);
    CHECK_INT(file("threads=1\n[mine]\nthreads=2\n[other] # "
                   "no\nthreads=x\n[mine too]\n"
                   "host=h\n[absent]\nthreads=y\n"),
        0);
    CHECK_STR(text_of("threads"), "1");
    CHECK_INT(sections(false), 0);
    CHECK_STR(text_of("threads"), "2");
    CHECK_STR(text_of("host"), "h");
    warned[0] = '\0';
    CHECK_INT(sb_opts_check(o, warn, &err), 0);
    CHECK_STR(warned,
        "f.cnf:8: unknown workload in [absent]; its settings are ignored|");
    end();
}

static void sections_are_strict(void)
{
    begin();
    CHECK_INT(add(), 0);
    CHECK_INT(file("[mine]\nhots=2\n[other]\nprot=x\n"), 0);
    CHECK_INT(sections(false), 0);
    CHECK_INT(sb_opts_check(o, warn, &err), SB_EUSAGE);
    CHECK_STR(err.msg, "f.cnf:2: unknown option 'hots' (did you mean host?)");
    end();
    begin();
    CHECK_INT(add(), 0);
    CHECK_INT(file("[other]\n[absent]\n"), 0);
    CHECK_INT(sections(true), SB_EUSAGE);
    CHECK_STR(err.msg, "f.cnf:2: unknown workload in [absent]");
    end();
}

// As in 1.0, section headers of other programs' files are ignored.
static void headers_that_name_no_workload(void)
{
    begin();
    CHECK_INT(add(), 0);
    CHECK_INT(
        file("threads=1\n[client]\nthreads=2\nhots=3\n[x]\nthreads=3\n"), 0);
    CHECK_INT(sections(false), 0);
    CHECK_STR(text_of("threads"), "3");
    warned[0] = '\0';
    CHECK_INT(sb_opts_check(o, warn, &err), 0);
    CHECK_STR(warned, "f.cnf:4: unknown option 'hots' (did you mean host?)|");
    end();
}

static void nearest(void)
{
    begin();
    CHECK_INT(add(), 0);
    CHECK_STR(sb_opts_nearest(o, "Threads"), "threads");
    CHECK_STR(sb_opts_nearest(o, "db_pasword"), "db-password");
    CHECK_STR(sb_opts_nearest(o, "rtaoi"), "ratio");
    CHECK_STR(sb_opts_nearest(o, "nmu-thraeds"), "num-threads");
    CHECK_STR(sb_opts_nearest(o, "ul"), "url");
    CHECK(!sb_opts_nearest(o, "ra"));
    CHECK(!sb_opts_nearest(o, "x"));
    CHECK(!sb_opts_nearest(o, ""));
    CHECK(!sb_opts_nearest(o, "warehouses"));
    end();
}

// A name that is not declared may contain a secret.
static void unknown_names(void)
{
    static const struct {
        const char *name, *shown, *meant;
        bool has_value;
    } cases[] = {
        { "db-passwordS", "db-password...", "db-password=...", false },
        { "DB_PasswordS", "DB_Password...", "db_password=...", true },
        { "db-pasword:S", "db-pasw...", "db-password=...", false },
        { "db-pasword", "db-pasword", "db-password", true },
        { "passwordS", "password...", "", false },
        { "password", "password", "", false },
        { "table-szie", "table-szie", "table-size", true },
        { "thread", "thread", "threads", false },
    };

    begin();
    CHECK_INT(add(), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sb_opts_unknown u;

        sb_opts_unknown(o, cases[i].name, cases[i].has_value, &u);
        CHECK_STR(u.name, cases[i].shown);
        CHECK_STR(u.meant, cases[i].meant);
    }
    end();
}

static void given(void)
{
    begin();
    give("--db-password=x");
    CHECK_INT(read_args(), 0);
    CHECK(sb_opts_given(o, "db_password", false));
    CHECK(!sb_opts_given(o, "db", false));
    CHECK(sb_opts_given(o, "db-", true));
    CHECK(!sb_opts_given(o, "mysql-", true));
    CHECK_INT(env("SYSBENCH_MYSQL_HOST=h", NULL), 0);
    CHECK(sb_opts_given(o, "mysql-", true));
    CHECK_INT(add(), 0);
    CHECK(sb_opts_given(o, "db-", true));
    CHECK(!sb_opts_given(o, "threads", false));
    end();
}

static int collect(void *arg, const char *name, const char *value,
    enum sb_opt_source source, const char *origin)
{
    size_t len = strlen(warned);

    snprintf(warned + len, sizeof(warned) - len, "%s=%s@%d%s|", name,
        value ? value : "(none)", (int)source, origin);
    return 0;
}

static void unclaimed(void)
{
    begin();
    give("--a_b=1");
    give("--threads=2");
    give("--c");
    CHECK_INT(read_args(), 0);
    CHECK_INT(env("SYSBENCH_D_E=5", "SYSBENCH_LUA_DIR=/x"), 0);
    CHECK_INT(env("SYSBENCH_CONFIG_FILE=x", NULL), 0);
    CHECK_INT(add(), 0);
    warned[0] = '\0';
    CHECK_INT(sb_opts_unclaimed(o, collect, NULL), 0);
    CHECK_STR(warned, "a_b=1@3|c=(none)@3|d-e=5@2SYSBENCH_D_E|");
    end();
}

static void file_grammar(void)
{
    begin();
    CHECK_INT(add(), 0);
    CHECK_INT(file("\xef\xbb\xbf# comment\r\n"
                   "[mysqld]\r\n"
                   "; comment\n"
                   "\n"
                   "  --threads = 4  # four\r\n"
                   "debug # on\n"
                   "host='a # b' # c\n"
                   "ports=\"1\" , '2',3\n"
                   "url=it's#1\n"
                   "db_password= \n"),
        0);
    CHECK_INT(sections(false), 0);
    CHECK_INT(v.threads, 4);
    CHECK(v.debug);
    CHECK_STR(v.host, "a # b");
    CHECK_INT(v.ports.count, 3);
    CHECK_STR(v.ports.item[1], "2");
    CHECK_STR(v.url, "it's#1");
    CHECK_STR(v.password, "");
    CHECK_INT(file("\n host='x"), SB_EUSAGE);
    CHECK_STR(err.msg, "f.cnf:2: no closing quote");
    CHECK_INT(file("host='x' y"), SB_EUSAGE);
    CHECK_STR(err.msg, "f.cnf:1: text after the closing quote");
    CHECK_INT(file("=x"), SB_EUSAGE);
    CHECK_STR(err.msg, "f.cnf:1: no option name");
    CHECK_INT(file("a b=x"), SB_EUSAGE);
    CHECK_STR(err.msg, "f.cnf:1: '=' must follow the option name");
    CHECK_INT(file(" [x"), SB_EUSAGE);
    CHECK_STR(err.msg, "f.cnf:1: no closing bracket");
    CHECK_INT(file("[x] y=1"), SB_EUSAGE);
    CHECK_STR(err.msg, "f.cnf:1: text after the closing bracket");
    CHECK_INT(file("[ ]"), SB_EUSAGE);
    CHECK_STR(err.msg, "f.cnf:1: no section name");
    CHECK_INT(sb_opts_file_text(o, "f", "a\0b", 3, &err), SB_EUSAGE);
    end();
}

static void real_file(void)
{
    char path[] = "./test_opts.XXXXXX";
    int fd = mkstemp(path);

    begin();
    CHECK(fd >= 0 && write(fd, "threads=6\n", 10) == 10);
    CHECK_INT(add(), 0);
    CHECK_INT(sb_opts_file(o, path, &err), 0);
    CHECK_INT(v.threads, 6);
    close(fd);
    unlink(path);
    CHECK_INT(sb_opts_file(o, path, &err), SB_ESYS);
    CHECK(strstr(err.msg, ": No such file or directory"));
    CHECK_INT(sb_opts_file(o, "/", &err), SB_ESYS);
    end();
}

// Returns the text of --help or --print-config, valid until the next call.
static const char *printed(bool help)
{
    static char text[4096];
    FILE *f = fmemopen(text, sizeof(text), "w");

    setenv("COLUMNS", "80", 1);
    if (help)
        sb_opts_help(o, &sample, 0, f);
    else
        sb_opts_print_config(o, f);
    fclose(f);
    return text;
}

static const char help_text[] =
    "Sample options:\n"
    "  --num-threads=N        deprecated alias for --threads [1]\n"
    "  --threads=N            number of threads to use [1]\n"
    "  --table-size=SIZE      size [64K]\n"
    "  --time=DURATION        [10]\n"
    "  --delay=DURATION       wait\n"
    "  --ratio=N              [1.5]\n"
    "  --host=STRING          server\n"
    "  --db-password=STRING   password []\n"
    "  --config-file=FILENAME settings\n"
    "  --ports=[LIST,...]     ports [3306]\n"
    "  --mode=STRING          mode {auto,disable} [auto]\n"
    "  --debug[=on|off]       more [off]\n";

static void help(void)
{
    begin();
    CHECK_STR(printed(true), help_text);
    CHECK_INT(add(), 0);
    CHECK_STR(printed(true), help_text);
    CHECK_INT(script("mode", SB_OPT_STRING, "disable"), 0);
    CHECK(strstr(printed(true), "mode {auto,disable} [disable]\n"));
    end();
}

// The part of the help about a script's options, in the order of the script.
static void script_help(void)
{
    char text[512] = "";
    FILE *f = fmemopen(text, sizeof(text), "w");
    struct sb_opt_view view;

    begin();
    setenv("COLUMNS", "80", 1);
    CHECK_INT(add(), 0);
    sb_opts_script_help(o, "x.lua options", f);
    fflush(f);
    CHECK_STR(text, "");
    CHECK_INT(script("rows", SB_OPT_DOUBLE, "10"), 0);
    CHECK_INT(script("threads", SB_OPT_DOUBLE, "3"), 0);
    CHECK_INT(script("token", SB_OPT_STRING, NULL), 0);
    CHECK_INT(script("db-pwd", SB_OPT_STRING, "secret"), 0);
    CHECK_INT(script("to", SB_OPT_STRING, "a://u:secret@h"), 0);
    CHECK_INT(script("ask-password", SB_OPT_BOOL, "on"), 0);
    sb_opts_script_help(o, "x.lua options", f);
    fclose(f);
    CHECK_STR(text, "x.lua options:\n"
                    "  --rows=N                help [10]\n"
                    "  --threads=N             help [3]\n"
                    "  --token=STRING          help\n"
                    "  --db-pwd=STRING         help [***]\n"
                    "  --to=STRING             help [a://u:***@h]\n"
                    "  --ask-password[=on|off] help [on]\n");
    CHECK(sb_opts_find(o, "threads", &view) && view.table == &sample);
    CHECK(strstr(printed(true), "number of threads to use [3]\n"));
    end();
}

static void print_config(void)
{
    const char *text;

    begin();
    give("--threads=4");
    give("--db-password=x");
    give("--host=it's # \"");
    give("--ports=1,2");
    give("--url= a://x");
    CHECK_INT(read_args(), 0);
    CHECK_INT(file("ratio=2"), 0);
    CHECK_INT(add(), 0);
    text = printed(false);
    CHECK(strncmp(text, "# Sample options\n", 17) == 0);
    CHECK(strstr(text, "\nthreads=4 "));
    CHECK(strstr(text, "# command line\n"));
    CHECK(strstr(text, "\n#db-password=*** "));
    CHECK(strstr(text, "\n#host="));
    CHECK(strstr(text, "\n#time=10 "));
    CHECK(strstr(text, "# f.cnf:1\n"));
    CHECK(!strstr(text, "num-threads"));
    end();
    begin();
    CHECK_INT(file(text), 0);
    CHECK_INT(add(), 0);
    CHECK_INT(v.threads, 4);
    CHECK_INT(v.ports.count, 2);
    CHECK_STR(v.url, " a://x");
    CHECK_NEAR(v.ratio, 2, 0);
    CHECK(!sb_opts_given(o, "time", false));
    end();
}

// Numbers given with white space that a config file cannot contain are printed
// without it, not left out.
static void print_numbers(void)
{
    const char *text;

    begin();
    give("--threads=\r7\n");
    give("--table-size= 64\rK\t");
    give("--time=30m\n5s");
    CHECK_INT(read_args(), 0);
    CHECK_INT(add(), 0);
    CHECK_STR(text_of("threads"), "7");
    CHECK_STR(text_of("table-size"), "64 K");
    CHECK_STR(text_of("time"), "30m 5s");
    text = printed(false);
    end();
    begin();
    CHECK_INT(file(text), 0);
    CHECK_INT(add(), 0);
    CHECK_INT(v.threads, 7);
    CHECK_INT(v.size, 65536);
    CHECK_INT(v.time, 1805 * 1000000000LL);
    end();
}

static int count(void *arg, const struct sb_opt_view *view)
{
    (*(int *)arg)++;
    return view->opt == &sample_opts[2] ? -7 : 0;
}

static void each(void)
{
    int n = 0;

    begin();
    CHECK_INT(add(), 0);
    CHECK_INT(sb_opts_each(o, count, &n), -7);
    CHECK_INT(n, 3);
    end();
    sb_opts_free(NULL);
}

CHECK_FILE
{
    RUN(secrets);
    RUN(late_secrets);
    RUN(masks);
    RUN(malformed);
    RUN(neither_url_nor_settings);
    RUN(unknown);
    RUN(sections_of_workloads);
    RUN(sections_are_strict);
    RUN(headers_that_name_no_workload);
    RUN(nearest);
    RUN(unknown_names);
    RUN(given);
    RUN(unclaimed);
    RUN(file_grammar);
    RUN(real_file);
    RUN(help);
    RUN(script_help);
    RUN(print_config);
    RUN(print_numbers);
    RUN(each);
    return check_done();
}
