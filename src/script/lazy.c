// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lazy tables in the states of users, to save memory: Lua libraries that few
// scripts call, and the options. Their metatables fill them when a script uses
// them. A script can tell them from full tables if it enumerates them or
// bypasses their metatables. If its code contains the name of a function that
// does so, the tables are filled. The classes of the API are also lazy, in all
// states. A script that enumerates one sees the methods that were used; one
// that replaces a method keeps its own.
#define _GNU_SOURCE // memmem
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "script/script_private.h"

#define OPTIONS "sysbench.opt" // in the registry
#define STUB    "sysbench.stub"
// After this number of accesses to unknown options the table is filled and
// loses its metatable: in a compiled event loop the metamethod would be slow.
#define MISSES_MAX 16

static const luaL_Reg eager_libs[] = {
    { "", luaopen_base },
    { "package", luaopen_package },
    { "string", luaopen_string },
    { "jit", luaopen_jit },
};

static const luaL_Reg lazy_libs[] = {
    { "table", luaopen_table },
    { "io", luaopen_io },
    { "os", luaopen_os },
    { "math", luaopen_math },
    { "debug", luaopen_debug },
    { "bit", luaopen_bit },
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void call_opener(lua_State *L, const luaL_Reg *lib)
{
    lua_pushcfunction(L, lib->func);
    lua_pushstring(L, lib->name);
    lua_call(L, 1, 0);
}

// Fills the table at index t. It is in package.loaded, so the library adds its
// functions to it.
static void open_lazy(lua_State *L, int t, const luaL_Reg *lib)
{
    lua_pushnil(L);
    lua_setmetatable(L, t);
    call_opener(L, lib);
    if (lib->func == luaopen_os) {
        lua_pushvalue(L, t);
        sb__libs_os(L);
        lua_pop(L, 1);
    } else if (lib->func == luaopen_math) {
        lua_pushvalue(L, t);
        sb__libs_math(L);
        lua_pop(L, 1);
    }
}

static void open_stub(lua_State *L, int t)
{
    luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
    for (size_t i = 0; i < COUNT(lazy_libs); i++) {
        lua_getfield(L, -1, lazy_libs[i].name);
        bool same = lua_rawequal(L, -1, t);
        lua_pop(L, 1);
        if (same) {
            open_lazy(L, t, &lazy_libs[i]);
            break;
        }
    }
    lua_pop(L, 1);
}

static int stub_index(lua_State *L)
{
    open_stub(L, 1);
    lua_rawget(L, 1);
    return 1;
}

static int stub_newindex(lua_State *L)
{
    open_stub(L, 1);
    lua_rawset(L, 1);
    return 0;
}

static void add_stub(lua_State *L, const char *name)
{
    lua_newtable(L);
    lua_getfield(L, LUA_REGISTRYINDEX, STUB);
    lua_setmetatable(L, -2);
    luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
    lua_setglobal(L, name);
}

void sb__lazy_libs(lua_State *L)
{
    for (size_t i = 0; i < COUNT(eager_libs); i++)
        call_opener(L, &eager_libs[i]);
    luaL_findtable(L, LUA_REGISTRYINDEX, "_PRELOAD", 1);
    lua_pushcfunction(L, luaopen_ffi);
    lua_setfield(L, -2, "ffi");
    lua_pop(L, 1);
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, stub_index);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, stub_newindex);
    lua_setfield(L, -2, "__newindex");
    lua_setfield(L, LUA_REGISTRYINDEX, STUB);
    for (size_t i = 0; i < COUNT(lazy_libs); i++)
        add_stub(L, lazy_libs[i].name);
}

// Options -----------------------------------------------------------------

struct lazy_options {
    const struct sb_script *script;
    unsigned misses;
    bool seen[]; // by number: in the table, or removed by the script
};

static void fill_options(lua_State *L, struct lazy_options *o)
{
    for (size_t i = 0; i < o->script->nvalues; i++) {
        if (o->seen[i])
            continue;
        o->seen[i] = true;
        lua_pushstring(L, o->script->values[i].name);
        sb__options_push_one(L, o->script, i);
        lua_rawset(L, 1);
    }
    lua_pushnil(L);
    lua_setmetatable(L, 1);
}

static size_t number_of(lua_State *L, const struct sb_script *s)
{
    size_t i = s->nvalues;

    if (lua_type(L, 2) == LUA_TSTRING) {
        const char *name = lua_tostring(L, 2);

        for (i = 0; i < s->nvalues; i++) {
            if (strcmp(s->values[i].name, name) == 0)
                break;
        }
    }
    return i;
}

// Upvalue 1 of both: struct lazy_options.
static int option_index(lua_State *L)
{
    struct lazy_options *o = lua_touserdata(L, lua_upvalueindex(1));
    size_t i = number_of(L, o->script);

    lua_settop(L, 2);
    if (i == o->script->nvalues) {
        if (++o->misses > MISSES_MAX || lua_islightuserdata(L, 2))
            fill_options(L, o);
        return 0;
    }
    if (o->seen[i])
        return 0;
    o->seen[i] = true;
    sb__options_push_one(L, o->script, i);
    lua_pushvalue(L, -1);
    lua_insert(L, 2);
    lua_rawset(L, 1);
    return 1;
}

