// SPDX-License-Identifier: GPL-2.0-or-later
//
// Declarations that the files of the script layer share: the script, its Lua
// states, code that is parsed once, values of options for Lua.
#ifndef SB_SCRIPT_PRIVATE_H
#define SB_SCRIPT_PRIVATE_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "script/script.h"
#include "kit/rng.h"
#include "loop/waiter.h"
#include "script/sequence.h"
#include "script/turn.ffi.h"

// sysbench.version
#ifdef PACKAGE_VERSION
#define SB_SCRIPT_VERSION PACKAGE_VERSION
#else
#define SB_SCRIPT_VERSION "1.1.0"
#endif

// LuaJIT's settings of the garbage collector, in percent: how far the heap
// grows until a collection begins, and how fast that collects.
#define SB__PAUSE 200
#define SB__STEPS 200
// The pause while the state of a user loads the script. Each collection marks
// all that was loaded before, so there are only two: after the embedded
// modules, and after the script. A script that leaves much garbage causes more.
#define SB__PAUSE_LOADING 1000

// Code --------------------------------------------------------------------

// Bytecode of Lua files and embedded modules: parsed in the first state that
// uses them, and loaded by the others. Any thread.
struct sb__code;
struct sb__codes {
    pthread_mutex_t lock;
    struct sb__code *first;
    const char *const *names;
    _Atomic bool named; // one of the names is in the code of a script
};

// names: up to NULL, or NULL. Valid until sb__codes_done().
void sb__codes_init(struct sb__codes *c, const char *const *names);
void sb__codes_done(struct sb__codes *c);
// Called once in a new state, after its libraries are loaded and before a
// script runs.
void sb__codes_begin(lua_State *L);
// Called when the function on the stack top, pushed by one of the following
// functions, has returned: another user of the state may then run it. So the
// functions that it creates for users have the same prototypes, and LuaJIT
// compiles them once.
void sb__codes_give_back(lua_State *L);
// Push the loaded chunk and return 0, or push an error message and return a Lua
// status.
// dir: the descriptor of the folder where a relative path begins, or AT_FDCWD.
int sb__codes_file(
    struct sb__codes *c, lua_State *L, int dir, const char *path);
int sb__codes_text(struct sb__codes *c, lua_State *L, const char *chunk,
    const char *text, size_t len);
// Code of the program, without line numbers.
int sb__codes_own(struct sb__codes *c, lua_State *L, const char *chunk,
    const char *text, size_t len);
int sb__codes_module(struct sb__codes *c, lua_State *L, const char *name);
// Pushes the paths of the files that were parsed; returns their number. Before
// users have states.
int sb__codes_push_files(struct sb__codes *c, lua_State *L);
// Adds a file that a script has read, and that is not Lua code, to those that
// are visited. Any thread.
void sb__codes_note(struct sb__codes *c, const char *path, const char *sha256);
// Visits them and those, in the order in which they were loaded. Any thread.
void sb__codes_each_file(struct sb__codes *c,
    void (*visit)(void *arg, const char *path, const char *sha256), void *arg);
// Whether is() returns true for all of them.
bool sb__codes_all_files(struct sb__codes *c,
    bool (*is)(const char *path, const void *arg), const void *arg);
// Declares an embedded .ffi.h ("sql") in this state, once. Raises Lua errors.
void sb__cdef(lua_State *L, const char *name);

// Finding -----------------------------------------------------------------

// Finds the script `name` in the order described in script.h. path: where to
// store the path. module_path: package.path. *installed: whether it was found
// among the installed workloads by the last components of a path. 0 or
// SB_ENOTFOUND.
int sb__find(const char *name, const char *workloads, const char *module_path,
    char *path, size_t size, bool *installed, struct sb_err *err);
// If the script was found by its bare name in the current folder, finds the
// installed workload that would have been run otherwise.
bool sb__find_hidden(
    const char *found, const char *workloads, char *path, size_t size);
