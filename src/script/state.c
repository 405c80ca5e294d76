// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lua states, and their users: a state of the main thread, one for report
// hooks, and those of users, of which the users of a worker share one. Each
// user is a thread of Lua with its own globals. The C functions and values of a
// state are in its private table, which embedded modules get as their argument.
#include <luajit.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sha256.h"
#include "kit/buf.h"
#include "kit/limits.h"
#include "kit/locale.h"
#include "loop/fiber.h"
#include "script/abi.ffi.h"
#include "script/script_private.h"

// Stream of random numbers of the main state; users have those from 0 up.
#define MAIN_STREAM UINT64_MAX

uint32_t sb_script_abi(void)
{
    return SB_SCRIPT_ABI;
}

static struct sb__vm *vm_of(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

// Whose turn it is.
static struct sb__state *self(lua_State *L)
{
    return vm_of(L)->now;
}

// cdef(name): declares an embedded header, "sql"
static int api_cdef(lua_State *L)
{
    sb__cdef(L, luaL_checkstring(L, 1));
    return 0;
}

// module(name [, ...]): returns the result of an embedded module. Without other
// arguments, it is run once, with the private table; its globals are those of
// the state. With others, which it gets in addition, it is run in each call,
// and nothing is kept.
static int api_module(lua_State *L)
{
    struct sb__vm *vm = vm_of(L);
    const char *name = luaL_checkstring(L, 1);
    int args = lua_gettop(L) - 1;

    luaL_findtable(L, LUA_REGISTRYINDEX, "sysbench.modules", 8);
    lua_getfield(L, -1, name);
    if (!lua_isnil(L, -1))
        return 1;
    lua_pop(L, 1);
    if (sb__codes_module(&vm->script->codes, L, name))
        return lua_error(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->base);
    lua_setfenv(L, -2);
    lua_pushvalue(L, -1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->priv);
    for (int i = 0; i < args; i++)
        lua_pushvalue(L, 2 + i);
    lua_call(L, 1 + args, 1);
    if (args == 0) {
        lua_pushvalue(L, -1);
        lua_setfield(L, -4, name);
    } else {
        lua_pushvalue(L, -2);
        sb__codes_give_back(L);
    }
    return 1;
}

// argv() -> table, with indexes from 0
static int api_argv(lua_State *L)
{
    const struct sb_script_env *env = &self(L)->script->env;

    lua_createtable(L, env->argc, 1);
    for (int i = 0; i < env->argc; i++) {
        lua_pushstring(L, env->argv[i]);
        lua_rawseti(L, -2, i);
    }
    return 1;
}

// command_line(command [, workload]) -> text
static int api_command_line(lua_State *L)
{
    return sb__options_command(L, self(L)->script);
}

// help(): prints the options that the script declares
static int api_help(lua_State *L)
{
    sb__options_help(self(L)->script);
    return 0;
}

// driver_module(driver [, module]) -> a Lua module of the driver as a function,
// and the driver's file and declarations; or nil and a message
static int api_driver_module(lua_State *L)
{
    return sb__driver_module(L, self(L));
}

// idle_option(name) -> whether it is an option of a driver that is not loaded
static int api_idle_option(lua_State *L)
{
    lua_pushboolean(
        L, sb__options_idle(self(L)->script, luaL_checkstring(L, 1)));
    return 1;
}

// warning(text)
static int api_warning(lua_State *L)
{
    sb_log(SB_LOG_WARNING, "%s", luaL_checkstring(L, 1));
    return 0;
}

// notice(text)
static int api_notice(lua_State *L)
{
    sb_log(SB_LOG_NOTICE, "%s", luaL_checkstring(L, 1));
    return 0;
}

// dofile() with the code cache
static int api_dofile(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);

    lua_settop(L, 1);
    if (sb__codes_file(&self(L)->script->codes, L, AT_FDCWD, path))
        return lua_error(L);
    lua_pushvalue(L, 2);
    lua_call(L, 0, LUA_MULTRET);
    lua_pushvalue(L, 2);
    sb__codes_give_back(L);
    return lua_gettop(L) - 2;
}

