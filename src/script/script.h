// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lua scripts as workloads: finds and loads a script, reads its options, runs
// its commands, and implements workload.h with its hooks.
#ifndef SB_SCRIPT_H
#define SB_SCRIPT_H

#include "base/opts.h"
#include "base/paths.h"
#include "base/random.h"
#include "db/db.h"
#include "measure/answers.h"
#include "measure/snap.h"
#include "run/run.h"
#include "run/workload.h"

struct sb_script; // opaque

// What a script can use; everything belongs to the caller and outlives the
// script.
struct sb_script_env {
    struct sb_opts *opts;
    const struct sb_paths *paths;
    const struct sb_run_opts *run;
    struct sb_random_shared *random;
    struct sb_drivers *drivers;
    const double *percentiles; // the first one is printed in the classic lines
    size_t npercentiles;       // their number; 0: disabled
    int argc;
    char **argv;            // with secrets overwritten
    const char *luajit_cmd; // --luajit-cmd, as for luajit -j; "" for none
    const char *text; // the script from standard input, if it was read before
    size_t text_len;
    bool found; // another process of the run has printed where the script is
    // In a mix: the name of the component, its number, and its own choice of a
    // driver (may be NULL, and may be filled in until sb_script_ready()).
    const char *component;
    unsigned slot;
    const struct sb_db_own *db;
    // Where sysbench.result() and sysbench.verdict() add what scripts say, and
    // whether a name is that of a figure of every run. NULL: they cannot be
    // called.
    struct sb_answers *answers;
    bool (*is_figure)(const char *name);
};

// Finds `name` ("oltp.lua", "path/oltp.lua", "oltp_read_write", "-" or NULL
// for standard input) and loads it: runs its body once in the main state. The
// search order is: a file of that name; name + ".lua"; an
// installed workload; a module on package.path; an installed workload by the
// last components of the path, with a notice. Another notice says that name +
// ".lua" hides an installed workload. command: as typed, or NULL. 0 or SB_E*;
// SB_ENOTFOUND: "Cannot find benchmark 'x': no such built-in test, file or
// module"; SB_ESCRIPT: syntax or run-time error with file and line.
int sb_script_load(struct sb_script **out, const struct sb_script_env *env,
    const char *name, const char *command, struct sb_err *err);
// True for "oltp", which names the built-in test of 0.4 (oltp_0_4.lua) and not
// the oltp.lua of 0.5 that is installed as well.
bool sb_script_is_old_oltp(const char *name);
void sb_script_free(struct sb_script *s); // NULL is allowed

// Adds the options that the script declares to the registry (with
// sb_opts_add_script()). Scripts that declare none are legacy: every unclaimed
// setting becomes a global string in their states (and is claimed), with a
// warning if it is similar to the name of an option of the program or of the
// classic workloads. 0 or SB_E*.
int sb_script_add_options(struct sb_script *s, struct sb_err *err);
// Returns a registry with only the options that an installed workload ("oltp")
// declares. NULL: it declares none, or out of memory. The caller frees it.
// env->opts is not used. Main thread.
struct sb_opts *sb_script_options_of(
    const struct sb_script_env *env, const char *script);
// To be called when every option has its final value: sets sysbench.opt and the
// legacy globals in the main state, and keeps the values for other states. 0 or
// SB_E*.
int sb_script_ready(struct sb_script *s, struct sb_err *err);

const char *sb_script_name(const struct sb_script *s); // "oltp_read_write"
// The title of its options in the registry.
const char *sb_script_title(const struct sb_script *s);
// True if the script declares no options: settings become globals.
bool sb_script_is_legacy(const struct sb_script *s);
// True if the script has an event loop of its own, thread_run().
bool sb_script_own_loop(const struct sb_script *s);
// True if it is one of the installed workloads, with the installed modules.
bool sb_script_is_installed(const struct sb_script *s);
// The path of the installed workload that would have been run if there were no
// file of its name in the current folder; NULL: none.
const char *sb_script_hidden(const struct sb_script *s);
// Whether the script waits with functions that are not the program's, which
// would hold up the other users of a worker, as far as its text shows: *what
// names one ("os.execute()"). Installed workloads do not. Main thread, after
// sb_script_load().
bool sb_script_blocks(struct sb_script *s, char *what, size_t size);
bool sb_script_from_stdin(const struct sb_script *s);
// Visits the files that were loaded so far, with Lua code or read by
// sysbench.read_file(), the script first: their paths and the SHA-256 of what
// was loaded. Any thread.
void sb_script_each_file(struct sb_script *s,
    void (*visit)(void *arg, const char *path, const char *sha256), void *arg);

// How this script implements a command.
enum sb_script_command {
    SB_COMMAND_NONE,     // not implemented
    SB_COMMAND_SERIAL,   // main state: sb_script_call()
    SB_COMMAND_PARALLEL, // every user: sb_script_task()
    SB_COMMAND_RUN,      // the event loop: sb_run() with sb_script_workload()
};
enum sb_script_command sb_script_command(
    const struct sb_script *s, const char *command);
// True if the script declares the command, but not a function for it.
bool sb_script_command_is_empty(const struct sb_script *s, const char *command);
// The commands of this script, sorted, with NULL after the last; valid until
// the next call or sb_script_free(). Never NULL.
const char *const *sb_script_commands(struct sb_script *s);
// Run a command. 0 or SB_E*; SB_ESCRIPT also if the command returned false.
int sb_script_call(
    struct sb_script *s, const char *command, struct sb_err *err);
int sb_script_task(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err);

// The script as a workload. ->begin returns SB_ESCRIPT if event() is missing.
struct sb_workload *sb_script_workload(struct sb_script *s);

// Whether the run ends without limits, as sysbench.hooks.ends_by_itself says;
// false if there is no such hook or it fails. Main thread, after init().
bool sb_script_ends(struct sb_script *s);
// True if the script set the hook (checked once, after its body ran).
bool sb_script_has_report_hook(const struct sb_script *s, bool final);
// To be called before the final report: ends the array that
// sysbench.report_json() began, unless it also makes that report. Main thread.
int sb_script_before_final(struct sb_script *s, struct sb_err *err);
// Calls sysbench.hooks.report_intermediate / report_cumulative in the
// report state. Main thread.
int sb_script_report(
    struct sb_script *s, const struct sb_report *r, struct sb_err *err);
// Whether a report hook has called os.exit(). Main thread.
bool sb_script_stops(const struct sb_script *s);
// Visits the names of the results that the script declares in sysbench.results.
// Returns false if it declares none: the names that it will use are unknown.
// Main thread.
bool sb_script_results(
    struct sb_script *s, void (*visit)(void *arg, const char *name), void *arg);
// Calls sysbench.hooks.report_line for an interval or for the whole run. *line
// is the line it returned, which the caller frees; NULL if there is no hook or
// it returned no line. Main thread.
int sb_script_report_line(struct sb_script *s, const struct sb_report *r,
    char **line, struct sb_err *err);

#endif
