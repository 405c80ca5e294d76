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
        { "auth-plugin", false },
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

CHECK_FILE
{
    RUN(secret_names);
    return check_done();
}