// Finds the file of a module; false if no template of module_path matches one.
bool sb__find_module(
    char *path, size_t size, const char *module_path, const char *name);
// Finds the file of a module that a script requires. The order is: the folder
// of the script; module_path; the folder of the workloads, if sysbench 1.0
// installed a file of this name or the name begins with "sb.". For an installed
// workload, the first is instead the folder of the workloads, and only for
// names that begin with "sb.". *dir: the folder where a relative path begins,
// for sb__codes_file().
bool sb__find_required(char *path, size_t size, const struct sb_script *s,
    const char *module_path, const char *name, int *dir);
// Makes package.path for scripts: LUA_PATH, in which ";;" stands for the
// default, or the default alone. 0 or SB_ENOMEM; the caller frees *out.
int sb__find_path(char **out);

// States ------------------------------------------------------------------

// Whether users of a worker may share a Lua state. An installed workload may.
// With a script of the user, the first user has a state of its own; if its body
// and thread_init() change what users would share, none may.
enum sb__sharing {
    SB__SHARING_UNKNOWN,
    SB__SHARING_TRIED,
    SB__SHARES,
    SB__ALONE
};

// Users that may share a Lua state. More would share the collector's pauses.
#define SB__USERS_PER_STATE 1000

struct sb__state;

// Where the code that LuaJIT has compiled for a state begins (lines.c).
#define SB__TRACE_LINE (LUA_IDSIZE + 16)
struct sb__traces {
    pthread_mutex_t lock; // of list, which the main thread reads
    struct sb__trace *list;
    size_t n, cap;
    unsigned flushes;          // how often LuaJIT has dropped all traces
    char line[SB__TRACE_LINE]; // of the trace that is being compiled
};

// A Lua state: its libraries and the API, for one user or for several users of
// one worker, whose threads of Lua run in turn. Only the thread of the worker
// uses it.
struct sb__vm {
    struct sb__vm *next; // in script->vms, under script->lock
    lua_State *L;
    struct sb_script *script;
    const void *worker; // of its users; NULL: not shared
    bool of_users;
    unsigned users; // that it has
    struct sb_turn turn;
    struct sb__state *now;   // whose turn it is, or was last
    struct sb__state *first; // of its users
    struct sb__state *left;  // users that left, and whose handles Lua still has
    lua_Alloc alloc;         // Lua's own
    void *alloc_arg;
    int priv;          // registry references: the table of embedded modules
    int base;          // and the globals, without those of a user
    bool closing;      // only finalizers still run
    unsigned watching; // users whose lines are watched
    // While it is not 0: sets or removes the hook for the user whose turn it is
    // (lines.c).
    void (*watch)(const struct sb__state *st);
    bool compiled;            // LuaJIT compiled before lines were watched
    bool compiles;            // LuaJIT is to compile when half of the users
                              // are warm
    unsigned warm;            // users that have had their first events
    struct sb__traces traces; // if the users have fibers
};

// A user of a script, or the main thread: a thread of Lua with its globals.
struct sb__state {
    lua_State *L;
    struct sb__vm *vm;
    struct sb__state *next; // in vm->first or vm->left
    struct sb_script *script;
    struct sb_user *user;     // NULL in the main and the report state
    struct sb_fiber *fiber;   // of the user, if its state is shared
    struct sb_random *random; // the user's, or &own
    struct sb_random own;
    struct sb_rng math; // of math.random()
    struct sb_db_ctx ctx;
    unsigned tid;       // of all ranks
    unsigned local_tid; // of this process
    int slot;           // of the user's table in sb.users
    int thread;         // registry references: L, and run() of user.lua
    int run;
    _Atomic bool canceled;
    bool own_loop;           // the script has a thread_run()
    bool counted;            // sb__libs_user_begins() was called
    struct sb__lines *lines; // while they are watched, or NULL
};