// add_result(name, value, why, better, unit, headline) -> nil or why it failed
static int api_add_result(lua_State *L)
{
    return sb__answer_result(L, self(L)->script);
}

// add_verdict(passed, text, name) -> nil or why it failed
static int api_add_verdict(lua_State *L)
{
    return sb__answer_verdict(L, self(L)->script);
}

// give_back(chunk): see sb__codes_give_back()
static int api_give_back(lua_State *L)
{
    lua_settop(L, 1);
    sb__codes_give_back(L);
    return 0;
}

// Pushes the message of package.searchpath() for a missing module.
static int not_found(lua_State *L)
{
    lua_getfield(L, 2, "searchpath");
    lua_pushvalue(L, 1);
    lua_getfield(L, 2, "path");
    lua_call(L, 2, 2);
    return 1;
}

// package.loaders[2] with the code cache. package.searchpath() would need 8 KB
// of every user's stack.
static int api_loader(lua_State *L)
{
    char path[1024];
    const char *name = luaL_checkstring(L, 1);
    struct sb_script *s = self(L)->script;
    int dir;

    lua_settop(L, 1);
    lua_getglobal(L, "package");
    lua_getfield(L, 2, "path");
    const char *module_path = lua_tostring(L, -1);
    if (!module_path ||
        !sb__find_required(path, sizeof(path), s, module_path, name, &dir)) {
        lua_settop(L, 2);
        return not_found(L);
    }
    if (sb__codes_file(&s->codes, L, dir, path))
        return luaL_error(L, "error loading module '%s' from file '%s':\n\t%s",
            name, path, lua_tostring(L, -1));
    return 1;
}

static int read_whole(const char *path, struct sb_buf *b)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), number = fd < 0 ? errno : 0;
    ssize_t n = 1;

    while (number == 0 && n > 0) {
        if (sb_buf_grow(b, 4096))
            number = ENOMEM;
        else if ((n = read(fd, b->data + b->len, 4096)) > 0)
            b->len += (size_t)n;
        else if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0)
            number = errno;
    }
    if (fd >= 0)
        close(fd);
    return number;
}

// read_file(path): the content, or nil and why it cannot be read. Result files
// name the file.
static int api_read_file(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    char sha256[SB_SHA256_TEXT];
    struct sb_buf b = { 0 };
    struct sb_sha256 sum;
    int number = read_whole(path, &b);

    if (number) {
        sb_buf_done(&b);
        lua_pushnil(L);
        lua_pushfstring(L, "%s: %s", path, strerror(number));
        return 2;
    }
    sb_sha256_init(&sum);
    sb_sha256_add(&sum, b.data, b.len);
    sb_sha256_text(&sum, sha256);
    sb__codes_note(&self(L)->script->codes, path, sha256);
    lua_pushlstring(L, b.data, b.len);
    sb_buf_done(&b);
    return 1;
}

static void add_function(
    lua_State *L, struct sb__vm *vm, const char *name, lua_CFunction f)
{
    lua_pushlightuserdata(L, vm);
    lua_pushcclosure(L, f, 1);
    lua_setfield(L, -2, name);
}

static void add_string(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

// watch_lines() -> whether the loop of events has ended only for that
static int api_watch_lines(lua_State *L)
{
    lua_pushboolean(L, sb__lines_switch(self(L)));
    return 1;
}

// collect(): a full collection, also where that of scripts is a step. Nothing
// in a finalizer, in which LuaJIT has stopped the collector.
static int api_collect(lua_State *L)
{
    if (lua_gc(L, LUA_GCISRUNNING, 0))
        lua_gc(L, LUA_GCCOLLECT, 0);
    return 0;
}

// collect_often(): for modules that make much garbage. With Lua's defaults, the
// heap would double before it is collected, and be the largest part of the
// memory of a user. With these values a collection starts early and ends before
// much is added. Values that the script has set are kept.
static int api_collect_often(lua_State *L)
{
    enum { PAUSE = 110, STEPS = 900 };
    int pause = lua_gc(L, LUA_GCSETPAUSE, PAUSE);

    // The last collection computed the start of the next one from the old
    // value, so collect now.
    if (pause != SB__PAUSE && pause != SB__PAUSE_LOADING)
        lua_gc(L, LUA_GCSETPAUSE, pause);
    else if (lua_gc(L, LUA_GCISRUNNING, 0))
        lua_gc(L, LUA_GCCOLLECT, 0);
    int steps = lua_gc(L, LUA_GCSETSTEPMUL, STEPS);

    if (steps != SB__STEPS)
        lua_gc(L, LUA_GCSETSTEPMUL, steps);
    return 0;
}

// count(): the number of users that the state has
static int api_count(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)vm_of(L)->users);
    return 1;
}

