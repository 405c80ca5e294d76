// SPDX-License-Identifier: GPL-2.0-or-later
//
// The options of the driver. This file is also built as a module without the
// client library, so that scripts can read the options of a driver that is not
// in use.
#include "drivers/mongodb/internal.h"

// With the first choice the URL and the server decide.
const char *const sbmo_switches[] = { "default", "off", "on", "0", "1", "false",
    "true", "no", "yes", NULL };
const char *const sbmo_read_concerns[] = { "default", "local", "available",
    "majority", "linearizable", "snapshot", NULL };
static const char *const preferences[] = { "default", "primary",
    "primaryPreferred", "secondary", "secondaryPreferred", "nearest", NULL };

static const struct sb_opt opts[] = {
    { .name = "mongo-url",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, url),
        .def = "",
        .flags = SB_OPT_COMMON,
        .help = "connection string, mongodb:// or mongodb+srv://; other "
                "options override its settings; default: "
                "mongodb://localhost:27017" },
    { .name = "mongo-database-name",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, db),
        .def = "",
        .help = "database; default: the URL's, or sbtest" },
    { .name = "mongo-user",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, user),
        .def = "",
        .help = "user to connect as" },
    { .name = "mongo-password",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, password),
        .def = "",
        .flags = SB_OPT_SECRET,
        .help = "password of the user" },
    { .name = "mongo-password-file",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, password_file),
        .def = "",
        .flags = SB_OPT_FILENAME,
        .help = "file with the password in its first line" },
    { .name = "mongo-password-command",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, password_command),
        .def = "",
        .flags = SB_OPT_SECRET | SB_OPT_TEXT,
        .help = "shell command that prints the password; it is run again after "
                "a refused login and, if it ends with ';ttl=10m', before that "
                "time has passed" },
    { .name = "mongo-auth-source",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, auth_source),
        .def = "",
        .help = "database in which the user is defined; default: the URL's, "
                "or admin" },
    { .name = "mongo-write-concern",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, write_concern),
        .def = "",
        .help = "how many servers acknowledge a write: a number, majority or a "
                "tag; default: the URL's, or the server's" },
    { .name = "mongo-journal",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct sbmo_opts, journal),
        .def = "default",
        .choices = sbmo_switches,
        .help = "whether a write waits for the journal" },
    { .name = "mongo-read-concern",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct sbmo_opts, read_concern),
        .def = "default",
        .choices = sbmo_read_concerns,
        .help = "read concern level; default: the URL's, or the server's" },
    { .name = "mongo-read-preference",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct sbmo_opts, read_preference),
        .def = "default",
        .choices = preferences,
        .help =
            "read preference: which servers of a replica set receive reads; "
            "default: the URL's, or primary" },
    { .name = "mongo-connect-timeout",
        .type = SB_OPT_DURATION,
        .offset = offsetof(struct sbmo_opts, connect_timeout),
        .given = offsetof(struct sbmo_opts, given.connect_timeout),
        .def = "10s",
        .min = 0.001,
        .max = 86400,
        .help = "timeout for connecting to a server" },
    { .name = "mongo-selection-timeout",
        .type = SB_OPT_DURATION,
        .offset = offsetof(struct sbmo_opts, selection_timeout),
        .given = offsetof(struct sbmo_opts, given.selection_timeout),
        .def = "0",
        .min = 0,
        .max = 86400,
        .help = "how long to look for a suitable server for a command; 0: try "
                "each server once" },
    { .name = "mongo-socket-timeout",
        .type = SB_OPT_DURATION,
        .offset = offsetof(struct sbmo_opts, socket_timeout),
        .given = offsetof(struct sbmo_opts, given.socket_timeout),
        .def = "5m",
        .min = 0,
        .max = 86400,
        .help = "timeout for an answer; 0: no limit" },
    { .name = "mongo-tls",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct sbmo_opts, tls),
        .def = "default",
        .choices = sbmo_switches,
        .help = "whether the connection is encrypted" },
    { .name = "mongo-tls-ca",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, tls_ca),
        .def = "",
        .flags = SB_OPT_FILENAME,
        .help = "file with the CA certificates that verify the server" },
    { .name = "mongo-tls-cert",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, tls_cert),
        .def = "",
        .flags = SB_OPT_FILENAME,
        .help = "file with the client certificate and its key" },
    { .name = "mongo-tls-password",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, tls_password),
        .def = "",
        .flags = SB_OPT_SECRET,
        .help = "password of the client key" },
    { .name = "mongo-tls-allow-invalid",
        .type = SB_OPT_ENUM,
        .offset = offsetof(struct sbmo_opts, tls_allow_invalid),
        .def = "default",
        .choices = sbmo_switches,
        .help = "accept any server certificate" },
    { .name = "mongo-app-name",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sbmo_opts, app_name),
        .def = "",
        .help = "application name in the server's log; default: the URL's, or "
                "sysbench" },
    { 0 },
};

const struct sb_opt_table sbmo_opt_table = {
    .title = "MongoDB options",
    .opts = opts,
};

// libmongoc initializes itself as soon as its library is loaded, before the
// driver is called. It would keep counters in a file in /dev/shm, which stays
// if the process is killed, and print a warning on stderr if such a file exists
// already.
static const char *const environment[] = { "MONGOC_DISABLE_SHM=1", NULL };

SB_DRIVER_OPTIONS_ENVIRONMENT(
    "mongodb", sbmo_opt_table, struct sbmo_opts, environment);
