// SPDX-License-Identifier: GPL-2.0-or-later
//
// "General database options", for all drivers.
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "db/db.h"
#include "db/internal.h"

// --db-ignore-errors: errors that restart the event instead of ending the run.
// The list is used only after an error, so its entries are not converted.

#define STATE_LEN 5u // of an SQLSTATE

// "all", an error number, an SQLSTATE ("40001", "HY000"), or the beginning of
// one followed by '*'.
static bool well_formed(const char *entry)
{
    size_t len = strlen(entry);
    size_t n = strspn(entry, "0123456789");

    if (strcasecmp(entry, "all") == 0 || (n > 0 && n == len))
        return true;
    for (n = 0; isalnum((unsigned char)entry[n]);)
        n++;
    return n == len ? n == STATE_LEN
                    : n > 0 && n < STATE_LEN && strcmp(entry + n, "*") == 0;
}

int sb__ignore_check(const struct sb_opt_list *list, struct sb_err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!well_formed(list->item[i]))
            return sb_err_set(err, SB_EUSAGE,
                "--db-ignore-errors: '%s' is neither an error number nor an "
                "SQLSTATE of 5 characters nor 'all'",
                list->item[i]);
    }
    return 0;
}

static bool matches(const char *entry, const struct sb_err *e)
{
    size_t len = strlen(entry);
    char *end;
    long number = strtol(entry, &end, 10);

    if (strcasecmp(entry, "all") == 0)
        return true;
    if (*end == '\0' && e->native != 0 && number == e->native)
        return true;
    if (entry[len - 1] == '*')
        return strncasecmp(entry, e->state, len - 1) == 0;
    return len == STATE_LEN && strcasecmp(entry, e->state) == 0;
}

bool sb__ignored(const struct sb_opt_list *list, const struct sb_err *e)
{
    for (size_t i = 0; i < list->count; i++) {
        if (matches(list->item[i], e))
            return true;
    }
    return false;
}

static const char *const ps_modes[] = { "auto", "disable", NULL };

static const char *const isolations[] = { "default", "read-uncommitted",
    "read-committed", "repeatable-read", "serializable", NULL };

static const struct sb_opt db_opts[] = {
    { .name = "db-driver",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sb_db_opts, driver),
        .flags = SB_OPT_COMMON,
        .help = "database driver to use; 'help' lists them" },
    { .name = "db-ps-mode",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct sb_db_opts, ps_mode),
        .def = "auto",
        .choices = ps_modes,
        .flags = SB_OPT_COMMON,
        .help = "prepared statements usage mode" },
    { .name = "db-statement-cache",
        .type = SB_OPT_INT,
        .offset = offsetof(struct sb_db_opts, statement_cache),
        .def = "0",
        .min = 0,
        .max = 1e9,
        .help = "maximum number of prepared statements that a connection "
                "keeps on the server, 0: no limit. The least recently used "
                "one is closed, and prepared again when it is executed next" },
    { .name = "connect-parallel",
        .type = SB_OPT_INT,
        .offset = offsetof(struct sb_db_opts, connect_parallel),
        .def = "0",
        .min = 0,
        .max = 1e9,
        .flags = SB_OPT_YIELDS,
        .help = "maximum number of connections that the users of this process "
                "open at the same time, 0: no limit. Further users wait for "
                "their turn" },
    { .name = "db-debug",
        .type = SB_OPT_BOOL,
        .offset = offsetof(struct sb_db_opts, debug),
        .def = "off",
        .help = "log every statement with its values and its time" },
    { .name = "db-ignore-errors",
        .type = SB_OPT_LIST,
        .offset = offsetof(struct sb_db_opts, ignore_errors),
        .help = "errors that restart the event instead of ending the run: "
                "error numbers, SQLSTATEs, '40*' for a class, 'all'" },
    { .name = "db-reconnect",
        .type = SB_OPT_BOOL,
        .offset = offsetof(struct sb_db_opts, reconnect),
        .def = "off",
        .help = "reconnect after a lost connection, and restart the event" },
    { .name = "db-reconnect-timeout",
        .type = SB_OPT_DURATION,
        .offset = offsetof(struct sb_db_opts, reconnect_timeout),
        .def = "0",
        .min = 0,
        .max = 31536000,
        .help = "how long to try to reconnect before the run fails, 0: until "
                "the run ends" },
    { .name = "db-refresh-events",
        .type = SB_OPT_INT,
        .offset = offsetof(struct sb_db_opts, refresh_events),
        .def = "0",
        .min = 0,
        .max = 1e15,
        .help = "reconnect every N events, 0: never" },
    { .name = "db-refresh-time",
        .type = SB_OPT_DURATION,
        .offset = offsetof(struct sb_db_opts, refresh_ns),
        .def = "0",
        .min = 0,
        .max = 31536000,
        .help = "reconnect each connection after this time, 0: never" },
    { .name = "db-init-sql",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sb_db_opts, init_sql),
        .flags = SB_OPT_TEXT,
        .help = "statements to run on each new connection, separated by ';' "
                "if the database supports it" },
    { .name = "db-isolation",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct sb_db_opts, isolation),
        .def = "default",
        .choices = isolations,
        .help = "transaction isolation level of each connection" },
    { 0 },
};

const struct sb_opt_table sb_db_opt_table = {
    .title = "General database options",
    .section = "database",
    .opts = db_opts,
};