// warmed(): another user has had its first events
static int api_warmed(lua_State *L)
{
    struct sb__vm *vm = vm_of(L);

    if (++vm->warm * 2 >= vm->users && vm->compiles) {
        vm->compiles = false; // only once
        if (vm->watching)
            vm->compiled = true; // when the watch ends
        else
            luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_ON);
    }
    return 0;
}

// finalizer_failed(error): fails the run. When the state is closed, the run has
// ended.
static int api_finalizer_failed(lua_State *L)
{
    const struct sb__vm *vm = vm_of(L);
    struct sb_err err;

    lua_settop(L, 1);
    sb_err_set(&err, SB_ESCRIPT, "`__gc' function failed: %s",
        sb__error_text(L, true));
    if (!vm->closing)
        sb_user_fail_run(vm->now->user, &err);
    return 0;
}

// calls(turn): see sb__calls_push()
static int api_calls(lua_State *L)
{
    return sb__calls_push(L, vm_of(L));
}

// options(): returns a table with the values of all options
static int api_options(lua_State *L)
{
    sb__options_push(L, self(L)->script);
    return 1;
}

// check_name(name, what, level): raises an error unless it is a string that C
// functions get completely; what: "an operation"; level: as of error().
static int api_check_name(lua_State *L)
{
    size_t len = 0;
    bool is_string = lua_type(L, 1) == LUA_TSTRING;

    if (is_string && strlen(lua_tolstring(L, 1, &len)) == len)
        return 0;
    luaL_where(L, luaL_checkint(L, 3));
    lua_pushfstring(L, "the name of %s must %s", luaL_checkstring(L, 2),
        is_string ? "not contain a zero byte" : "be a string");
    lua_concat(L, 2);
    return lua_error(L);
}

// __index of the private table: fields that few states need.
static int api_more(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "add_result", api_add_result },
        { "add_verdict", api_add_verdict },
        { "argv", api_argv },
        { "check_name", api_check_name },
        { "collect", api_collect },
        { "collect_often", api_collect_often },
        { "command_line", api_command_line },
        { "count", api_count },
        { "finalizer_failed", api_finalizer_failed },
        { "give_back", api_give_back },
        { "help", api_help },
        { "driver_module", api_driver_module },
        { "idle_option", api_idle_option },
        { "notice", api_notice },
        { "options", api_options },
        { "read_file", api_read_file },
        { "warning", api_warning },
        { "warmed", api_warmed },
        { "watch_lines", api_watch_lines },
    };
    struct sb__vm *vm = vm_of(L);
    struct sb_script *s = vm->script;
    const char *name = luaL_checkstring(L, 2);

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(name, functions[i].name) == 0) {
            lua_pushlightuserdata(L, vm);
            lua_pushcclosure(L, functions[i].func, 1);
            return 1;
        }
    }
    if (strcmp(name, "given") == 0)
        lua_pushstring(L, s->given ? s->given : "-");
    else if (strcmp(name, "legacy") == 0)
        lua_pushboolean(L, s->legacy);
    else if (strcmp(name, "version") == 0)
        lua_pushstring(L, SB_SCRIPT_VERSION);
    else if (strcmp(name, "max_open_files") == 0)
        lua_pushnumber(L, sb_limit_files());
    else if (strcmp(name, "rank") == 0)
        lua_pushinteger(L, (lua_Integer)s->env.run->share.rank);
    else if (strcmp(name, "ranks") == 0)
        lua_pushinteger(L, (lua_Integer)s->env.run->share.ranks);
    else if (strcmp(name, "sequences") == 0)
        lua_pushlightuserdata(L, &s->sequences);
    else if (strcmp(name, "workloads") == 0)
        lua_pushstring(L, s->env.paths->workloads);
    else
        return 0;
    return 1;
}

