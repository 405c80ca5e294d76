// SPDX-License-Identifier: GPL-2.0-or-later
//
// The registry: collects settings from the command line, the environment
// (SYSBENCH_<OPTION>) and the config file, and gives them to option tables as
// those are added. Command line over environment over file over default.
// Tables may be added late (a driver's, a script's): settings wait for them.
// Not thread-safe: used by the main thread before workers start; read-only
// afterwards.
#ifndef SB_OPTS_H
#define SB_OPTS_H

#include <stdio.h>

#include "base/err.h"
#include "base/option.h"

struct sb_opts; // opaque

enum sb_opt_source { SB_SRC_DEFAULT, SB_SRC_FILE, SB_SRC_ENV, SB_SRC_CMDLINE };

// An option as a reader of the whole set sees it (help, --print-config, the
// result file, sysbench.opt).
struct sb_opt_view {
    const struct sb_opt_table *table;
    const struct sb_opt *opt;
    const void *value; // what the offset points to, typed as opt->type
    const char *text;  // the value as text, "" if unset; secrets are "***"
    enum sb_opt_source source;
    const char *origin; // "sysbench.cnf:12", "SYSBENCH_THREADS", the alias
                        // that was used on the command line, else ""
}; // of an alias: table and opt are its own, the rest is its target's

// New registry, NULL when out of memory. Free with sb_opts_free(NULL allowed).
struct sb_opts *sb_opts_new(void);
void sb_opts_free(struct sb_opts *o);

// Reads argv[1..]: "--name", "--name=value" become settings, the rest
// positional arguments; "-h" is "--help". "--" alone is an error, as is any
// other single-dash argument except "-". The text of settings whose names look
// like secrets
// ("password" or "secret" in it) or turn out to be declared so, and passwords
// in URLs and connection strings, are overwritten in argv in place, so that
// the process list does not show them. argv must live as long as tables are
// added. SB_EUSAGE names the argument.
int sb_opts_argv(struct sb_opts *o, int argc, char **argv, struct sb_err *err);

// Reads a config file: name=value or name lines, '#' comments, quotes ' and ",
// '-' and '_' alike, leading "--" allowed. What stands below a [section] waits
// for sb_opts_sections().
// SB_ESYS (cannot read), SB_EUSAGE (names file:line).
int sb_opts_file(struct sb_opts *o, const char *path, struct sb_err *err);
// The same from memory, for tests and the fuzzer; origin names it in errors.
int sb_opts_file_text(struct sb_opts *o, const char *origin, const char *text,
    size_t len, struct sb_err *err);

enum sb_opts_section {
    SB_SECTION_UNKNOWN, // names no workload
    SB_SECTION_OTHER,   // names workloads, but not the one that runs
    SB_SECTION_MINE,    // names the workload that runs
};

// Once, after all files: decides about the settings that stand in sections.
// kind(arg, name) says what the text between the brackets names. If any section
// names a workload, those of the workload that runs are given, after the
// settings before the first section; those of others are skipped, and sections
// that name none are skipped with a warning of sb_opts_check(). If none does,
// headers mean nothing, as in sysbench 1.0: all settings are given in their
// order. strict, or sections that name workloads: sb_opts_check() makes unknown
// settings of files errors. strict: so are sections that name none. SB_EUSAGE,
// SB_ENOMEM, or the error of a value.
int sb_opts_sections(struct sb_opts *o, bool strict,
    enum sb_opts_section (*kind)(void *arg, const char *name), void *arg,
    struct sb_err *err);

// envp: takes every SYSBENCH_* variable as a setting, except those that are
// no options (SYSBENCH_DRIVER_DIR, SYSBENCH_LUA_DIR).
int sb_opts_env(struct sb_opts *o, char *const *envp, struct sb_err *err);

// Positional argument n (0: test name, 1: command), NULL when absent.
const char *sb_opts_positional(const struct sb_opts *o, size_t n);

