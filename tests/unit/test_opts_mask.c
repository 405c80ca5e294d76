// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which options are secrets; tests/unit/test_opts_text.c has more on what is
// hidden.
#include "check_opts.h"

// Options of scripts have no flags: their names say what is a secret.
static void secret_names(void)
{
    static const struct {
        const char *name;
        bool secret;
    } cases[] = {
        { "auth-token", true },
        { "API_KEY", true },
        { "aws-secret-access-key", true },
        { "private_key", true },
        { "db.pwd", true },
        { "key-passphrase", true },
        { "credentials", true },
        { "mysql-pasword", true },
        { "pgsql-passsword", true },
        { "db-passord", true },
        { "auth", true },
        { "apiToken", true },
        { "APIKey", true },
        { "authToken2", true },
        { "db_pwd1", true },
        { "access key", true },
        { "userpw", true },
        { "pgpass", true },
        { "session-cookie", true },
        { "auth-plugin", false },
        { "bypass", false },
        { "key2", false },
        { "tokenCount", false },
        { "keys", false },
        { "key", false },
        { "primary-key", false },
        { "mysql-ssl-key", false },
        { "max-tokens", false },
        { "token-count", false },
        { "credentials-file", false },
        { "passes", false },
        { "monkey", false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char arg[64], shown[64];

        begin();
        snprintf(arg, sizeof(arg), "--%s=abc", cases[i].name);
        snprintf(shown, sizeof(shown), "--%s=%s", cases[i].name,
            cases[i].secret ? "***" : "abc");
        give(arg);
        CHECK_INT(read_args(), 0);
        CHECK_STR(args[1], shown);
        end();
    }
}

// "name=value" inside of a value.
static void names_in_texts(void)
{
    static const char *const cases[][2] = {
        { "note=x,token=abc", "note=x,token=***" },
        { "my-token = abc", "my-token = ***" },
        { "http://h/x?api_key=abc&n=1", "http://h/x?api_key=***&n=1" },
        { "curl --apiKey=abc --max=2", "curl --apiKey=*** --max=2" },
        { "tokens=5,key=7", "tokens=5,key=7" },
        { "host=h require_auth=md5 auth=abc",
            "host=h require_auth=md5 auth=***" },
        { "http://h/x?to%6Ben=abc&n=1", "http://h/x?to%6Ben=***&n=1" },
        { "http://h/x?sv=1&sig=a%2Fb&sp=r", "http://h/x?sv=1&sig=***&sp=r" },
        { "http://h/x?X-Amz-Signature=abc", "http://h/x?X-Amz-Signature=***" },
        { "http://token:80/x?a=b:c", "http://token:80/x?a=b:c" },
        { "Authorization: Bearer abc", "Authorization: ***" },
        { "curl -H 'X: Bearer abc' h", "curl -H 'X: Bearer *** h" },
        { "{\"api_key\": \"abc\", \"n\": 1}",
            "{\"api_key\": \"***\", \"n\": 1}" },
        { "mysql-pasword:abc", "mysql-pasword:***" },
        { "-p=abc", "-p=***" },
        { "sign=1 x-p=2", "sign=1 x-p=2" },
        { "SELECT a FROM auth ORDER BY \"b\"; SELECT 'x', password, 'y'",
            "SELECT a FROM auth ORDER BY \"b\"; SELECT 'x', password, 'y'" },
        { "create user a identified with p by 'x'; SELECT 'y'",
            "create user a identified with p by '***'; SELECT 'y'" },
        { "IDENTIFIED BY '' REQUIRE SSL COMMENT 'x'",
            "IDENTIFIED BY '' REQUIRE SSL COMMENT '***'" },
        { "SET PASSWORD FOR a = 'x'", "SET PASSWORD FOR a = '***'" },
        { "CREATE ROLE a PASSWORD E'x'", "CREATE ROLE a PASSWORD E'***'" },
        { "CREATE USER a IDENTIFIED BY 'ab''c' REQUIRE SSL",
            "CREATE USER a IDENTIFIED BY '***' REQUIRE SSL" },
        { "ALTER USER a PASSWORD \"abc\"", "ALTER USER a PASSWORD \"***\"" },
        { "SET PASSWORD FOR a = PASSWORD('abc')",
            "SET PASSWORD FOR a = PASSWORD('***')" },
        { "a=1,=2,b==3", "a=1,=2,b==3" },
        { "=", "=" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *shown = sb_opts_hide(cases[i][0]);

        CHECK_STR(shown, cases[i][1]);
        free(shown);
    }
}

static const struct sb_opt auth_opts[] = {
    { "pgsql-require-auth", SB_OPT_STRING, AT(host) },
    { "access-token", SB_OPT_STRING, AT(file) },
    { .name = NULL },
};
static const struct sb_opt_table auth_table = { .title = "Options",
    .opts = auth_opts };

// Where a table declares an option that ends in "auth", it is a method. In a
// script it may be a secret.
static void declared_auth(void)
{
    begin();
    give("--pgsql-require-auth=md5");
    give("--access-token=abc");
    give("--web-auth=abc");
    CHECK_INT(read_args(), 0);
    CHECK_INT(sb_opts_add(o, &auth_table, &v, &err), 0);
    CHECK_INT(script("web-auth", SB_OPT_STRING, ""), 0);
    CHECK_STR(v.host, "md5");
    CHECK_STR(text_of("pgsql-require-auth"), "md5");
    CHECK_STR(text_of("access-token"), "***");
    CHECK_STR(text_of("web-auth"), "***");
    CHECK_STR(sb_opts_shown(o, "pgsql-require-auth", "md5"), "md5");
    end();
}

CHECK_FILE
{
    RUN(declared_auth);
    RUN(secret_names);
    RUN(names_in_texts);
    return check_done();
}