static void add_ffi(lua_State *L, struct sb__vm *vm)
{
    lua_getglobal(L, "require");
    lua_pushstring(L, "ffi");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "cdef");
    lua_setfield(L, LUA_REGISTRYINDEX, "sysbench.cdef");
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, "sysbench.ffi");
    lua_pushvalue(L, -1);
    lua_setglobal(L, "ffi");
    sb__libs_init(L, vm);
    lua_getfield(L, -1, "C");
    lua_setfield(L, -3, "C");
    lua_setfield(L, -2, "ffi");
}

static void add_private(lua_State *L, struct sb__vm *vm)
{
    const struct sb_script *s = vm->script;

    lua_createtable(L, 0, 16);
    lua_pushvalue(L, -1);
    vm->priv = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    vm->base = luaL_ref(L, LUA_REGISTRYINDEX);
    add_function(L, vm, "cdef", api_cdef);
    add_function(L, vm, "module", api_module);
    add_function(L, vm, "calls", api_calls);
    lua_pushcfunction(L, sb__on_error);
    lua_setfield(L, -2, "on_error");
    lua_pushboolean(L, vm->of_users);
    lua_setfield(L, -2, "user");
    lua_pushboolean(L, vm->worker != NULL);
    lua_setfield(L, -2, "shared");
    lua_pushlightuserdata(L, &vm->turn);
    lua_setfield(L, -2, "turn");
    add_string(L, "command", s->command);
    add_string(L, "path", s->path);
    lua_pushboolean(L, s->installed);
    lua_setfield(L, -2, "installed");
    lua_pushboolean(L, s->unchanged);
    lua_setfield(L, -2, "unchanged");
    add_string(L, "jit_command", s->env.luajit_cmd ? s->env.luajit_cmd : "");
    add_ffi(L, vm);
    lua_createtable(L, 0, 1);
    add_function(L, vm, "__index", api_more);
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

static void set_loading(lua_State *L, struct sb__vm *vm)
{
    lua_getglobal(L, "package");
    // Append the library's default path, for the jit.* modules.
    lua_pushfstring(L, "%s;", vm->script->module_path);
    lua_getfield(L, -2, "path");
    lua_concat(L, 2);
    lua_setfield(L, -2, "path");
    lua_getfield(L, -1, "loaders");
    lua_pushlightuserdata(L, vm);
    lua_pushcclosure(L, api_loader, 1);
    lua_rawseti(L, -2, 2);
    lua_pop(L, 2);
    lua_pushlightuserdata(L, vm);
    lua_pushcclosure(L, api_dofile, 1);
    lua_setglobal(L, "dofile");
}

// Loads an extension of LuaJIT, if this version has it.
static void add_extension(lua_State *L, const char *name)
{
    int top = lua_gettop(L);

    lua_getglobal(L, "require");
    lua_pushstring(L, name);
    lua_pcall(L, 1, 0, 0);
    lua_settop(L, top);
}

static int build(lua_State *L)
{
    struct sb__vm *vm = lua_touserdata(L, 1);

    lua_gc(L, LUA_GCSTOP, 0); // nearly all that follows stays
    luaL_openlibs(L);
    // They add a field to `table`, which would be a change of what users share.
    add_extension(L, "table.new");
    add_extension(L, "table.clear");
    sb__codes_begin(L);
    set_loading(L, vm);
    add_private(L, vm);
    // Traces are recorded for users on fibers, because one user that does not
    // return blocks others, and with --debug, which shows how often the code
    // was dropped. --luajit-cmd=v replaces this record, because LuaJIT calls
    // only one function for traces.
    if (vm->of_users && (sb_user_waiter(vm->now->user)->fiber ||
                            sb_log_level() >= SB_LOG_DEBUG))
        sb__traces_note(L, &vm->traces);
    lua_pushlightuserdata(L, vm);
    lua_pushcclosure(L, api_module, 1);
    lua_pushstring(L, "sysbench");
    lua_call(L, 1, 0);
    if (vm->worker && sb__compiles(L)) {
        vm->compiles = true;
        luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    }
    if (vm->of_users && !vm->worker)
        lua_gc(L, LUA_GCSETPAUSE, SB__PAUSE_LOADING);
    lua_gc(L, LUA_GCCOLLECT, 0); // ends the stop
    return 0;
}

// Calls LuaJIT's own allocator. If it fails, reports that and tries again.
static void *allocate(void *arg, void *old, size_t size, size_t more)
{
    struct sb__vm *vm = arg;
    void *p = vm->alloc(vm->alloc_arg, old, size, more);

    if (p || more == 0)
        return p;
    sb__memory_refused(vm);
    return vm->alloc(vm->alloc_arg, old, size, more);
}

static int no_state_memory(const struct sb_user *user, struct sb_err *err)
{
    char limit[80];

    sb_limit_of_memory(limit, sizeof(limit));
    if (!user)
        return sb_err_set(
            err, SB_ENOMEM, "out of memory for a Lua state%s", limit);
    return sb_err_set(err, SB_ENOMEM,
        "out of memory for the Lua state of user %u%s", user->number, limit);
}

static void vm_free(struct sb__vm *vm)
{
    if (vm->traces.flushes > 0)
        sb_log(SB_LOG_DEBUG,
            "a Lua state of %s dropped all its compiled code %u times",
            vm->script->path, vm->traces.flushes);
    vm->closing = true;
    // Lua finalizers free connections, so the contexts must still exist.
    if (vm->L) {
        lua_setallocf(vm->L, vm->alloc, vm->alloc_arg);
        lua_close(vm->L);
    }
    sb__traces_done(&vm->traces);
    free(vm);
}

// st: the first user, which is in no state yet.
static int vm_new(struct sb__vm **out, struct sb__state *st, const void *worker,
    struct sb_err *err)
{
    struct sb__vm *vm = calloc(1, sizeof(*vm));
    int rc;

    *out = NULL;
    if (!vm)
        return no_state_memory(st->user, err);
    vm->script = st->script;
    vm->worker = worker;
    vm->of_users = st->user != NULL;
    vm->priv = vm->base = LUA_NOREF;
    sb__traces_init(&vm->traces);
    vm->now = st;
    vm->L = luaL_newstate();
    if (!vm->L) {
        vm_free(vm);
        return no_state_memory(st->user, err);
    }
    vm->alloc = lua_getallocf(vm->L, &vm->alloc_arg);
    lua_setallocf(vm->L, allocate, vm);
    lua_atpanic(vm->L, sb__on_panic);
    lua_pushcfunction(vm->L, sb__on_error);
    lua_pushcfunction(vm->L, build);
    lua_pushlightuserdata(vm->L, vm);
    rc = lua_pcall(vm->L, 1, 0, 1);
    if (rc) {
        rc = sb_err_set(err, rc == LUA_ERRMEM ? SB_ENOMEM : SB_ESCRIPT, "%s",
            sb__error_text(vm->L, false));
        vm_free(vm);
        return rc;
    }
    lua_settop(vm->L, 0);
    *out = vm;
    return 0;
}

// Users -----------------------------------------------------------------------

static bool wait_user(void *user, uint64_t ns)
{
    return sb_user_sleep(user, ns);
}

static bool late_user(void *user)
{
    return sb_user_late(user);
}

static bool user_over(void *user)
{
    return sb_user_stopped(user);
}

static void init_context(struct sb__state *st)
{
    struct sb_script *s = st->script;
    struct sb_user *user = st->user;

    sb_db_ctx_init(&st->ctx, s->env.drivers, user ? &user->rec : NULL,
        user ? &user->clock : &s->clock, st->tid, s->env.random->seed);
    st->ctx.own = s->env.db;
    if (!user)
        return;
    st->ctx.wait = wait_user;
    st->ctx.late = late_user;
    st->ctx.over = user_over;
    st->ctx.waiter = sb_user_waiter(user);
    st->ctx.wait_arg = user;
    st->ctx.waits = sb_user_waits(user);
    st->ctx.prefetch = sb_user_prefetch(user);
}

// Makes a thread of Lua with globals of its own, copies of the state's.
// Argument 1: struct sb__state.
static int open_user(lua_State *L)
{
    struct sb__state *st = lua_touserdata(L, 1);
    struct sb__vm *vm = st->vm;

    st->L = lua_newthread(L);
    lua_pushvalue(L, -1);
    st->thread = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_createtable(L, 0, 60);
    int globals = lua_gettop(L);

    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->base);
    lua_pushnil(L);
    while (lua_next(L, globals + 1)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, globals);
    }
    lua_settop(L, globals);
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->priv);
    lua_getfield(L, -1, "users");
    lua_getfield(L, -2, "new_user");
    lua_pushvalue(L, globals);
    lua_pushinteger(L, (lua_Integer)st->tid);
    lua_pushinteger(L, (lua_Integer)st->local_tid);
    lua_call(L, 3, 1);
    st->slot = luaL_ref(L, -2);
    lua_pushvalue(L, globals);
    lua_xmove(L, st->L, 1);
    lua_replace(st->L, LUA_GLOBALSINDEX);
    return 0;
}