// Called before code of the user runs, and after it. Between the two calls, the
// fiber of the user must not wait if the state is shared.
static inline void sb__state_enter(struct sb__state *st)
{
    struct sb__vm *vm = st->vm;

    vm->now = st;
    vm->turn.user = st->user;
    vm->turn.random = st->random;
    vm->turn.math = &st->math;
    vm->turn.ctx = &st->ctx;
    vm->turn.slot = (uint32_t)st->slot;
    if (vm->watch)
        vm->watch(st);
    if (st->fiber)
        sb_fiber_pin(st->fiber, "a script called through the FFI a function "
                                "that waits, but its users share a Lua state "
                                "(--workers=users gives each user its own)");
}

static inline void sb__state_leave(struct sb__state *st)
{
    if (st->fiber)
        sb_fiber_pin(st->fiber, NULL);
}

// Creates a state with the API loaded; the body of the script has not run yet.
// tid is used only if user is NULL. shared: other users of the worker may share
// the Lua state. 0, SB_ENOMEM or SB_ESCRIPT.
int sb__state_new(struct sb__state **out, struct sb_script *s,
    struct sb_user *user, unsigned tid, bool shared, struct sb_err *err);
void sb__state_free(struct sb__state *st); // NULL is allowed
// randoms.c. The random numbers of a user. NULL if out of memory.
struct sb_random *sb__random_of(struct sb_script *s, struct sb_user *u);
void sb__randoms_done(struct sb_script *s);
// memory.c. Memory for the states of users when the system refuses more.
void sb__memory_init(struct sb_script *s);
void sb__memory_done(struct sb_script *s);
// Called when the system has refused memory to the state. If the state belongs
// to users, ends the run; the reserve is the memory for the rest of the event.
void sb__memory_refused(struct sb__vm *vm);
// Runs the script's body. 0 or SB_E*.
int sb__state_body(struct sb__state *st, struct sb_err *err);
// Makes the values of options available to the script. 0 or SB_E*.
int sb__state_options(struct sb__state *st, struct sb_err *err);
// The user is ready: frees the memory that was used only for loading, if the
// state has one user.
void sb__state_trim(struct sb__state *st);

// Calls the function on the stack with its nargs arguments; `what` names it in
// errors of a script of the user ("`event' function failed: ..."), as in 1.0;
// NULL: no such prefix. Errors of an installed workload are only the sentence.
// Leaves nresults values on the stack, nothing after a failure. 0, SB_ESCRIPT,
// or SB_ECANCELED if the state was canceled.
int sb__state_call(struct sb__state *st, const char *what, int nargs,
    int nresults, struct sb_err *err);
// Message handler of every protected call: adds the position, and logs the
// traceback if --debug is set.
int sb__on_error(lua_State *L);
// Handler of an error outside of protected calls, for example if memory is
// exhausted there: writes a message. Then LuaJIT ends the process.
int sb__on_panic(lua_State *L);
// Returns the error value on the stack top as text for the user. where: with
// the position that sb__on_error() added to a table. Pushes values; the text is
// valid while they are on the stack.
const char *sb__error_text(lua_State *L, bool where);
// If a text of several lines did not fit into *err, removes its incomplete last
// line, unless that line is long. err may be NULL.
void sb__error_cut(struct sb_err *err);
// Calls the global function `name` with the thread number. Leaves nresults
// values on the stack, nils if there is no such function, nothing after a
// failure. 0 or SB_E*.
int sb__state_hook(
    struct sb__state *st, const char *name, int nresults, struct sb_err *err);
// Pushes field `name` of the embedded module `module`. 0 or SB_ESCRIPT.
int sb__state_module(struct sb__state *st, const char *module,
    const char *field, struct sb_err *err);
// Pushes the global, or the field of sysbench[table], if it is a function.
// Otherwise pushes nothing and returns false. Calls no metamethods.
bool sb__state_push(struct sb__state *st, const char *table, const char *name);
// True if sb__state_push() would push a function.
bool sb__state_has(struct sb__state *st, const char *table, const char *name);

// Whether LuaJIT compiles in this state: jit.status() (lines.c).
bool sb__compiles(lua_State *L);

