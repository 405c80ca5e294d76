// SPDX-License-Identifier: GPL-2.0-or-later
//
// Changes to Lua's libraries, in addition to libs.lua. Replaces print(),
// because many states print at the same time, ffi.load(), because the garbage
// collection before the start of a run would unload libraries that scripts
// still use, and os.exit(), because it would end a run without its report.
// Where users share a state, ffi.cdef() of a text that another user has
// declared does nothing, and collectgarbage() neither stops nor takes long.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "script/script_private.h"

// The libraries that ffi.load() has loaded globally, by name.
#define LOADED "sysbench.libraries"

// Writes a line with one call. The original makes one call per argument, so the
// lines of several threads would mix.
static int print(lua_State *L)
{
    int n = lua_gettop(L);
    size_t len;

    luaL_checkstack(L, n + 3, "too many arguments");
    for (int i = 1; i <= n; i++) {
        lua_getglobal(L, "tostring");
        lua_pushvalue(L, i);
        lua_call(L, 1, 1);
        if (!lua_isstring(L, -1))
            return luaL_error(L, "'tostring' must return a string to 'print'");
        lua_pushstring(L, i < n ? "\t" : "\n");
        lua_concat(L, 2);
        lua_replace(L, i);
    }
    if (n == 0)
        lua_pushstring(L, "\n");
    lua_concat(L, n ? n : 1);
    const char *line = lua_tolstring(L, -1, &len);
    fwrite(line, 1, len, stdout);
    return 0;
}

// Keeps the library on the stack top under its name, which is at index 1.
static void keep_library(lua_State *L)
{
    luaL_findtable(L, LUA_REGISTRYINDEX, LOADED, 1);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

// Calls the function of upvalue 1 with the arguments, as if the caller did:
// errors have its position.
static void call_original(lua_State *L, int nresults)
{
    int n = lua_gettop(L);

    luaL_checkstack(L, n + 1, "too many arguments");
    lua_pushvalue(L, lua_upvalueindex(1));
    for (int i = 1; i <= n; i++)
        lua_pushvalue(L, i);
    if (lua_pcall(L, n, nresults, 0) == 0)
        return;
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
    lua_error(L);
}

// ffi.load(name [, global]). A global library, whose symbols are in ffi.C,
// stays loaded as long as the state, even if the script drops the result, as
// scripts for sysbench 1.0 do. Upvalue 1: the original function.
static int load_library(lua_State *L)
{
    luaL_checkstring(L, 1);
    lua_settop(L, 2);
    call_original(L, 1);
    if (lua_toboolean(L, 2))
        keep_library(L);
    return 1;
}

// io.open(name, mode) and io.lines(name, ...), which can also read files of
// another process. Files that a script writes stay on this host. Upvalue 1: the
// original function; 2: whether it has a mode.
static int open_file(lua_State *L)
{
    const char *path = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1)
                                                     : NULL;
    const char *mode = lua_toboolean(L, lua_upvalueindex(2)) &&
                               lua_type(L, 2) == LUA_TSTRING
                           ? lua_tostring(L, 2)
                           : "r";
    char copy[SB_FILE_PATH];
    int n = lua_gettop(L);

    if (path && mode[0] == 'r' && !strchr(mode, '+')) {
        lua_pushstring(L, sb_file_path(path, copy));
        lua_replace(L, 1);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, n, LUA_MULTRET);
    return lua_gettop(L);
}

// The end of the process. Several users may end it at the same time: the first
// one logs a message and ends it; the others wait.
static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned users; // that have a state
static _Atomic pid_t process;  // of users; a script may create others by fork()

static void say_ended(const char *by, const char *code)
{
    if (getpid() != atomic_load(&process))
        return;
    sb_log(SB_LOG_WARNING,
        "the script ended the program with %s(%.40s); the command is not "
        "complete, and there is no report",
        by, code);
    sb_log_flush();
}

// The function exit() of C was called: a script can do so by its FFI.
static void at_exit(void)
{
    if (atomic_load(&users) > 0 && pthread_mutex_trylock(&ending) == 0)
        say_ended("exit", "");
}

static void watch_exit(void)
{
    atexit(at_exit);
}

void sb__libs_user_begins(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_exit);
    atomic_store(&process, getpid());
    atomic_fetch_add(&users, 1);
}

void sb__libs_user_ends(void)
{
    unsigned before = atomic_fetch_sub(&users, 1);

    assert(before > 0);
    (void)before;
}

void sb__libs_ending(void)
{
    pthread_mutex_lock(&ending);
}

