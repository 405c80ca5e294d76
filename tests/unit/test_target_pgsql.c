// SPDX-License-Identifier: GPL-2.0-or-later
//
// The target of a connection, from options, the connection string and defaults,
// in this order of precedence.
#include <stdlib.h>

#include "check.h"
#include "check_folder.h"
#include "base/opts.h"
#include "drivers/pgsql/internal.h"

static struct pgsql_target target;

// Returns the value of `key` for connection `number`, or "". It is copied,
// because the strings of a target belong to the options.
static const char *value_of(
    const char *const *options, uint64_t number, const char *key)
{
    static char answer[100];
    struct sb_opts *o = sb_opts_new();
    struct sb_driver_env env = { 0 };
    struct pgsql_opts values;
    struct sb_err err = { 0 };

    CHECK_INT(sb_opts_add(o, &pgsql_opt_table, &values, &err), 0);
    for (; *options; options += 2)
        CHECK_INT(
            sb_opts_set(o, options[0], options[1], SB_SRC_CMDLINE, &err), 0);
    CHECK_INT(pgsql_env_init(&env, &values, &err), 0);
    const struct pgsql_env *shared = env.shared;

    pgsql_target_fill(&target, shared, number, shared->password);
    answer[0] = '\0';
    for (int i = 0; i < target.n; i++) {
        if (strcmp(target.key[i], key) == 0)
            snprintf(answer, sizeof(answer), "%s", target.value[i]);
    }
    pgsql_env_done(&env);
    sb_opts_free(o);
    return answer;
}

#define VALUE(key, ...) \
    value_of((const char *const[]){ __VA_ARGS__, NULL }, 0, key)
#define VALUE_AT(n, key, ...) \
    value_of((const char *const[]){ __VA_ARGS__, NULL }, n, key)

#define STRING \
    "pgsql-conninfo", "host=db1 port=6000 user=me dbname=mine sslmode=require"

static void defaults(void)
{
    CHECK_STR(VALUE("host", NULL), "localhost");
    CHECK_STR(VALUE("port", NULL), "5432");
    CHECK_STR(VALUE("user", NULL), "sbtest");
    CHECK_STR(VALUE("dbname", NULL), "sbtest");
    CHECK_STR(VALUE("sslmode", NULL), "prefer");
    CHECK_STR(VALUE("password", NULL), "");
}

static void connection_string_over_defaults(void)
{
    CHECK_STR(VALUE("host", STRING), "db1");
    CHECK_STR(VALUE("port", STRING), "6000");
    CHECK_STR(VALUE("user", STRING), "me");
    CHECK_STR(VALUE("dbname", STRING), "mine");
    CHECK_STR(VALUE("sslmode", STRING), "require");
    CHECK_STR(VALUE("port", "pgsql-conninfo", "postgresql://db1/mine"), "5432");
    CHECK_STR(VALUE("host", "pgsql-conninfo", "hostaddr=10.0.0.1"), "");
}

// Options given explicitly, with the values of the defaults.
static void given_over_connection_string(void)
{
    CHECK_STR(VALUE("host", STRING, "pgsql-host", "localhost"), "localhost");
    CHECK_STR(VALUE("port", STRING, "pgsql-port", "5432"), "5432");
    CHECK_STR(VALUE("user", STRING, "pgsql-user", "sbtest"), "sbtest");
    CHECK_STR(VALUE("dbname", STRING, "pgsql-db", "sbtest"), "sbtest");
    CHECK_STR(VALUE("sslmode", STRING, "pgsql-sslmode", "prefer"), "prefer");
    CHECK_STR(VALUE("user", STRING, "pgsql-host", "localhost"), "me");
    CHECK_STR(VALUE("host", STRING, "pgsql-host", ""), "db1");
    CHECK_STR(VALUE("host", "pgsql-conninfo", "hostaddr=10.0.0.1", "pgsql-host",
                  "localhost"),
        "localhost");
    CHECK_STR(VALUE("hostaddr", "pgsql-conninfo", "hostaddr=10.0.0.1",
                  "pgsql-host", "localhost"),
        "");
}