// Lines (lines.c): finds the line that blocks the other users of a worker.
// sb__lines_switch() is called when the loop of a user's events has ended: it
// starts or stops recording which line runs, if sb_user_lines() asks for it.
// Returns true if the loop has to run again. Call it only outside of compiled
// code, that is, from a function of Lua's C API.
bool sb__lines_switch(struct sb__state *st);
// Stops recording, when the user ends.
void sb__lines_end(struct sb__state *st);
// user_held of struct sb_workload_ops, for the state.
enum sb_held sb__lines_held(
    struct sb__state *st, const struct sb_hold *hold, char *what, size_t size);

// Stuck scripts (lines.c). Notes the traces of a new state from now on. Raises
// Lua errors.
void sb__traces_note(lua_State *L, struct sb__traces *t);
void sb__traces_init(struct sb__traces *t);
void sb__traces_done(struct sb__traces *t);
// Finds the line that the thread of a state executes, or the first line of its
// endless loop: "x.lua:12". Takes up to 0.1 s. Called by one thread at a time,
// which must not be the thread of the state. The state must not be freed
// before this returns.
bool sb__stuck_line(
    struct sb__vm *vm, pthread_t thread, char *what, size_t size);

// Sets the state that runs in this thread, for the C functions of 1.x without a
// context parameter (compat.c).
void sb__compat_enter(struct sb__state *st); // NULL: none

// Pushes a Lua module (argument 2; nil: the first one) of the driver whose name
// is argument 1, as a function, the driver's file, and its declarations or nil;
// or nil and the reason. Returns the number of values (driver.c).
int sb__driver_module(lua_State *L, struct sb__state *st);

// The functions that may wait (calls.c), for a shared state. Argument 1 is the
// turn as cdata. Pushes a table: name -> function. Returns 1. Raises Lua
// errors.
int sb__calls_push(lua_State *L, struct sb__vm *vm);
// The names of these functions and of other functions that wait, up to NULL. A
// script whose code contains one of these names calls the function by FFI.
extern const char *const sb__call_names[];

// Replaces Lua's print(), os.exit(), ffi.load() and others (libs.c). Changes
// globals. Raises Lua errors.
void sb__libs_init(lua_State *L, struct sb__vm *vm);
// Called when a user has got its state, and before it loses the state. If the
// process calls exit() between the two calls, a warning is logged. Any thread.
void sb__libs_user_begins(void);
void sb__libs_user_ends(void);
// Called by a thread before it logs why it ends the process: no other message
// about the end is logged. Waits forever if another thread already ends the
// process. Any thread.
void sb__libs_ending(void);

// Results (results.c) ------------------------------------------------------

// A table that thread_done() of a user has returned.
struct sb__result {
    unsigned rank, tid, visit;
    size_t len;
    char *data; // the table as bytes
};

struct sb__results {
    struct sb__result *item;
    size_t n, cap;
};

// Pops the value that thread_done() of the user has returned, and keeps a copy
// of it in the script. A value that is not a table, or contains a value that
// done() cannot get, is ignored, and --debug shows the reason. In the user's
// thread. 0, SB_ELIMIT (more than 1 MB), SB_ENOMEM or SB_ESCRIPT (Lua has no
// memory).
int sb__results_keep(struct sb__state *st, struct sb_err *err);
// Pushes the list of all results to the main state, by user and visit, and
// frees them; nothing after a failure. Main thread; users may still add some. 0
// or SB_ESCRIPT or SB_ENOMEM.
int sb__results_push(struct sb_script *s, struct sb_err *err);
// give_results and take_results of struct sb_workload_ops.
bool sb__results_give(struct sb_workload *w, struct sb_buf *b, size_t max);
int sb__results_take(struct sb_workload *w, unsigned rank, struct sb_wire *r,
    struct sb_err *err);
// Frees the results. Main thread, once no user adds one.
void sb__results_done(struct sb_script *s);

// Answers (answers.c) ------------------------------------------------------