// Adds a table whose values live in `target` (the module's options struct):
// writes every default, then applies the settings that were waiting, in order
// of precedence. Every setting is checked, also one that a stronger one
// overrides. The table and target must outlive the registry. Names are unique
// over all tables: SB_EINTERNAL names one declared twice, except that a script
// may redeclare an option of the core (sb_opts_add_script), or declare one
// before its table is added, which then keeps the script's default.
// SB_EUSAGE / SB_ERANGE: "Invalid value for the 'threads' option: 'x' (...)".
// SB_EINTERNAL: the same for a default of the table.
int sb_opts_add(struct sb_opts *o, const struct sb_opt_table *table,
    void *target, struct sb_err *err);

// Logs a warning for each deprecated option that was given, and from now on at
// once. Until then nobody knows which messages the user wants (--verbosity).
// To be called once.
void sb_opts_warn(struct sb_opts *o);

// An option declared at run time by a script; storage is the registry's own.
// def_text NULL: unset. A name the core has already becomes a new default
// of that option (as in sysbench 1.0), if no user setting is there; an option
// with SB_OPT_YIELDS goes back to its default and the name is the script's. The
// table that views name has the title and an empty list of options. No
// SB_OPT_ENUM.
int sb_opts_add_script(struct sb_opts *o, const char *title, const char *name,
    const char *help, enum sb_opt_type type, const char *def_text,
    struct sb_err *err);

// True when some waiting or applied setting came from outside for this name
// ("mysql-host"), or for any name that begins with it (prefix = true).
bool sb_opts_given(const struct sb_opts *o, const char *name, bool prefix);

// Settings that no table has claimed, in the order they were given. visit()
// returns 0 to go on. value is the raw text; NULL when the user gave none.
int sb_opts_unclaimed(const struct sb_opts *o,
    int (*visit)(void *arg, const char *name, const char *value,
        enum sb_opt_source source, const char *origin),
    void *arg);

// The declared name nearest to `name` (edit distance at most 2, or a third of
// its length; fewer for very short names), NULL if none is near. Swapped
// letters are one edit. Secrets and hidden options count too.
const char *sb_opts_nearest(const struct sb_opts *o, const char *name);

// The final check after every table is in: the first unclaimed setting of the
// command line is an SB_EUSAGE naming it and its nearest neighbour; so is the
// first one of a file, with file and line, where sb_opts_sections() says so.
// Others from files are passed to warn() (may be NULL), and so are SYSBENCH_*
// variables that match nothing (a stranger may own the variable).
int sb_opts_check(
    struct sb_opts *o, void (*warn)(const char *text), struct sb_err *err);

// All declared options in order of declaration.
int sb_opts_each(const struct sb_opts *o,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg);
// One by name ('-' and '_' alike); false when it is not declared. For the
// Lua API and tests; C modules read their own struct.
bool sb_opts_find(
    const struct sb_opts *o, const char *name, struct sb_opt_view *view);

// Sets an option of a table that is already in, as if given there (used for
// deprecated spellings and drv:connect{...}): a stronger source stays.
// SB_ENOTFOUND: no such option.
int sb_opts_set(struct sb_opts *o, const char *name, const char *value,
    enum sb_opt_source source, struct sb_err *err);

// Parses one value into *out per opt->type, with its bounds. Strings and lists
// are allocated from o. Also serves connection overrides: target is then a
// copy of a driver's options struct.
int sb_opts_parse(struct sb_opts *o, const struct sb_opt *opt,
    const char *value, void *target, struct sb_err *err);

// "--help" text of one table in sysbench's layout: its title and a line for
// each option, hidden ones left out; no empty line behind. Works for tables
// that are not added too.
void sb_opts_help(
    const struct sb_opts *o, const struct sb_opt_table *table, FILE *out);
// The same of what the script of this title declared with
// sb_opts_add_script(), options of the core among them; nothing when it
// declared none.
void sb_opts_script_help(const struct sb_opts *o, const char *title, FILE *out);
// Every option with value and source in config-file form. Defaults and masked
// secrets are commented out, so that the output can be read back.
void sb_opts_print_config(const struct sb_opts *o, FILE *out);

#endif