static void service(void)
{
    CHECK_STR(VALUE("service", "pgsql-service", "test"), "test");
    CHECK_STR(VALUE("host", "pgsql-service", "test"), "");
    CHECK_STR(VALUE("user", "pgsql-service", "test"), "");
    CHECK_STR(
        VALUE("port", "pgsql-service", "test", "pgsql-port", "5432"), "5432");
}

static void lists(void)
{
    CHECK_STR(
        VALUE_AT(0, "host", "pgsql-host", "a,b", "pgsql-port", "1,2"), "a");
    CHECK_STR(
        VALUE_AT(1, "host", "pgsql-host", "a,b", "pgsql-port", "1,2"), "a");
    CHECK_STR(
        VALUE_AT(1, "port", "pgsql-host", "a,b", "pgsql-port", "1,2"), "2");
    CHECK_STR(
        VALUE_AT(2, "host", "pgsql-host", "a,b", "pgsql-port", "1,2"), "b");
    CHECK_STR(VALUE_AT(1, "host", STRING, "pgsql-host", "localhost,b"), "b");
    CHECK_STR(
        VALUE_AT(0, "host", STRING, "pgsql-host", "localhost,b"), "localhost");
}

// Returns the driver's error for a value of an option; "" if the value is
// valid.
static const char *error_of(const char *option, const char *value)
{
    static char answer[500];
    struct sb_opts *o = sb_opts_new();
    struct sb_driver_env env = { 0 };
    struct pgsql_opts values;
    struct sb_err err = { 0 };

    CHECK_INT(sb_opts_add(o, &pgsql_opt_table, &values, &err), 0);
    CHECK_INT(sb_opts_set(o, option, value, SB_SRC_CMDLINE, &err), 0);
    if (pgsql_env_init(&env, &values, &err) == 0)
        pgsql_env_done(&env);
    snprintf(answer, sizeof(answer), "%s", err.msg);
    sb_opts_free(o);
    return answer;
}

static void check_error(const char *option, const char *value, const char *why)
{
    const char *text = error_of(option, value);

    if (strstr(text, "SECRET") || !strstr(text, why))
        CHECK_STR(text, why);
}