// Fails the run of this user; its report is still written. A pcall() in the
// script does not prevent that.
static int end_run(
    lua_State *L, struct sb__state *st, const char *code, int status)
{
    struct sb_err err;

    sb_err_set(
        &err, SB_ESCRIPT, "the script ended the run with os.exit(%.40s)", code);
    err.native = status;
    sb_user_fail_run(st->user, &err);
    atomic_store(&st->canceled, true);
    return luaL_error(L, "os.exit(%s)", code);
}

// Whether os.exit() ends the process: before a run, after it, in a command, and
// in a process that the script has created.
static bool may_exit(const struct sb__state *st)
{
    if (atomic_load(&process) && getpid() != atomic_load(&process))
        return true;
    return st->user ? sb_user_has_task(st->user)
                    : st == st->script->main && !st->vm->closing;
}

// os.exit([code]). Upvalue 1: the original function; 2: struct sb__vm.
static int exit_program(lua_State *L)
{
    const char *code = lua_toboolean(L, 1) ? "true" : "false";
    int n = lua_gettop(L), status = !lua_toboolean(L, 1);

    if (!lua_isboolean(L, 1)) {
        status = luaL_optint(L, 1, 0); // raises the error of the original
        code = lua_isnoneornil(L, 1) ? "" : lua_tostring(L, 1);
    }
    const struct sb__vm *vm = lua_touserdata(L, lua_upvalueindex(2));
    struct sb__state *st = vm->now;

    if (!may_exit(st) && st->user)
        return end_run(L, st, code, status & 0xff);
    if (!may_exit(st)) {
        st->script->ends = true;
        return luaL_error(
            L, "os.exit(%s) ends the run: its report follows", code);
    }
    if (st->user) {
        sb__libs_ending();
        say_ended("os.exit", code);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, n, 0);
    return 0;
}

static void wrap(lua_State *L, const char *name, bool has_mode)
{
    lua_getfield(L, -1, name);
    lua_pushboolean(L, has_mode);
    lua_pushcclosure(L, open_file, 2);
    lua_setfield(L, -2, name);
}

// ffi.cdef(text, ...). Upvalue 2: the texts.
static int declare(lua_State *L)
{
    bool plain = lua_gettop(L) == 1 && lua_type(L, 1) == LUA_TSTRING;

    bool known = false;

    if (plain) {
        lua_pushvalue(L, 1);
        lua_rawget(L, lua_upvalueindex(2));
        known = lua_toboolean(L, -1);
        lua_pop(L, 1);
    }
    if (known)
        return 0;
    call_original(L, 0);
    if (plain) {
        lua_pushvalue(L, 1);
        lua_pushboolean(L, 1);
        lua_rawset(L, lua_upvalueindex(2));
    }
    return 0;
}

// collectgarbage([what [, n]]). Upvalue 1: the original function.
static int collect(lua_State *L)
{
    const char *what = luaL_optstring(L, 1, "collect");

    bool steps = strcmp(what, "collect") == 0 || strcmp(what, "step") == 0;

    // LuaJIT stops the collector while it calls a finalizer; a step would start
    // it again, and calls.c could not recognize the finalizer.
    if (strcmp(what, "stop") == 0 || strcmp(what, "restart") == 0 ||
        (steps && !lua_gc(L, LUA_GCISRUNNING, 0))) {
        lua_pushinteger(L, 0);
        return 1;
    }
    if (strcmp(what, "collect") == 0) {
        lua_pushinteger(L, 0);
        lua_gc(L, LUA_GCSTEP, 0);
        return 1;
    }
    int n = lua_gettop(L);

    call_original(L, LUA_MULTRET);
    return lua_gettop(L) - n;
}

// Replaces a function of the table on the stack top by one with the original as
// an upvalue, and the value on the stack top as another one, which is popped.
static void replace(lua_State *L, const char *name, lua_CFunction f)
{
    lua_getfield(L, -2, name);
    lua_insert(L, -2);
    lua_pushcclosure(L, f, 2);
    lua_setfield(L, -2, name);
}

void sb__libs_init(lua_State *L, struct sb__vm *vm)
{
    int top = lua_gettop(L);

    lua_pushcfunction(L, print);
    lua_setglobal(L, "print");
    lua_getglobal(L, "os");
    lua_pushlightuserdata(L, vm);
    replace(L, "exit", exit_program);
    lua_getglobal(L, "ffi");
    lua_pushnil(L);
    replace(L, "load", load_library);
    if (sb_files_are_remote()) {
        lua_getglobal(L, "io");
        wrap(L, "open", true);
        wrap(L, "lines", false);
    }
    if (vm->worker) {
        lua_settop(L, top);
        lua_getglobal(L, "ffi");
        lua_newtable(L);
        replace(L, "cdef", declare);
        lua_pushvalue(L, LUA_GLOBALSINDEX);
        lua_pushnil(L);
        replace(L, "collectgarbage", collect);
    }
    lua_settop(L, top);
}
