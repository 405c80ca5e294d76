// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where a connection goes: what options, a connection string and defaults say,
// in this order.
#include <stdlib.h>

#include "check.h"
#include "base/opts.h"
#include "drivers/pgsql/pgsql_priv.h"

static struct pgsql_target target;

// What connection `number` is told for `key`; "" for nothing. The strings of a
// target are those of its options.
static const char *ask(
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
    pgsql_target_fill(&target, env.shared, number);
    answer[0] = '\0';
    for (int i = 0; i < target.n; i++) {
        if (strcmp(target.key[i], key) == 0)
            snprintf(answer, sizeof(answer), "%s", target.value[i]);
    }
    pgsql_env_done(&env);
    sb_opts_free(o);
    return answer;
}

#define ASK(key, ...) ask((const char *const[]){ __VA_ARGS__, NULL }, 0, key)
#define ASK_AT(n, key, ...) \
    ask((const char *const[]){ __VA_ARGS__, NULL }, n, key)

#define STRING \
    "pgsql-conninfo", "host=db1 port=6000 user=me dbname=mine sslmode=require"

static void defaults(void)
{
    CHECK_STR(ASK("host", NULL), "localhost");
    CHECK_STR(ASK("port", NULL), "5432");
    CHECK_STR(ASK("user", NULL), "sbtest");
    CHECK_STR(ASK("dbname", NULL), "sbtest");
    CHECK_STR(ASK("sslmode", NULL), "prefer");
    CHECK_STR(ASK("password", NULL), "");
}

static void connection_string_over_defaults(void)
{
    CHECK_STR(ASK("host", STRING), "db1");
    CHECK_STR(ASK("port", STRING), "6000");
    CHECK_STR(ASK("user", STRING), "me");
    CHECK_STR(ASK("dbname", STRING), "mine");
    CHECK_STR(ASK("sslmode", STRING), "require");
    CHECK_STR(ASK("port", "pgsql-conninfo", "postgresql://db1/mine"), "5432");
    CHECK_STR(ASK("host", "pgsql-conninfo", "hostaddr=10.0.0.1"), "");
}

// The same values as the defaults have.
static void given_over_connection_string(void)
{
    CHECK_STR(ASK("host", STRING, "pgsql-host", "localhost"), "localhost");
    CHECK_STR(ASK("port", STRING, "pgsql-port", "5432"), "5432");
    CHECK_STR(ASK("user", STRING, "pgsql-user", "sbtest"), "sbtest");
    CHECK_STR(ASK("dbname", STRING, "pgsql-db", "sbtest"), "sbtest");
    CHECK_STR(ASK("sslmode", STRING, "pgsql-sslmode", "prefer"), "prefer");
    CHECK_STR(ASK("user", STRING, "pgsql-host", "localhost"), "me");
    CHECK_STR(ASK("host", STRING, "pgsql-host", ""), "db1");
    CHECK_STR(ASK("host", "pgsql-conninfo", "hostaddr=10.0.0.1", "pgsql-host",
                  "localhost"),
        "localhost");
    CHECK_STR(ASK("hostaddr", "pgsql-conninfo", "hostaddr=10.0.0.1",
                  "pgsql-host", "localhost"),
        "");
}

static void service(void)
{
    CHECK_STR(ASK("service", "pgsql-service", "test"), "test");
    CHECK_STR(ASK("host", "pgsql-service", "test"), "");
    CHECK_STR(ASK("user", "pgsql-service", "test"), "");
    CHECK_STR(
        ASK("port", "pgsql-service", "test", "pgsql-port", "5432"), "5432");
}

static void lists(void)
{
    CHECK_STR(ASK_AT(0, "host", "pgsql-host", "a,b", "pgsql-port", "1,2"), "a");
    CHECK_STR(ASK_AT(1, "host", "pgsql-host", "a,b", "pgsql-port", "1,2"), "a");
    CHECK_STR(ASK_AT(1, "port", "pgsql-host", "a,b", "pgsql-port", "1,2"), "2");
    CHECK_STR(ASK_AT(2, "host", "pgsql-host", "a,b", "pgsql-port", "1,2"), "b");
    CHECK_STR(ASK_AT(1, "host", STRING, "pgsql-host", "localhost,b"), "b");
    CHECK_STR(
        ASK_AT(0, "host", STRING, "pgsql-host", "localhost,b"), "localhost");
}

int main(void)
{
    RUN(defaults);
    RUN(connection_string_over_defaults);
    RUN(given_over_connection_string);
    RUN(service);
    RUN(lists);
    return check_done();
}