// Arguments: name, value or nil, why, better, unit, headline; passed, text,
// name. Return 1 with a text on the stack if the answer is refused, otherwise
// 0. Raise Lua errors.
int sb__answer_result(lua_State *L, struct sb_script *s);
int sb__answer_verdict(lua_State *L, struct sb_script *s);
// Prints the names of the results that the script declares.
void sb__answers_help(struct sb_script *s);

// The script --------------------------------------------------------------

// The value of an option for states.
struct sb__value {
    char *name; // with '_'
    const struct sb_opt *opt;
    const void *value;
    bool idle; // the default value of an option of a driver not loaded
};

struct sb_script {
    struct sb_script_env env;
    struct sb_workload workload;
    struct sb_clock clock; // of the main and the report state
    struct sb__codes codes;
    pthread_mutex_t lock; // protects randoms, vms, sharing, results
    struct sb_sequences sequences;
    struct sb__state *main, *report;
    struct sb__vm *vms; // the shared states
    enum sb__sharing sharing;
    struct sb_wait_list sharing_known; // users that wait for that
    bool waited_long;                  // some did, and got states of their own
    struct sb__results results;
    char *given;       // the name as typed, NULL for standard input
    char *name;        // "oltp_read_write"
    char *title;       // of its option table: "oltp_read_write.lua options"
    char *command;     // NULL: none
    char **commands;   // result of sb_script_commands()
    char *module_path; // package.path
    char path[4096];   // the file, or "stdin"
    int dir;           // where a relative path begins: scripts call chdir()
    bool ends;         // a report hook has called os.exit()
    bool answering;    // the run has ended: results and verdicts are taken
    char *hidden;      // the installed workload that the file hides, or NULL
    char *text;        // from standard input
    size_t text_len;
    bool from_stdin, installed, legacy, ready;
    bool unchanged; // installed, and so are all modules that it has loaded
    bool report_interval, report_final, report_line; // the hook is set
    const struct sb_report *reported;                // while a report hook runs
    struct sb__value *values;
    size_t nvalues, cap_values;
    // Of a component of a mix: the random numbers of its users, created on
    // first use. They continue if a user starts again.
    struct sb_random **randoms;
    unsigned nrandoms;
    pthread_mutex_t reserve_lock;
    void *reserve; // memory for users (memory.c), or NULL; under the lock
};

// Copies the values of all options from the registry, and the default values of
// options of drivers that are not loaded, to s->values. 0 or SB_E*.
int sb__options_read(struct sb_script *s, struct sb_err *err);
void sb__options_done(struct sb_script *s);
// Pushes a new table with all of them. Raises Lua errors.
void sb__options_push(lua_State *L, const struct sb_script *s);
// Pushes the value of an option, in the type that it has in sysbench.opt.
void sb__option_push(lua_State *L, const struct sb_opt *opt, const void *value);
// True for an option of a driver that is not loaded; name with '_'.
bool sb__options_idle(const struct sb_script *s, const char *name);
// Finds an option of this script, or of the program.
bool sb__options_find(
    const struct sb_script *s, const char *name, struct sb_opt_view *view);
// Prints the options that the script declares, for its `help` command.
void sb__options_help(struct sb_script *s);
// Argument 1 is a command, argument 2 a workload with its options (optional).
// Pushes the command line that executes the command on the same database, for
// messages: with the given options of the database, the config file and,
// without argument 2, the script, quoted for a shell; secrets are "...".
// Returns 1. Raises Lua errors.
int sb__options_command(lua_State *L, const struct sb_script *s);

// commands.c. Frees the result of sb_script_commands().
void sb__commands_done(struct sb_script *s);

// Creates the state of a user, sets u->part[] and runs the body of the script.
// u->part[] is set also if the body fails. Called by the user's thread. 0 or
// SB_E*.
int sb__workload_attach(struct sb_script *s, struct sb_user *u,
    enum sb__sharing sharing, struct sb__state **out, struct sb_err *err);

extern const struct sb_workload_ops sb__script_ops;

#endif