// Returns a shared state of the worker that has room, or NULL.
static struct sb__vm *find_vm(struct sb_script *s, const void *worker)
{
    struct sb__vm *vm;

    pthread_mutex_lock(&s->lock);
    vm = s->vms;
    while (vm && (vm->worker != worker || vm->users == SB__USERS_PER_STATE))
        vm = vm->next;
    pthread_mutex_unlock(&s->lock);
    return vm;
}

static void list_vm(struct sb__vm *vm)
{
    struct sb_script *s = vm->script;

    pthread_mutex_lock(&s->lock);
    vm->next = s->vms;
    s->vms = vm;
    pthread_mutex_unlock(&s->lock);
}

static void unlist_vm(struct sb__vm *vm)
{
    struct sb_script *s = vm->script;
    struct sb__vm **p = &s->vms;

    pthread_mutex_lock(&s->lock);
    while (*p != vm)
        p = &(*p)->next;
    *p = vm->next;
    pthread_mutex_unlock(&s->lock);
}

static int enter_vm(
    struct sb__state *st, const void *worker, struct sb_err *err)
{
    struct sb__vm *vm = worker ? find_vm(st->script, worker) : NULL;
    int rc;

    if (!vm) {
        rc = vm_new(&vm, st, worker, err);
        if (rc)
            return rc;
        if (worker)
            list_vm(vm);
    }
    st->vm = vm;
    vm->users++;
    st->next = vm->first;
    vm->first = st;
    lua_pushcfunction(vm->L, sb__on_error);
    lua_pushcfunction(vm->L, open_user);
    lua_pushlightuserdata(vm->L, st);
    rc = lua_pcall(vm->L, 1, 0, 1);
    if (rc)
        rc = sb_err_set(err, rc == LUA_ERRMEM ? SB_ENOMEM : SB_ESCRIPT, "%s",
            sb__error_text(vm->L, false));
    lua_settop(vm->L, 0);
    return rc;
}

