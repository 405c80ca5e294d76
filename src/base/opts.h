// SPDX-License-Identifier: GPL-2.0-or-later
//
// The registry of options: collects settings from the command line, the
// environment (SYSBENCH_<OPTION>) and the config file, and stores them in
// option tables as these are added. The command line overrides the
// environment, which overrides the file, which overrides the defaults. Tables
// may be added late (by a driver or a script); settings are kept for them. Not
// thread-safe: used by the main thread before workers start; read-only
// afterwards.
#ifndef SB_OPTS_H
#define SB_OPTS_H

#include <stdio.h>

#include "base/err.h"
#include "base/option.h"

struct sb_opts; // opaque

enum sb_opt_source { SB_SRC_DEFAULT, SB_SRC_FILE, SB_SRC_ENV, SB_SRC_CMDLINE };

// One option, as shown by help, --print-config and sysbench.opt.
struct sb_opt_view {
    const struct sb_opt_table *table;
    const struct sb_opt *opt;
    const void *value; // what the offset points to, typed as opt->type
    const char *text;  // the value as text, "" if unset; secrets are "***"
    enum sb_opt_source source;
    const char *origin;    // "sysbench.cnf:12", "SYSBENCH_THREADS", the alias
                           // that was used on the command line, else ""
    const char *component; // of a mix, that the option belongs to, or NULL
    const char *plain;     // the name without the component: "tables"
}; // for an alias, all but table and opt describes its target

// Returns a new registry or NULL if out of memory. Free it with sb_opts_free()
// (NULL allowed).
struct sb_opts *sb_opts_new(void);
void sb_opts_free(struct sb_opts *o);

// Reads argv[1..]: "--name" and "--name=value" become settings, the rest
// positional arguments; "-h" is "--help". "--" alone is an error, and so is
// any other argument with a single dash, except "-". Secrets are overwritten
// in argv, to hide them in the process list: the values of settings that are
// declared secret or have "password" or "secret" in their name, and passwords
// in URLs and connection strings. argv must stay valid as long as tables are
// added. SB_EUSAGE names the argument.
int sb_opts_argv(struct sb_opts *o, int argc, char **argv, struct sb_err *err);

// Reads a config file: lines "name=value" or "name", '#' comments, quotes '
// and ", '-' and '_' interchangeable, leading "--" allowed. Settings below a
// [section] are kept for sb_opts_sections(). Returns SB_ESYS (cannot read) or
// SB_EUSAGE (names file:line).
int sb_opts_file(struct sb_opts *o, const char *path, struct sb_err *err);
// The same from memory, for tests and the fuzzer. Errors refer to it as
// origin.
int sb_opts_file_text(struct sb_opts *o, const char *origin, const char *text,
    size_t len, struct sb_err *err);

enum sb_opts_section {
    SB_SECTION_UNKNOWN, // names no workload
    SB_SECTION_OTHER,   // names workloads, but not the one that runs
    SB_SECTION_MINE,    // names the workload that runs
};

// Applies the settings in sections. Call it once, after reading all files.
// kind(arg, name) classifies the text between the brackets.
//
// If any section names a workload, the sections of the selected workload are
// applied, after the settings above the first section. Sections of other
// workloads are skipped; sections that name none are skipped, and
// sb_opts_check() warns of them. If no section names a workload, headers have
// no effect, as in sysbench 1.0: all settings are applied in order.
//
// With strict, or if sections name workloads, sb_opts_check() treats unknown
// settings in files as errors. With strict, a section that names no workload
// is an error. Returns SB_EUSAGE, SB_ENOMEM, or the error of a value.
int sb_opts_sections(struct sb_opts *o, bool strict,
    enum sb_opts_section (*kind)(void *arg, const char *name), void *arg,
    struct sb_err *err);

// For a mix, before sb_opts_sections(): as(arg, name, n) returns the n-th
// component, 0 first, that the section is for, or NULL after the last. The
// settings of the section then become settings of these components.
void sb_opts_sections_as(struct sb_opts *o,
    const char *(*as)(void *arg, const char *section, unsigned n), void *arg);

// Reads every SYSBENCH_* variable of envp as a setting, except those that are
// not options (SYSBENCH_DRIVER_DIR, SYSBENCH_LUA_DIR).
int sb_opts_env(struct sb_opts *o, char *const *envp, struct sb_err *err);

// Positional argument n (0: test name, 1: command), or NULL.
const char *sb_opts_positional(const struct sb_opts *o, size_t n);
// Called for a positional argument that is neither a test nor a command.
// Returns SB_EUSAGE, with a message, if the argument must not be shown, because
// it follows an option such as --mysql-password without a value. Otherwise, and
// for NULL, returns 0.
int sb_opts_unshown(
    const struct sb_opts *o, const char *argument, struct sb_err *err);
