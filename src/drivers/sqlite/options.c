// SPDX-License-Identifier: GPL-2.0-or-later
//
// The options of the driver. This file is also built as a module without the
// client library, so that scripts can read the options of a driver that is not
// in use.
#include "drivers/sqlite/internal.h"

const char *const sqlite_journal_modes[] = { "wal", "delete", "truncate",
    "persist", "memory", "off", NULL };
const char *const sqlite_synchronous[] = { "off", "normal", "full", "extra",
    NULL };
const char *const sqlite_temp_stores[] = { "default", "file", "memory", NULL };

static const struct sb_opt opts[] = {
    { .name = "sqlite-db",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sqlite_opts, db),
        .def = "sbtest.sqlite",
        .flags = SB_OPT_COMMON,
        .help = "database file; ':memory:': a database in memory, shared by "
                "all connections of the process" },
    { .name = "sqlite-journal-mode",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct sqlite_opts, journal_mode),
        .def = "wal",
        .choices = sqlite_journal_modes,
        .help = "journal mode of the database" },
    { .name = "sqlite-synchronous",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct sqlite_opts, synchronous),
        .def = "normal",
        .choices = sqlite_synchronous,
        .help = "how strictly commits are synchronized with the disk" },
    { .name = "sqlite-cache-size",
        .type = SB_OPT_SIZE,
        .offset = offsetof(struct sqlite_opts, cache_size),
        .def = "0",
        .min = 0,
        .max = 1e15,
        .help = "page cache of each connection; 0: SQLite's default" },
    { .name = "sqlite-mmap-size",
        .type = SB_OPT_SIZE,
        .offset = offsetof(struct sqlite_opts, mmap_size),
        .def = "0",
        .min = 0,
        .max = 1e15,
        .help = "number of bytes of the file that are mapped into memory; 0: "
                "SQLite's default" },
    { .name = "sqlite-busy-timeout",
        .type = SB_OPT_DURATION,
        .offset = offsetof(struct sqlite_opts, busy_timeout),
        .def = "5s",
        .min = 0,
        .max = 86400,
        .help = "how long a statement waits for the locks of other "
                "connections" },
    { .name = "sqlite-page-size",
        .type = SB_OPT_SIZE,
        .offset = offsetof(struct sqlite_opts, page_size),
        .def = "0",
        .min = 0,
        .max = 65536,
        .help = "page size of a new database; 0: SQLite's default" },
    { .name = "sqlite-temp-store",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct sqlite_opts, temp_store),
        .def = "default",
        .choices = sqlite_temp_stores,
        .help = "where temporary tables and indexes are kept" },
    { .name = "sqlite-create",
        .type = SB_OPT_BOOL,
        .offset = offsetof(struct sqlite_opts, create),
        .def = "on",
        .help = "create the database file if it does not exist" },
    { 0 },
};

const struct sb_opt_table sqlite_opt_table = {
    .title = "SQLite options",
    .opts = opts,
};

// It needs no server, so that a command without options does something.
SB_DRIVER_OPTIONS_FALLBACK("sqlite", sqlite_opt_table, struct sqlite_opts);