int sb__state_new(struct sb__state **out, struct sb_script *s,
    struct sb_user *user, unsigned tid, bool shared, struct sb_err *err)
{
    struct sb__state *st = calloc(1, sizeof(*st));
    int rc;

    *out = NULL;
    if (!st)
        return no_state_memory(user, err);
    st->script = s;
    st->user = user;
    st->tid = user ? user->number : tid;
    st->local_tid = user ? user->id : tid;
    st->random = user ? sb__random_of(s, user) : &st->own;
    st->slot = st->thread = st->run = LUA_NOREF;
    if (!user)
        sb_random_init(&st->own, s->env.random, MAIN_STREAM - tid);
    init_context(st);
    if (!st->random) {
        sb__state_free(st);
        return no_state_memory(user, err);
    }
    sb_script_randomseed(&st->math, sb_random_seed_of(st->random));
    if (shared)
        st->fiber = sb_user_waiter(user)->fiber;
    rc = enter_vm(st, st->fiber ? sb_fiber_loop(st->fiber) : NULL, err);
    if (rc) {
        sb__state_free(st);
        return rc;
    }
    if (user)
        sb__libs_user_begins();
    st->counted = user != NULL;
    *out = st;
    return 0;
}

static void context_done(struct sb__state *st)
{
    sb_db_ctx_done(&st->ctx);
    free(st);
}

