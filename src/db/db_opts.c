// SPDX-License-Identifier: GPL-2.0-or-later
//
// "General database options", for all drivers.
#include "db/db.h"

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
