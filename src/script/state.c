// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lua states: one for the main thread, one for every user, one for report
// hooks. The C functions and values of a state are in its private table, which
// embedded modules get as their argument.
#include <assert.h>
#include <fcntl.h>
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "kit/limits.h"
#include "kit/locale.h"
#include "script/abi.ffi.h"
#include "script/bson.h"
#include "script/script_private.h"

// Stream of random numbers of the main state; users have those from 0 up.
#define MAIN_STREAM UINT64_MAX

uint32_t sb_script_abi(void)
{
    return SB_SCRIPT_ABI;
}

static struct sb__state *self(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

// cdef(name [, functions])
static int api_cdef(lua_State *L)
{
    sb__cdef(L, luaL_checkstring(L, 1), luaL_optstring(L, 2, NULL));
    return 0;
}

// module(name [, temporary]): returns the result of an embedded module, which
// is run once, with the private table. temporary: the result is not kept, so
// the module runs in each call.
static int api_module(lua_State *L)
{
    struct sb__state *st = self(L);
    const char *name = luaL_checkstring(L, 1);
    bool temporary = lua_toboolean(L, 2);

    luaL_findtable(L, LUA_REGISTRYINDEX, "sysbench.modules", 8);
    lua_getfield(L, -1, name);
    if (!lua_isnil(L, -1))
        return 1;
    lua_pop(L, 1);
    if (sb__codes_module(&st->script->codes, L, name))
        return lua_error(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, st->priv);
    lua_call(L, 1, 1);
    if (!temporary) {
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, name);
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

// bson(t): adds the functions that write and read BSON
static int api_bson(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    sb__bson_open(L);
    return 0;
}

// driver_chunk(name) -> the driver's Lua module as a function, and its file
static int api_driver_chunk(lua_State *L)
{
    return sb__driver_chunk(self(L));
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
    lua_call(L, 0, LUA_MULTRET);
    return lua_gettop(L) - 1;
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

static void add_function(
    lua_State *L, struct sb__state *st, const char *name, lua_CFunction f)
{
    lua_pushlightuserdata(L, st);
    lua_pushcclosure(L, f, 1);
    lua_setfield(L, -2, name);
}

static void add_pointer(lua_State *L, const char *name, void *p)
{
    if (p)
        lua_pushlightuserdata(L, p);
    else
        lua_pushnil(L);
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

static int api_extended(lua_State *L)
{
    return sb__lazy_methods(L, self(L)->priv);
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
        { "argv", api_argv },
        { "bson", api_bson },
        { "check_name", api_check_name },
        { "command_line", api_command_line },
        { "extended", api_extended },
        { "help", api_help },
        { "driver_chunk", api_driver_chunk },
        { "idle_option", api_idle_option },
        { "notice", api_notice },
        { "warning", api_warning },
        { "watch_lines", api_watch_lines },
    };
    struct sb__state *st = self(L);
    struct sb_script *s = st->script;
    const char *name = luaL_checkstring(L, 2);

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(name, functions[i].name) == 0) {
            lua_pushlightuserdata(L, st);
            lua_pushcclosure(L, functions[i].func, 1);
            return 1;
        }
    }
    if (strcmp(name, "given") == 0)
        lua_pushstring(L, s->given ? s->given : "-");
    else if (strcmp(name, "version") == 0)
        lua_pushstring(L, SB_SCRIPT_VERSION);
    else if (strcmp(name, "max_open_files") == 0)
        lua_pushnumber(L, sb_limit_files());
    else if (strcmp(name, "local_tid") == 0)
        lua_pushinteger(L, (lua_Integer)st->local_tid);
    else if (strcmp(name, "rank") == 0)
        lua_pushinteger(L, (lua_Integer)s->env.run->share.rank);
    else if (strcmp(name, "ranks") == 0)
        lua_pushinteger(L, (lua_Integer)s->env.run->share.ranks);
    else if (strcmp(name, "sequences") == 0)
        lua_pushlightuserdata(L, &s->sequences);
    else
        return 0;
    return 1;
}

static void add_ffi(lua_State *L)
{
    lua_getglobal(L, "require");
    lua_pushstring(L, "ffi");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "cdef");
    lua_setfield(L, LUA_REGISTRYINDEX, "sysbench.cdef");
    sb__libs_ffi(L);
    lua_getfield(L, -1, "C");
    lua_setfield(L, -3, "C");
    lua_setfield(L, -2, "ffi");
}