static void errors_quote_no_value(void)
{
    static const char *const cases[][2] = {
        { "postgresql://u:SECRET%zz@h/", "two hexadecimal digits" },
        { "postgresql://u:SECRET@[::1", "a '[' has no ']'" },
        { "postgresql://SECRET@[]/", "no address in '[]'" },
        { "postgresql://SECRET@[::1]x/", "neither ':' nor '/'" },
        { "postgresql://h/?password=SECRET=x", "more than one '='" },
        { "postgresql://h/?SECRET", "has no '='" },
        { "postgresql://h/?SECRET=1", "an unknown parameter" },
        { "postgresql://h/SECRET%00", "%00 is not allowed" },
        { "postgresql://u:SECRET/d", "a port is not a number" },
        { "postgresql://h:1,u:SECRET", "a port is not a number" },
        { "postgresql://u:1/SECRET@h", "after the first '/'" },
        { "postgresql://u:x@SECRET@h", "a host contains '@'" },
        { "postgresql://u%3ASECRET/d", "or ':'" },
        { "postgresql://u%3ASECRET@h", "the user has a ':'" },
        { "u:SECRET@h", "a keyword is not followed by '='" },
        { "password=x SECRET=y", "an unknown keyword" },
        { "password='SECRET", "a quoted value does not end" },
        { "dbname=postgresql://u:SECRET@h", "is a URI" },
        { "hostaddr=u:SECRET@h", "a host contains '@'" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_error("pgsql-conninfo", cases[i][0], cases[i][1]);
    check_error("pgsql-host", "u:SECRET@h", "--pgsql-conninfo");
    check_error("pgsql-host", "//u:SECRET@h", "--pgsql-conninfo");
    check_error("pgsql-db", "postgresql://u:SECRET@h", "--pgsql-conninfo");
}

// Not SB_ECONNECT, after which a run would try again.
static void a_password_file(void)
{
    struct sb_opts *o = sb_opts_new();
    struct sb_driver_env env = { 0 };
    struct pgsql_opts values;
    struct sb_err err = { 0 };
    FILE *f = fopen("file", "w");

    fputs("of the file\r\nnot this\n", f);
    fclose(f);
    CHECK_STR(VALUE("password", "pgsql-password-file", "file"), "of the file");
    CHECK_STR(VALUE("password", "pgsql-password-file", "file", "pgsql-password",
                  "given"),
        "given");
    CHECK_INT(sb_opts_add(o, &pgsql_opt_table, &values, &err), 0);
    CHECK_INT(
        sb_opts_set(o, "pgsql-password-file", "nosuch", SB_SRC_CMDLINE, &err),
        0);
    CHECK_INT(pgsql_env_init(&env, &values, &err), SB_EUSAGE);
    CHECK_INT(err.code, SB_EUSAGE);
    CHECK_STR(err.msg, "--pgsql-password-file: cannot read file 'nosuch': No "
                       "such file or directory");
    sb_opts_free(o);
}

static void valid_values_are_accepted(void)
{
    static const char *const good[] = {
        "postgresql://",
        "postgresql://u:p%40%3A@h:1,[::1]:2,%2Ftmp/d?sslmode=require",
        "postgresql://h/a@b",
        "host=::1,fe80::1%lo,/tmp,@socket port=1,,2,3 user=a:b",
        "hostaddr=127.0.0.1 password='x y'",
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK_STR(error_of("pgsql-conninfo", good[i]), "");
    CHECK_STR(error_of("pgsql-host", "a,/tmp,::1,@x"), "");
}

// If libpq does not support it, connecting fails.
static void required_authentication(void)
{
    CHECK(pgsql_has_setting("sslmode") && !pgsql_has_setting("nosuch"));
    if (pgsql_has_setting("require_auth"))
        CHECK_STR(VALUE("require_auth", "pgsql-require-auth", "scram-sha-256"),
            "scram-sha-256");
    else
        check_error("pgsql-require-auth", "scram-sha-256",
            "needs libpq 16 or newer, this is libpq ");
    CHECK_STR(error_of("pgsql-require-auth", ""), "");
}

static const char *sentences(const char *text)
{
    static char out[100];

    CHECK_INT(pgsql_sentences(text, out, sizeof(out)), strlen(out));
    return out;
}

static void lines_become_sentences(void)
{
    char out[8];

    CHECK_STR(sentences("connection refused\n\tIs it there?\n"),
        "connection refused. Is it there?");
    CHECK_STR(sentences("a failed: x\n\tIs it?\nb failed: y\nc"),
        "a failed: x. Is it? b failed: y; c");
    CHECK_STR(sentences("closed unexpectedly \n\tThis means\n\tbefore it."),
        "closed unexpectedly. This means before it.");
    CHECK_STR(sentences("  FATAL:  no\n\n"), "FATAL: no");
    CHECK_STR(sentences(""), "");
    CHECK_INT(pgsql_sentences("long\n\tText", out, sizeof(out)), 5);
    CHECK_STR(out, "long.");
}

static void states_are_taken_from_messages(void)
{
    char state[6] = "08001";
    char two[] = "a failed: FATAL:  28000: no TLS\nLOCATION:  f, a.c:1\n"
                 "b failed: FATAL:  53300: too many clients\n"
                 "LOCATION:  g, b.c:2";
    char none[] = "connection refused\n\tIs it there?\nFATAL:  5330: x";

    pgsql_take_state(none, state);
    CHECK_STR(none, "connection refused\n\tIs it there?\nFATAL:  5330: x");
    CHECK_STR(state, "08001");
    pgsql_take_state(two, state);
    CHECK_STR(two, "a failed: FATAL:  no TLS\n"
                   "b failed: FATAL:  too many clients");
    CHECK_STR(state, "53300");
}

CHECK_FILE
{
    check_folder();
    RUN(defaults);
    RUN(connection_string_over_defaults);
    RUN(given_over_connection_string);
    RUN(service);
    RUN(lists);
    RUN(a_password_file);
    RUN(errors_quote_no_value);
    RUN(valid_values_are_accepted);
    RUN(required_authentication);
    RUN(lines_become_sentences);
    RUN(states_are_taken_from_messages);
    return check_done();
}