static int option_newindex(lua_State *L)
{
    struct lazy_options *o = lua_touserdata(L, lua_upvalueindex(1));
    size_t i = number_of(L, o->script);

    if (i < o->script->nvalues)
        o->seen[i] = true;
    lua_settop(L, 3);
    lua_rawset(L, 1);
    return 0;
}

void sb__lazy_options(lua_State *L, const struct sb_script *s)
{
    struct lazy_options *o;

    lua_newtable(L);
    lua_createtable(L, 0, 2);
    o = lua_newuserdata(L, sizeof(*o) + s->nvalues * sizeof(o->seen[0]));
    memset(o, 0, sizeof(*o) + s->nvalues * sizeof(o->seen[0]));
    o->script = s;
    lua_pushvalue(L, -1);
    lua_pushcclosure(L, option_index, 1);
    lua_setfield(L, -3, "__index");
    lua_pushcclosure(L, option_newindex, 1);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, OPTIONS);
}

// Methods -----------------------------------------------------------------

// Copies the fields of the table at index `from` to the one at `to`.
static void copy_fields(lua_State *L, int from, int to)
{
    lua_pushnil(L);
    while (lua_next(L, from)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, to);
    }
}

// Upvalue 1 has the classes as keys. Pushes a table: class -> copy of its
// fields.
static void save_classes(lua_State *L)
{
    int saved;

    lua_newtable(L);
    saved = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, lua_upvalueindex(1))) {
        lua_pop(L, 1); // stays: the class
        lua_pushvalue(L, -1);
        lua_newtable(L);
        copy_fields(L, saved + 1, saved + 3);
        lua_rawset(L, saved);
    }
}

// Undoes what has replaced fields of the classes since save_classes(), which
// left its table at the index.
static void restore_classes(lua_State *L, int saved)
{
    lua_pushnil(L);
    while (lua_next(L, saved)) {
        copy_fields(L, saved + 2, saved + 1);
        lua_pop(L, 1);
    }
}

// Loads a module that adds methods to classes, once, even if it returns
// nothing. Methods that a script has replaced stay replaced. Upvalue 2:
// sb.module().
static void load_methods(lua_State *L, const char *name, size_t len)
{
    int saved = lua_gettop(L) + 1;

    save_classes(L);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushlstring(L, name, len);
    lua_call(L, 1, 1);
    if (lua_isnil(L, -1)) {
        luaL_findtable(L, LUA_REGISTRYINDEX, "sysbench.modules", 8);
        lua_pushlstring(L, name, len);
        lua_pushboolean(L, 1);
        lua_rawset(L, -3);
    }
    lua_settop(L, saved);
    restore_classes(L, saved);
    lua_settop(L, saved - 1);
}

// Upvalue 1: class -> names of modules; upvalue 2: sb.module().
static int method_index(lua_State *L)
{
    const char *p;

    lua_settop(L, 2);
    lua_pushvalue(L, 1);
    lua_rawget(L, lua_upvalueindex(1));
    assert(lua_isstring(L, 3)); // every class with this metatable has modules
    for (p = lua_tostring(L, 3); *p; p += *p == ' ') {
        size_t len = strcspn(p, " ");

        load_methods(L, p, len);
        lua_pushvalue(L, 2);
        lua_rawget(L, 1);
        if (!lua_isnil(L, -1))
            return 1;
        lua_pop(L, 1);
        p += len;
    }
    lua_pushnil(L);
    lua_setmetatable(L, 1);
    return 0;
}

int sb__lazy_methods(lua_State *L, int api)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, api);
    lua_getfield(L, -1, "module");
    lua_remove(L, -2);
    lua_pushcclosure(L, method_index, 2);
    lua_setfield(L, -2, "__index");
    return 1;
}

// Filling the tables ------------------------------------------------------

static int fill_all(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, OPTIONS);
    if (lua_istable(L, -1)) {
        lua_pushlightuserdata(L, L); // makes option_index() fill the table
        lua_gettable(L, -2);
    }
    luaL_findtable(L, LUA_REGISTRYINDEX, "_LOADED", 16);
    int loaded = lua_gettop(L);
    lua_getfield(L, LUA_REGISTRYINDEX, STUB);
    for (size_t i = 0; i < COUNT(lazy_libs); i++) {
        lua_getfield(L, loaded, lazy_libs[i].name);
        if (lua_getmetatable(L, -1) && lua_rawequal(L, -1, loaded + 1))
            open_lazy(L, loaded + 2, &lazy_libs[i]);
        lua_settop(L, loaded + 1);
    }
    return 0;
}

int sb__lazy_fill(lua_State *L)
{
    return lua_cpcall(L, fill_all, NULL);
}

// In bytecode a short string follows a byte with its length plus 5.
bool sb__lazy_unsupported(const char *code, size_t len)
{
    static const char *const words[] = { "\11next", "\12pairs", "\14foreach",
        "\13rawget", "\13rawset", "\21getmetatable", "\21setmetatable",
        "\14getfenv", "\14setfenv", "\7_G", "\14package", "\11load",
        "\15loadfile", "\17loadstring", "\12debug" };

    for (size_t i = 0; i < COUNT(words); i++) {
        if (memmem(code, len, words[i], strlen(words[i])))
            return true;
    }
    return false;
}
