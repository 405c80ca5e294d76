// SPDX-License-Identifier: GPL-2.0-or-later
//
// The program: what main.c, app_show.c and app_run.c share.
#ifndef SB_APP_H
#define SB_APP_H

#include "base/opts.h"
#include "base/paths.h"
#include "base/random.h"
#include "bench/builtin.h"
#include "db/db.h"
#include "out/text.h"
#include "run/run.h"
#include "script/script.h"

// Exit status of the program; 128 + signal when interrupted.
enum { SB_EXIT_OK = 0, SB_EXIT_FAILED = 1, SB_EXIT_FORCED = 2 };

// Options that steer the program itself.
struct sb_app_opts {
    const char *config_file;
    const char *test;
    const char *luajit_cmd;
    bool help, version, list, print_config, config_strict;
};

struct sb_app {
    int argc;
    char **argv;
    struct sb_opts *opts;
    struct sb_paths paths;
    struct sb_app_opts o;
    struct sb_run_opts run;
    struct sb_dist_opts dist;
    struct sb_text_opts text_opts;
    struct sb_db_opts db;
    struct sb_text text;
    struct sb_random_shared random;
    struct sb_drivers *drivers;
    const char *test, *command; // as typed; NULL when absent
    const struct sb_builtin *builtin;
    void *builtin_opts;
    struct sb_script *script;
    bool leave; // threads are out there: end by _exit()
};

extern const struct sb_opt_table sb_app_opt_table;

// "sysbench 2.0.0" and what follows it in the first line of every output.
const char *sb_app_version(void);
void sb_app_banner(FILE *out);

// app_stdio.c. At the start: opens standard streams that are closed on
// /dev/null. SB_ESYS when standard output was closed.
int sb_app_open_streams(struct sb_err *err);
// At the end: writes out what is left. SB_ESYS when anything printed since the
// start could not be written.
int sb_app_flush_output(struct sb_err *err);

// app_show.c: the commands that only show something. 0 or SB_E*.
int sb_app_help(struct sb_app *a, struct sb_err *err);
int sb_app_list(struct sb_app *a, struct sb_err *err);
// `sysbench cpu help`; scripts print their own.
void sb_app_builtin_help(const struct sb_app *a);

// Calls visit() with the name ("oltp_insert", "mongodb/oltp") and the path of
// each Lua file in base/sub, in order of names. sub: "" or "mongodb/".
void sb_app_each_workload(const char *base, const char *sub,
    void (*visit)(void *arg, const char *name, const char *path), void *arg);

// app_config.c: reads --config-file, with the sections that belong to the
// workload that runs. 0 or SB_E*.
int sb_app_read_config(struct sb_app *a, struct sb_err *err);

// app_hint.c. " (did you mean oltp_insert?)" for a workload that was not found;
// "" if none is near.
void sb_app_workload_hint(
    const struct sb_app *a, const char *name, char *out, size_t size);
// Says on stderr that there is no such command, and which there are; known
// ends with NULL.
void sb_app_unknown_command(const char *command, const char *const *known);
// An option was invalid: says so in *err if the other one of the two workloads
// that are called oltp has it.
void sb_app_option_hint(struct sb_app *a, struct sb_err *err);

// app_run.c: carries out a->command; the exit status.
int sb_app_perform(struct sb_app *a);

#endif