// Returns a copy of the text without the passwords in it: in URLs, connection
// strings and command lines. The caller frees it. NULL: out of memory.
char *sb_opts_hide(const char *text);
// The same for messages: writes the text, cut to size, and returns out.
const char *sb_opts_show(char *out, size_t size, const char *text);
// The same for a statement, in place: overwrites strings such as those after
// IDENTIFIED BY and PASSWORD.
void sb_opts_overwrite_sql(char *sql);
// sb_opts_show() in a buffer that is valid in the enclosing block. Every
// message that quotes what a user has given needs it: the text may contain a
// password.
#define SB_SHOWN(text) sb_opts_show((char[512]){ 0 }, 512, (text))

// Adds a table whose values are stored in `target` (the options struct of the
// module): stores every default, then applies the settings received so far in
// order of precedence. Every setting is checked, even if it is overridden. The
// table and target must outlive the registry.
//
// Names are unique over all tables; SB_EINTERNAL names one declared twice.
// Exceptions: a script may redeclare an option of the core
// (sb_opts_add_script), and may declare an option before its table is added,
// which then keeps the script's default.
//
// SB_EUSAGE / SB_ERANGE: "Invalid value for the 'threads' option: 'x' (...)".
// SB_EINTERNAL: the same for a default of the table.
int sb_opts_add(struct sb_opts *o, const struct sb_opt_table *table,
    void *target, struct sb_err *err);

// Logs one warning for all deprecated options given so far; later ones are
// logged when they are applied. Call it once, when the log level (--verbosity)
// is set.
void sb_opts_warn(struct sb_opts *o);

// Declares an option of a script at run time; the registry owns its storage.
// def_text NULL: unset. If the core has an option of this name, the script
// only changes its default (as in sysbench 1.0), unless the user set it. An
// option with SB_OPT_YIELDS is instead reset to its default, and the name
// belongs to the script. Views of the option have a table with the title and
// an empty list of options. SB_OPT_ENUM is not supported.
int sb_opts_add_script(struct sb_opts *o, const char *title, const char *name,
    const char *help, enum sb_opt_type type, const char *def_text,
    struct sb_err *err);

// Returns true if a user gave this option ("mysql-host"), in any source, or
// with prefix = true, any option whose name begins with it. Includes settings
// that no table has declared yet.
bool sb_opts_given(const struct sb_opts *o, const char *name, bool prefix);

// Visits the settings that no table declares, in the order given. visit()
// returns 0 to continue. value is the raw text, or NULL if none was given.
int sb_opts_unclaimed(const struct sb_opts *o,
    int (*visit)(void *arg, const char *name, const char *value,
        enum sb_opt_source source, const char *origin),
    void *arg);

// Visits all settings that a user gave, in the order of the sources, declared
// or not, also those that others override. name has dashes; value is the text
// with secrets as "***", "" if none was given. visit() returns 0 to continue;
// otherwise its result is returned. name and value are valid during the call.
// SB_ENOMEM. Any thread, while no other changes the registry.
int sb_opts_settings(const struct sb_opts *o,
    int (*visit)(void *arg, const char *name, const char *value,
        enum sb_opt_source source),
    void *arg);

// Visits the values that a source gives for one option, in the order given, as
// they were written: secrets are not masked. visit() returns 0 to continue;
// otherwise its result is returned.
int sb_opts_values(const struct sb_opts *o, const char *name,
    enum sb_opt_source source, int (*visit)(void *arg, const char *value),
    void *arg);
// Compares two names; '-' and '_' are the same.
bool sb_opts_same_name(const char *a, const char *b);
// Whether a value with this name is a secret, as far as the name says so.
bool sb_opts_secret_name(const char *name);

// Returns a value of an option as it may be shown: secrets are "***". It
// belongs to the registry. NULL: no memory.
const char *sb_opts_shown(
    struct sb_opts *o, const char *name, const char *value);

// Adds a setting as if it were on the command line, behind all others. name and
// value are copied. 0, or the error of an invalid value.
int sb_opts_give(
    struct sb_opts *o, const char *name, const char *value, struct sb_err *err);

// Returns the declared name most similar to `name`, or NULL. See base/near.h.
// Includes secret and hidden options.
const char *sb_opts_nearest(const struct sb_opts *o, const char *name);

// An undeclared name, for messages: "--name (did you mean --meant?)".
struct sb_opts_unknown {
    char name[128]; // only its beginning if the rest may be a secret, as in
                    // "mysql-passwordPW"
    char meant[64]; // with the dashes or underscores of the user; "": none
};
// has_value: the user gave the name with a value.
void sb_opts_unknown(const struct sb_opts *o, const char *name, bool has_value,
    struct sb_opts_unknown *u);

