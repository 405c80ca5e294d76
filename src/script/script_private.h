// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the script layer share: the script, its Lua states, code
// that is parsed once, values of options as Lua sees them.
#ifndef SB_SCRIPT_PRIVATE_H
#define SB_SCRIPT_PRIVATE_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "script/pool.h"
#include "script/script.h"
#include "script/sequence.h"

// sysbench.version
#ifdef PACKAGE_VERSION
#define SB_SCRIPT_VERSION PACKAGE_VERSION
#else
#define SB_SCRIPT_VERSION "1.1.0"
#endif

// Code --------------------------------------------------------------------

// Bytecode of Lua files and embedded modules: parsed in the first state that
// wants them, loaded by the others. Any thread.
struct sb__code;
struct sb__codes {
    pthread_mutex_t lock;
    struct sb__code *first;
    const char *workloads; // the folder of the installed ones
    bool wild;
};

void sb__codes_init(struct sb__codes *c, const char *workloads);
void sb__codes_done(struct sb__codes *c);
// Once in a new state, when its libraries are there and no script has run.
void sb__codes_begin(lua_State *L);
// True when code of a script's own has a word that lazy tables are no match
// for (sb__lazy_wild()).
bool sb__codes_wild(struct sb__codes *c);
// Push the loaded chunk and return 0, or an error message and its Lua status.
int sb__codes_file(struct sb__codes *c, lua_State *L, const char *path);
int sb__codes_text(struct sb__codes *c, lua_State *L, const char *chunk,
    const char *text, size_t len);
int sb__codes_module(struct sb__codes *c, lua_State *L, const char *name);
// Declares an embedded .ffi.h ("sql") in this state: its types, once, and of
// its functions those listed (names between spaces), or all when NULL. Every
// declaration costs memory in every state. Raises Lua errors.
void sb__cdef(lua_State *L, const char *name, const char *functions);

// Finding -----------------------------------------------------------------

// Where the script `name` lies; script.h tells the order. path: as it is to
// be opened. module_path: package.path. taken: what was found by the last
// components of a path among the installed workloads. SB_ENOTFOUND.
int sb__find(const char *name, const char *workloads, const char *module_path,
    char *path, size_t size, bool *taken, struct sb_err *err);
// The file of a module; false when no template of module_path leads to one.
bool sb__find_module(
    char *path, size_t size, const char *module_path, const char *name);
// package.path for scripts: LUA_PATH with ";;" standing for the default, or
// the default alone. 0 or SB_ENOMEM; the caller frees *out.
int sb__find_path(const char *workloads, char **out);

// States ------------------------------------------------------------------

// One Lua state with what belongs to it.
struct sb__state {
    lua_State *L;
    struct sb_script *script;
    struct sb_user *user;     // NULL in the main and the report state
    struct sb_random *random; // the user's, or &own
    struct sb_random own;
    struct sb_db_ctx ctx;
    struct sb__pool pool;
    unsigned tid;
    int priv;      // registry references: the table of embedded modules ...
    int run;       // ... and run() of user.lua
    bool canceled; // under script->lock
};

// A state with the API loaded, the body of the script not run yet. user NULL:
// tid is as given. SB_ENOMEM / SB_ESCRIPT.
int sb__state_new(struct sb__state **out, struct sb_script *s,
    struct sb_user *user, unsigned tid, struct sb_err *err);
void sb__state_free(struct sb__state *st); // NULL allowed
// Runs the script's body and then makes the options visible.
int sb__state_body(struct sb__state *st, struct sb_err *err);
int sb__state_options(struct sb__state *st, struct sb_err *err);
// Drops what loading left behind.
void sb__state_trim(struct sb__state *st);

// Calls the function below its nargs arguments; `what` names it in errors
// ("`event' function failed: ..."). nresults are left on the stack, nothing
// after a failure. SB_ESCRIPT, or SB_ECANCELED when the state was canceled.
int sb__state_call(struct sb__state *st, const char *what, int nargs,
    int nresults, struct sb_err *err);