static void add_private(lua_State *L, struct sb__state *st)
{
    const struct sb_script *s = st->script;

    lua_createtable(L, 0, 16);
    lua_pushvalue(L, -1);
    st->priv = luaL_ref(L, LUA_REGISTRYINDEX);
    add_function(L, st, "cdef", api_cdef);
    add_function(L, st, "module", api_module);
    lua_pushcfunction(L, sb__on_error);
    lua_setfield(L, -2, "on_error");
    add_pointer(L, "user", st->user);
    add_pointer(L, "random", st->random);
    add_pointer(L, "ctx", &st->ctx);
    lua_pushinteger(L, (lua_Integer)st->tid);
    lua_setfield(L, -2, "tid");
    add_string(L, "command", s->command);
    add_string(L, "path", s->path);
    lua_pushboolean(L, s->installed);
    lua_setfield(L, -2, "installed");
    add_string(L, "jit_command", s->env.luajit_cmd ? s->env.luajit_cmd : "");
    add_ffi(L);
    lua_createtable(L, 0, 1);
    add_function(L, st, "__index", api_more);
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

static void set_loading(lua_State *L, struct sb__state *st)
{
    lua_getglobal(L, "package");
    // Append the library's default path, for the jit.* modules.
    lua_pushfstring(L, "%s;", st->script->module_path);
    lua_getfield(L, -2, "path");
    lua_concat(L, 2);
    lua_setfield(L, -2, "path");
    lua_getfield(L, -1, "loaders");
    lua_pushlightuserdata(L, st);
    lua_pushcclosure(L, api_loader, 1);
    lua_rawseti(L, -2, 2);
    lua_pop(L, 2);
    lua_pushlightuserdata(L, st);
    lua_pushcclosure(L, api_dofile, 1);
    lua_setglobal(L, "dofile");
}

static int build(lua_State *L)
{
    struct sb__state *st = lua_touserdata(L, 1);

    lua_gc(L, LUA_GCSTOP, 0); // nearly all that follows stays
    lua_pushnumber(L, sb_random_seed_of(st->random));
    lua_setfield(L, LUA_REGISTRYINDEX, SB__SEED);
    lua_pushlightuserdata(L, st);
    lua_setfield(L, LUA_REGISTRYINDEX, SB__STATE);
    // The main state and the report state need not save memory.
    if (st->user && !sb__codes_need_full(&st->script->codes)) {
        sb__lazy_libs(L);
    } else {
        luaL_openlibs(L);
        lua_getglobal(L, "math");
        sb__libs_math(L);
        lua_getglobal(L, "os");
        sb__libs_os(L);
        lua_pop(L, 2);
    }
    sb__codes_begin(L);
    sb__libs_init(L);
    set_loading(L, st);
    add_private(L, st);
    lua_pushlightuserdata(L, st);
    lua_pushcclosure(L, api_module, 1);
    lua_pushstring(L, "sysbench");
    lua_call(L, 1, 1);
    lua_setglobal(L, "sysbench");
    if (st->user)
        lua_gc(L, LUA_GCSETPAUSE, SB__PAUSE_LOADING);
    lua_gc(L, LUA_GCCOLLECT, 0); // ends the stop
    return 0;
}

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

// Returns a new Lua state, or NULL without memory. When memory is refused,
// LuaJIT would close the unfinished state, and some versions crash then: so
// sb__memory_refused() jumps back to here. What the unfinished state has
// beside the pool is lost, a few KiB.
static lua_State *new_lua(struct sb__state *st)
{
    jmp_buf refused;
    lua_State *L;

    if (_setjmp(refused)) {
        st->creating = NULL;
        return NULL;
    }
    st->creating = &refused;
    L = lua_newstate(sb__pool_alloc, &st->pool);
    if (!L) // LuaJIT with 32-bit references allows only its own allocator
        L = luaL_newstate();
    st->creating = NULL;
    return L;
}

static int no_memory(const struct sb_user *user, struct sb_err *err)
{
    char limit[80];

    sb_limit_of_memory(limit, sizeof(limit));
    if (!user)
        return sb_err_set(
            err, SB_ENOMEM, "out of memory for a Lua state%s", limit);
    return sb_err_set(err, SB_ENOMEM,
        "out of memory for the Lua state of user %u%s", user->number, limit);
}

int sb__state_new(struct sb__state **out, struct sb_script *s,
    struct sb_user *user, unsigned tid, struct sb_err *err)
{
    struct sb__state *st = calloc(1, sizeof(*st));
    int rc;

    *out = NULL;
    if (!st)
        return no_memory(user, err);
    st->script = s;
    st->user = user;
    st->tid = user ? user->number : tid;
    st->local_tid = user ? user->id : tid;
    st->random = user ? sb__random_of(s, user) : &st->own;
    st->priv = st->run = LUA_NOREF;
    if (!user)
        sb_random_init(&st->own, s->env.random, MAIN_STREAM - tid);
    sb_db_ctx_init(&st->ctx, s->env.drivers, user ? &user->rec : NULL,
        user ? &user->clock : &s->clock, st->tid, s->env.random->seed);
    st->ctx.wait = user ? wait_user : NULL;
    st->ctx.late = user ? late_user : NULL;
    st->ctx.over = user ? user_over : NULL;
    st->ctx.waiter = user ? sb_user_waiter(user) : NULL;
    st->ctx.wait_arg = user;
    st->ctx.waits = user ? sb_user_waits(user) : NULL;
    st->ctx.prefetch = user ? sb_user_prefetch(user) : NULL;
    st->ctx.own = s->env.db;
    if (!st->random) {
        sb__state_free(st);
        return no_memory(user, err);
    }
    st->pool.refused = sb__memory_refused;
    st->pool.arg = st;
    st->L = new_lua(st);
    if (!st->L) {
        sb__state_free(st);
        return no_memory(user, err);
    }
    lua_atpanic(st->L, sb__on_panic);
    lua_pushcfunction(st->L, build);
    lua_pushlightuserdata(st->L, st);
    rc = sb__state_call(st, "sysbench", 1, 0, err);
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

void sb__state_free(struct sb__state *st)
{
    if (!st)
        return;
    // No other thread can cancel it.
    assert(!st->user || st->user->part[st->script->workload.slot] != st);
    st->closing = true;
    // Lua finalizers free connections, so the context must still exist.
    if (st->L)
        lua_close(st->L);
    if (st->counted)
        sb__libs_user_ends();
    free(st->lines);
    sb__pool_done(&st->pool);
    sb_db_ctx_done(&st->ctx);
    free(st);
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
    sb_locale_keep();
    rc = lua_pcall(L, nargs, nresults, base);
    sb_locale_keep();
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
    lua_settop(L, base - 1);
    return rc;
}

int sb__state_module(struct sb__state *st, const char *module,
    const char *field, struct sb_err *err)
{
    int rc;

    lua_pushlightuserdata(st->L, st);
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

int sb__state_hook(struct sb__state *st, const char *name, struct sb_err *err)
{
    if (!sb__state_has(st, NULL, name))
        return 0;
    lua_getglobal(st->L, name);
    lua_pushinteger(st->L, (lua_Integer)st->tid);
    return sb__state_call(st, name, 1, 0, err);
}

static int body(struct sb__state *st, struct sb_err *err)
{
    struct sb_script *s = st->script;
    lua_State *L = st->L;
    int rc;

    if (s->from_stdin)
        rc = sb__codes_text(&s->codes, L, "=stdin", s->text, s->text_len);
    else
        rc = sb__codes_file(&s->codes, L, s->dir, s->path);
    if (rc == LUA_ERRSYNTAX && s->hidden) {
        sb_err_set(err, SB_ESCRIPT,
            "%s in the current folder is not a Lua script (%.200s); to run the "
            "installed workload of that name, give its path: %s",
            s->path, sb__error_text(L, true), s->hidden);
        lua_settop(L, 0);
        return SB_ESCRIPT;
    }
    if (rc) {
        sb_err_set(err, rc == LUA_ERRMEM ? SB_ENOMEM : SB_ESCRIPT, "%s",
            sb__error_text(L, true));
        lua_settop(L, 0);
        return err ? err->code : SB_ESCRIPT;
    }
    return sb__state_call(st, NULL, 0, 0, err);
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

    if (st->user)
        loaded(st->L);
    return rc || !st->script->ready ? rc : sb__state_options(st, err);
}

int sb__state_options(struct sb__state *st, struct sb_err *err)
{
    struct sb_script *s = st->script;
    lua_State *L = st->L;
    int rc;

    lua_rawgeti(L, LUA_REGISTRYINDEX, st->priv);
    lua_getfield(L, -1, "sysbench");
    if (st->user && !sb__codes_need_full(&s->codes))
        sb__lazy_options(L, s);
    else
        sb__options_push(L, s);
    lua_setfield(L, -2, "opt");
    lua_pop(L, 2);
    if (!s->legacy)
        return 0;
    rc = sb__state_module(st, "globals", "override", err);
    return rc ? rc : sb__state_call(st, "options", 0, 0, err);
}

void sb__state_trim(struct sb__state *st)
{
    lua_gc(st->L, LUA_GCCOLLECT, 0);
}
