// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the option registry share: the registry itself, its
// memory, the parsing of values, the hiding of secrets. Main thread only, as
// opts.h says.
#ifndef SB_OPTS_PRIVATE_H
#define SB_OPTS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opts.h"

// One setting as it came from outside. Kept after it was applied, because a
// table that is added later may want it (a script may be replaced by a
// driver's table) and sb_opts_given() asks for it.
struct sb__opts_setting {
    const char *name;   // as the user wrote it, without dashes before it
    const char *value;  // NULL: none given
    const char *origin; // "" for the command line
    char *argv;         // the value's place in argv, NULL elsewhere
    enum sb_opt_source source;
    bool claimed; // some table declares it
};

// One declared option and its state.
struct sb__opts_decl {
    const struct sb_opt_table *table;
    const struct sb_opt *opt;
    void *target;                // base of the module's options struct
    struct sb__opts_decl *alias; // the option that this one sets, or NULL
    const char *def;             // default in force, NULL: none
    const char *text;            // value as text, never NULL
    const char *shown;           // the same with secrets masked
    const char *origin;
    enum sb_opt_source source;
    bool via_alias; // the value came by another option's name
    bool script;    // declared by a script
    bool warned;    // it is deprecated and was given
};

struct sb__opts_list { // growing array of pointers
    void **item;
    size_t len, cap;
};

// What one script declares, in its order: options of its own and those of
// the core to which it gave a default.
struct sb__opts_script {
    struct sb_opt_table table;
    struct sb__opts_list opts; // struct sb_opt *
};

struct sb_opts {
    struct sb__opts_mem *mem;        // everything the registry allocated
    struct sb__opts_list settings;   // struct sb__opts_setting *
    struct sb__opts_list decls;      // struct sb__opts_decl *
    struct sb__opts_list positions;  // char *
    struct sb__opts_list scripts;    // struct sb__opts_script *, by title
    struct sb__opts_list deprecated; // struct sb__opts_decl *, given before ...
    bool warns;                      // ... this was set, by sb_opts_warn()
    struct sb__opts_list sections;   // of config files, by opts_section.c
    bool sectioned;                  // some of them name workloads
    bool strict; // what nobody declares is an error in a config file, too
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

// Zeroed memory that lives as long as the registry; NULL when out of memory.
void *sb__opts_alloc(struct sb_opts *o, size_t size);
// Copies of len bytes or of a string, NUL-terminated, in the same memory.
char *sb__opts_strndup(struct sb_opts *o, const char *text, size_t len);
char *sb__opts_strdup(struct sb_opts *o, const char *text);
// Appends; SB_ENOMEM.
int sb__opts_push(struct sb__opts_list *list, void *item);

// '-' and '_' are the same.
bool sb__opts_same(const char *a, const char *b);
// Does the setting mean the option of this name? Variables of the environment
// match in any case.
bool sb__opts_means(const struct sb__opts_setting *s, const char *name);
struct sb__opts_decl *sb__opts_lookup(
    const struct sb_opts *o, const char *name);
// NULL when no script of this title declares anything.
struct sb__opts_script *sb__opts_script(
    const struct sb_opts *o, const char *title);
void sb__opts_view(const struct sb__opts_decl *d, struct sb_opt_view *view);

// opts_section.c. Begins a section; keeps a setting of the one that was begun
// last (both copy what they get); frees all of them. SB_ENOMEM.
int sb__opts_section(struct sb_opts *o, const char *name, const char *origin,
    struct sb_err *err);
int sb__opts_wait(
    struct sb_opts *o, const struct sb__opts_setting *s, struct sb_err *err);
void sb__opts_sections_done(struct sb_opts *o);
// Warns of sections that name no workload.
void sb__opts_sections_warn(
    const struct sb_opts *o, void (*warn)(const char *text));

// Copies the setting, keeps it, and applies it when its option is declared.
// SB_ENOMEM, or the error of a value that does not fit.
int sb__opts_give(
    struct sb_opts *o, const struct sb__opts_setting *s, struct sb_err *err);

// Parses `value` (NULL: none given) per opt into *out, bounds included. The
// offset is not looked at. Errors as sb_opts_parse().
int sb__opts_value(struct sb_opts *o, const struct sb_opt *opt,
    const char *value, union sb__opts_value *out, struct sb_err *err);
// Writes the value where opt says in target, and whether a user gave it.
void sb__opts_store(const struct sb_opt *opt, const union sb__opts_value *value,
    bool given, void *target);

// True when this value of the option must not be shown at all. opt: NULL when
// no table declares the name.
bool sb__opts_secret(
    const struct sb_opt *opt, const char *name, const char *text);
// Overwrites the secret parts of text in place, or all of it.
void sb__opts_overwrite(char *text, bool whole);
// A copy that can be shown: secret parts, or all of it, are "***". An empty
// text stays empty. NULL when out of memory.
const char *sb__opts_mask(struct sb_opts *o, const char *text, bool whole);

#endif