// Message handler of every protected call: adds the place, with --debug logs
// the traceback.
int sb__on_error(lua_State *L);
// The error value on the stack top as a text for the user; pushes things, the
// text is valid while they are there.
const char *sb__error_text(lua_State *L);
// The global function `name` with the thread number: 0 when there is none.
int sb__state_hook(struct sb__state *st, const char *name, struct sb_err *err);
// Pushes field `name` of the embedded module `module`. 0 or SB_ESCRIPT.
int sb__state_module(struct sb__state *st, const char *module,
    const char *field, struct sb_err *err);
// True when the global, or the field of sysbench[table], is a function.
bool sb__state_has(struct sb__state *st, const char *table, const char *name);

// The state that runs in this thread, for the C functions of 1.x that know no
// context (compat.c).
void sb__compat_enter(struct sb__state *st); // NULL: none

// Pushes the Lua module of the driver whose name is argument 1, as a function,
// and the driver's file, or nil and the reason; returns 2 (driver.c).
int sb__driver_chunk(struct sb__state *st);

// In place of luaL_openlibs() and of sb__options_push(): tables that fill
// themselves when they are touched. Raise Lua errors.
void sb__lazy_libs(lua_State *L);
void sb__lazy_options(lua_State *L, const struct sb_script *s);
// Fills them, if there are some. A Lua status, and the error if it is not 0.
int sb__lazy_settle(lua_State *L);
// True when the bytecode may come to see a difference.
bool sb__lazy_wild(const char *code, size_t len);

// Lua's print() and ffi.load() in the forms that they have here (libs.c).
// sb__libs_ffi(): the ffi library is on the stack top.
void sb__libs_init(lua_State *L);
void sb__libs_ffi(lua_State *L);

// Areas of machine code begin small (mcode.c).
void sb__mcode_init(lua_State *L);

// The script --------------------------------------------------------------

// An option as states get it.
struct sb__value {
    char *name; // with '_'
    const struct sb_opt *opt;
    const void *value;
    bool idle; // of a driver that is not loaded: its default
};

struct sb_script {
    struct sb_script_env env;
    struct sb_workload workload;
    struct sb_clock clock; // of the main and the report state
    struct sb__codes codes;
    pthread_mutex_t lock; // u->data and `canceled` of every user
    struct sb_sequences sequences;
    struct sb__state *main, *report;
    char *given;       // the name as typed, NULL for standard input
    char *name;        // "oltp_read_write"
    char *title;       // of its option table: "oltp_read_write.lua options"
    char *command;     // NULL: none
    char **commands;   // what sb_script_commands() found
    char *module_path; // package.path
    char path[4096];   // the file; "stdin"
    char *text;        // of standard input
    size_t text_len;
    bool from_stdin, legacy, ready;
    bool report_interval, report_final, report_line; // hooks that are set
    struct sb__value *values;
    size_t nvalues;
};

// Takes the values of all options from the registry, and those of drivers that
// are not loaded. 0 or SB_E*.
int sb__options_take(struct sb_script *s, struct sb_err *err);
void sb__options_done(struct sb_script *s);
// Pushes a new table of all of them. Raises Lua errors.
void sb__options_push(lua_State *L, const struct sb_script *s);
// True for an option of a driver that is not loaded; name with '_'.
bool sb__options_idle(const struct sb_script *s, const char *name);
// Pushes the value of s->values[i].
void sb__options_push_one(lua_State *L, const struct sb_script *s, size_t i);

// commands.c. Frees what sb_script_commands() found.
void sb__commands_done(struct sb_script *s);
// Prints what the script declares, as its `help` command does.
void sb__options_help(const struct sb_script *s);

// Gives a user its state, with the body run: u->data, also after a failure
// of the body. The user's thread.
int sb__workload_attach(struct sb_script *s, struct sb_user *u,
    struct sb__state **out, struct sb_err *err);

extern const struct sb_workload_ops sb__script_ops;

#endif