// Frees the contexts of users that have left, once Lua has collected their
// handles.
static void free_left(struct sb__vm *vm)
{
    struct sb__state **p = &vm->left, *st;

    while ((st = *p) != NULL) {
        if (!vm->closing && !sb_db_ctx_unused(&st->ctx)) {
            p = &st->next;
            continue;
        }
        *p = st->next;
        context_done(st);
    }
}

static int close_user(lua_State *L)
{
    struct sb__state *st = lua_touserdata(L, 1);

    luaL_unref(L, LUA_REGISTRYINDEX, st->thread);
    luaL_unref(L, LUA_REGISTRYINDEX, st->run);
    lua_rawgeti(L, LUA_REGISTRYINDEX, st->vm->priv);
    lua_getfield(L, -1, "users");
    luaL_unref(L, -1, st->slot);
    return 0;
}

// The user leaves its state to the others.
static void leave_vm(struct sb__state *st)
{
    struct sb__vm *vm = st->vm;

    // Lua's collector needs some turn for finalizers.
    vm->now = vm->first;
    sb__state_enter(vm->first);
    sb__state_leave(vm->first);
    if (lua_cpcall(vm->L, close_user, st))
        lua_settop(vm->L, 0);
    free_left(vm);
    st->next = vm->left;
    vm->left = st;
}

void sb__state_free(struct sb__state *st)
{
    struct sb__vm *vm;

    if (!st)
        return;
    // No other thread can cancel it.
    assert(!st->user || st->user->part[st->script->workload.slot] != st);
    sb__lines_end(st);
    if (st->counted)
        sb__libs_user_ends();
    vm = st->vm;
    if (!vm) {
        context_done(st);
        return;
    }
    if (vm->worker)
        sb_db_ctx_leave(&st->ctx); // may wait
    struct sb__state **p = &vm->first;

    while (*p != st)
        p = &(*p)->next;
    *p = st->next;
    vm->users--;
    if (vm->users > 0) {
        leave_vm(st);
        return;
    }
    if (vm->worker)
        unlist_vm(vm);
    sb__state_enter(st); // for finalizers
    sb__state_leave(st);
    vm->closing = true;
    lua_setallocf(vm->L, vm->alloc, vm->alloc_arg);
    lua_close(vm->L);
    vm->L = NULL;
    free_left(vm);
    vm_free(vm);
    context_done(st);
}

int sb__state_call(struct sb__state *st, const char *what, int nargs,
    int nresults, struct sb_err *err)
{
    lua_State *L = st->L;
    int base = lua_gettop(L) - nargs;
    int rc;

    assert(base > 0 && !lua_isnil(L, base)); // the function
    lua_pushcfunction(L, sb__on_error);
    lua_insert(L, base);
    sb__compat_enter(st);
    sb__state_enter(st);
    sb_locale_keep();
    rc = lua_pcall(L, nargs, nresults, base);
    sb_locale_keep();
    sb__state_leave(st);
    // The main thread prints reports, and users inherit its rounding mode.
    if (!st->user)
        fesetround(FE_TONEAREST);
    lua_remove(L, base);
    if (rc == 0)
        return 0;
    rc = rc == LUA_ERRMEM ? SB_ENOMEM : SB_ESCRIPT;
    // A user that waited to connect gives up at the end of the run.
    if (atomic_load(&st->canceled) || st->ctx.err.code == SB_ECANCELED)
        rc = SB_ECANCELED;
    if (lua_istable(L, -1)) {
        lua_pushstring(L, "canceled");
        lua_rawget(L, -2);
        if (lua_toboolean(L, -1))
            rc = SB_ECANCELED;
        lua_pop(L, 1);
    }
    // Of an installed workload, the sentence is enough.
    bool own = !st->script->installed;
    const char *text = sb__error_text(L, own);
    if (what && own)
        sb_err_set(err, rc, "`%s' function failed: %s", what, text);
    else
        sb_err_set(err, rc, "%s", text);
    sb__error_cut(err);
    lua_settop(L, base - 1);
    return rc;
}