// The final check, after every table was added. The first undeclared setting
// of the command line is an SB_EUSAGE, which names it and the most similar
// option. The first one of a file is an error too, with file and line, if
// sb_opts_sections() decided so; otherwise it is passed to warn() (may be
// NULL). So are unknown SYSBENCH_* variables, which may belong to another
// program.
int sb_opts_check(
    struct sb_opts *o, void (*warn)(const char *text), struct sb_err *err);

// Visits all declared options in order of declaration.
int sb_opts_each(const struct sb_opts *o,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg);
// Finds an option by name ('-' and '_' interchangeable); false if it is not
// declared. For the Lua API and tests; C modules read their own struct.
bool sb_opts_find(
    const struct sb_opts *o, const char *name, struct sb_opt_view *view);

// Sets an option of a table that was added, as if given in that source (for
// deprecated spellings and drv:connect{...}). A value from a stronger source
// is kept. SB_ENOTFOUND: no such option.
int sb_opts_set(struct sb_opts *o, const char *name, const char *value,
    enum sb_opt_source source, struct sb_err *err);

// Parses one value into target according to opt, with its bounds. Strings and
// lists are allocated from o. Also used for connection options: target is then
// a copy of a driver's options struct.
int sb_opts_parse(struct sb_opts *o, const struct sb_opt *opt,
    const char *value, void *target, struct sb_err *err);

// Prints the help of one table: its title and its options, without hidden
// options and without a trailing empty line, in lines that fit the terminal
// (sb_wrap()). flags: those that an option must have to be printed, or 0. The
// table need not be added. Returns whether there was anything to print.
bool sb_opts_help(const struct sb_opts *o, const struct sb_opt_table *table,
    unsigned flags, FILE *out);
// The same for the options that the script of this title declared with
// sb_opts_add_script(), including options of the core.
bool sb_opts_script_help(const struct sb_opts *o, const char *title, FILE *out);
// Prints every option with value and source as a config file. Defaults and
// masked secrets are commented out, so that the output can be read back.
void sb_opts_print_config(const struct sb_opts *o, FILE *out);

// Options of one component of a mix, in the registry of all options under the
// name COMPONENT.NAME. There are three kinds: what its script declares, copies
// of options of the program and of drivers, and settings of scripts that
// declare nothing. Main thread, while options are added.
// Settings of COMPONENT.NAME win over those of NAME from the same source; a
// stronger source wins in any case. `title` is that of the script's options, as
// in sb_opts_add_script(). Views have `component` and `plain`, the name without
// the component. The registry owns all storage.

// Declares an option of the script, as sb_opts_add_script(). A setting of
// `name` alone is a weaker spelling of it, for each component that declares it.
// If the program has an option `name` without SB_OPT_YIELDS, nothing is
// declared, and def_text becomes the default of that option; if it has one with
// SB_OPT_YIELDS, `name` alone remains that option. 0, SB_EUSAGE, SB_ENOMEM.
int sb_opts_add_component(struct sb_opts *o, const char *title,
    const char *component, const char *name, const char *help,
    enum sb_opt_type type, const char *def_text, struct sb_err *err);

// Declares a copy of each option of the program or of a loaded driver for which
// users gave COMPONENT.NAME. The copy has the value of the option where the
// component has none from an equal or a stronger source. Settings that are
// declared already, and names that nothing declares, are left alone: call it
// again when a driver has added its options. SB_EUSAGE: allowed() returned
// false, or a value is wrong. SB_ENOMEM.
int sb_opts_own(struct sb_opts *o, const char *title, const char *component,
    bool (*allowed)(void *arg, const struct sb_opt_view *view), void *arg,
    struct sb_err *err);
// Stores the value of a copy, given by its view, in the struct `target`, in the
// place of `opt`, the option that was copied.
void sb_opts_copy_own(
    const struct sb_opt_view *own, const struct sb_opt *opt, void *target);

// Visits the settings that are for the script of a component if it declares
// nothing: COMPONENT.NAME, and names that neither the program nor a driver
// declares. visit() as in sb_opts_unclaimed(); name is without the component.
int sb_opts_undeclared(const struct sb_opts *o, const char *component,
    int (*visit)(void *arg, const char *name, const char *value,
        enum sb_opt_source source, const char *origin),
    void *arg);

// Prints text for people in lines that fit the terminal: from column `at` of a
// line that is begun, and ends the line. Further lines are indented by `indent`
// spaces, at most half the width. Lines break at spaces, and where the text has
// newlines; a word that is longer than a line breaks after a comma if it has
// one. Characters are those of UTF-8.
void sb_wrap(FILE *out, size_t at, size_t indent, const char *text);

#endif
