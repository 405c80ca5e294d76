// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the files of the option registry: its state, its memory, parsing
// of values, hiding of secrets. Main thread only, as opts.h says.
#ifndef SB_OPTS_PRIVATE_H
#define SB_OPTS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opts.h"

// One setting as received. It is kept after it was applied, because a table
// that is added later may replace the declaration of a script, and because of
// sb_opts_given().
struct sb__opts_setting {
    const char *name;   // as the user wrote it, without leading dashes
    const char *value;  // NULL: none given
    const char *origin; // "" for the command line
    char *argv;         // the value in argv, NULL for other sources
    enum sb_opt_source source;
    bool claimed;     // a table declares it
    bool unshown;     // the name may be the secret value of the line before
    bool has_options; // from a file: "--name=" is in the value, not in quotes
};

// One declared option and its state.
struct sb__opts_decl {
    const struct sb_opt_table *table;
    const struct sb_opt *opt;
    void *target;                // base of the module's options struct
    struct sb__opts_decl *alias; // the option that this one sets, or NULL
    const char *def;             // current default, NULL: none
    const char *text;            // value as text, never NULL
    const char *shown;           // the same with secrets masked
    const char *origin;
    enum sb_opt_source source;
    bool via_alias; // the value was set through an alias
    bool script;    // declared by a script
    // For an option of a component of a mix: the name of the component, and the
    // name of the option after the full stop. Otherwise NULL.
    const char *component, *plain;
    bool warned; // a warning of its use was logged
};

struct sb__opts_list { // growing array of pointers
    void **item;
    size_t len, cap;
};

// The options that one script declares, in order: its own and those of the
// core whose default it changes.
struct sb__opts_script {
    struct sb_opt_table table;
    struct sb__opts_list opts; // struct sb_opt *
};

struct sb_opts {
    struct sb__opts_mem *mem;       // everything the registry allocated
    struct sb__opts_list settings;  // struct sb__opts_setting *
    struct sb__opts_list decls;     // struct sb__opts_decl *
    struct sb__opts_list positions; // char *
    // A positional argument that may be the value of the secret option before
    // it, and this option.
    const char *unshown, *unshown_after;
    struct sb__opts_list scripts;    // struct sb__opts_script *, by title
    struct sb__opts_list deprecated; // struct sb__opts_decl *, given before
    bool warns;                      // set by sb_opts_warn(): warn at once
    struct sb__opts_list sections;   // of config files, by opts_read.c
    bool sectioned;                  // at least one names a workload
    bool strict; // undeclared settings in a config file are errors
    // Of sb_opts_sections_as(), or NULL.
    const char *(*as)(void *arg, const char *section, unsigned n);
    void *as_arg;
};

// A value of any type before it is stored at its offset.
union sb__opts_value {
    bool b;
    int64_t i;
    double d;
    const char *s;
    struct sb_opt_list l;
    int e;
};

// opts.c: allocates zeroed memory that lives as long as the registry, or
// returns NULL.
void *sb__opts_alloc(struct sb_opts *o, size_t size);
// The same for a copy of len bytes, or of a string; NUL-terminated.
char *sb__opts_strndup(struct sb_opts *o, const char *text, size_t len);
char *sb__opts_strdup(struct sb_opts *o, const char *text);
// Appends an item. 0 or SB_ENOMEM.
int sb__opts_push(struct sb_opts *o, struct sb__opts_list *list, void *item);
// Sets the error and returns SB_ENOMEM.
int sb__opts_no_memory(struct sb_err *err);

// SB_EUSAGE if the line of the file that sets this option also gives another
// option that is declared by now.
int sb__opts_one_per_line(const struct sb_opts *o,
    const struct sb__opts_setting *s, const struct sb_opt *opt,
    struct sb_err *err);
// True if the option does not accept settings from this source: the setting
// counts as not given.
bool sb__opts_not_accepted(
    const struct sb_opts *o, const struct sb__opts_setting *s);

// True if the setting is for the option of this name. Environment variables
// match in any case.
bool sb__opts_means(const struct sb__opts_setting *s, const char *name);
struct sb__opts_decl *sb__opts_lookup(
    const struct sb_opts *o, const char *name);
// opts.c, for options of scripts: adds a declaration without a value (NULL: out
// of memory), removes one, stores its default or a value with its text, applies
// the settings received so far to a table.
struct sb__opts_decl *sb__opts_new_decl(struct sb_opts *o,
    const struct sb_opt_table *table, const struct sb_opt *opt, void *target);
void sb__opts_drop(struct sb_opts *o, const struct sb__opts_decl *d);
int sb__opts_store_default(
    struct sb_opts *o, struct sb__opts_decl *d, struct sb_err *err);
int sb__opts_store_text(struct sb_opts *o, struct sb__opts_decl *d,
    const union sb__opts_value *v, const char *raw, enum sb_opt_source source,
    struct sb_err *err);
int sb__opts_apply_waiting(
    struct sb_opts *o, const struct sb_opt_table *table, struct sb_err *err);
// Applies one setting. common: the setting names the option without the
// component; a setting of COMPONENT.NAME from the same source overrides it.
int sb__opts_apply(struct sb_opts *o, struct sb__opts_decl *d,
    struct sb__opts_setting *s, bool common, struct sb_err *err);
// opts_script.c: finds the options of the script with this title (NULL: none),
// or makes room for them (NULL: out of memory).
struct sb__opts_script *sb__opts_script(
    const struct sb_opts *o, const char *title);
void sb__opts_view(const struct sb__opts_decl *d, struct sb_opt_view *view);

// If "name=" or "--name=" begins at p, returns the name and sets its length.
// Otherwise returns NULL.
const char *sb__opts_option_at(const char *p, size_t *len);

// Copies and keeps the setting, and applies it if its option is declared.
// Returns SB_ENOMEM or the error of an invalid value.
int sb__opts_add_setting(
    struct sb_opts *o, const struct sb__opts_setting *s, struct sb_err *err);

// Parses `value` (NULL: none given) according to opt into *out, with bounds.
// Does not use the offset. Errors as in sb_opts_parse().
int sb__opts_value(struct sb_opts *o, const struct sb_opt *opt,
    const char *value, union sb__opts_value *out, struct sb_err *err);
// Stores the value in target at the offset, and whether a user gave it.
void sb__opts_store(const struct sb_opt *opt, const union sb__opts_value *value,
    bool given, void *target);

// Returns true if the whole value of the option is secret. opt: NULL if no
// table declares the name.
bool sb__opts_secret(
    const struct sb_opt *opt, const char *name, const char *text);
// Returns the length of the name up to the end of the part that makes it the
// name of a secret, such as "db-password" of "db-passwordX", or 0.
size_t sb__opts_secret_part(const char *name, size_t n);
// Overwrites the secret parts of text in place, or the whole text.
void sb__opts_overwrite(char *text, bool whole);
// Adds text to b with its secret parts, or all of it, replaced by "***". 0 or
// SB_ENOMEM.
struct sb_buf;
int sb__opts_mask_into(struct sb_buf *b, const char *text, bool whole);

#endif