int sb__state_module(struct sb__state *st, const char *module,
    const char *field, struct sb_err *err)
{
    int rc;

    lua_pushlightuserdata(st->L, st->vm);
    lua_pushcclosure(st->L, api_module, 1);
    lua_pushstring(st->L, module);
    rc = sb__state_call(st, module, 1, 1, err);
    if (rc == 0) {
        lua_getfield(st->L, -1, field);
        lua_remove(st->L, -2);
    }
    return rc;
}

bool sb__state_push(struct sb__state *st, const char *table, const char *name)
{
    lua_State *L = st->L;
    int top = lua_gettop(L);

    lua_pushstring(L, table ? "sysbench" : name);
    lua_rawget(L, LUA_GLOBALSINDEX);
    if (table && lua_istable(L, -1)) {
        lua_pushstring(L, table);
        lua_rawget(L, -2);
        if (lua_istable(L, -1)) {
            lua_pushstring(L, name);
            lua_rawget(L, -2);
        }
    }
    bool found = lua_isfunction(L, -1);

    if (found)
        lua_insert(L, top + 1);
    lua_settop(L, found ? top + 1 : top);
    return found;
}

bool sb__state_has(struct sb__state *st, const char *table, const char *name)
{
    bool has = sb__state_push(st, table, name);

    if (has)
        lua_pop(st->L, 1);
    return has;
}

int sb__state_hook(
    struct sb__state *st, const char *name, int nresults, struct sb_err *err)
{
    if (!sb__state_has(st, NULL, name)) {
        lua_settop(st->L, lua_gettop(st->L) + nresults);
        return 0;
    }
    lua_getglobal(st->L, name);
    lua_pushinteger(st->L, (lua_Integer)st->tid);
    return sb__state_call(st, name, 1, nresults, err);
}

static int body(struct sb__state *st, struct sb_err *err)
{
    struct sb_script *s = st->script;
    lua_State *L = st->L;
    int rc;

    if (s->text)
        rc = sb__codes_text(&s->codes, L, "=stdin", s->text, s->text_len);
    else
        rc = sb__codes_file(&s->codes, L, s->dir, s->path);
    if (rc == LUA_ERRSYNTAX && s->hidden) {
        sb_err_set(err, SB_ESCRIPT,
            "%s in the current folder is not a Lua script (%.200s); to run the "
            "installed workload with this name, give its path: %s",
            s->path, sb__error_text(L, true), s->hidden);
        lua_settop(L, 0);
        return SB_ESCRIPT;
    }
    if (rc) {
        sb_err_set(err, rc == LUA_ERRMEM ? SB_ENOMEM : SB_ESCRIPT, "%s",
            sb__error_text(L, true));
        sb__error_cut(err);
        lua_settop(L, 0);
        return err ? err->code : SB_ESCRIPT;
    }
    lua_pushvalue(L, -1);
    rc = sb__state_call(st, NULL, 0, 0, err);
    if (rc == 0)
        sb__codes_give_back(L);
    lua_settop(L, 0);
    return rc;
}

// The script is loaded: the garbage is collected, and then as often as usual.
static void loaded(lua_State *L)
{
    int pause = lua_gc(L, LUA_GCSETPAUSE, SB__PAUSE);

    if (pause != SB__PAUSE_LOADING) // set by the script
        lua_gc(L, LUA_GCSETPAUSE, pause);
    lua_gc(L, LUA_GCCOLLECT, 0);
}

int sb__state_body(struct sb__state *st, struct sb_err *err)
{
    int rc = body(st, err);

    if (st->user && !st->vm->worker)
        loaded(st->L);
    return rc || !st->script->ready ? rc : sb__state_options(st, err);
}

int sb__state_options(struct sb__state *st, struct sb_err *err)
{
    int rc = sb__state_module(st, "globals", "set_options", err);

    return rc ? rc : sb__state_call(st, "options", 0, 0, err);
}

void sb__state_trim(struct sb__state *st)
{
    if (!st->vm->worker)
        lua_gc(st->L, LUA_GCCOLLECT, 0);
}
