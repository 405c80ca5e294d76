// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finding modules, code shared by Lua states, declarations, error messages.
// tests/cli/scripts.t and tests/spec/test_script.lua test how scripts are
// found.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "script/embed.h"
#include "script/script_private.h"

static char top[] = "/tmp/test_script.XXXXXX";

// Writes a file; path: relative to the test's folder, which is the current one.
static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    CHECK(f != NULL);
    if (!f)
        return;
    fputs(text, f);
    fclose(f);
}

static void make_files(void)
{
    CHECK(mkdtemp(top) != NULL && chdir(top) == 0);
    mkdir("folder", 0700);
    mkdir("mods", 0700);
    mkdir("mods/a", 0700);
    put("here.lua", "");
    put("mods/a/b.lua", "");
}

// Finding ----------------------------------------------------------------

static void modules(void)
{
    char path[64], shorter[64];

    CHECK(sb__find_module(path, sizeof(path), "x/?.y;mods/?.lua", "a.b"));
    CHECK_STR(path, "mods/a/b.lua");
    CHECK(!sb__find_module(path, sizeof(path), "", "a.b"));
    CHECK(!sb__find_module(path, sizeof(path), ";;", "a.b"));
    CHECK(!sb__find_module(path, sizeof(path), "mods/?.lua", "a.c"));
    CHECK(!sb__find_module(path, sizeof(path), "?", "folder"));
    // A path without '?' is used for every name.
    CHECK(sb__find_module(path, sizeof(path), "here.lua", "any"));
    // "mods/a/b.lua" has 13 bytes with its NUL.
    CHECK(sb__find_module(shorter, 13, "mods/?.lua", "a.b"));
    memset(shorter, 'x', sizeof(shorter));
    CHECK(!sb__find_module(shorter, 12, "mods/?.lua", "a.b"));
    CHECK(!sb__find_module(shorter, 12, "?", "a.name.that.is.too.long"));
    CHECK(!sb__find_module(shorter, 12, "a/path/that/is/too/long", "a"));
    CHECK_INT(shorter[12], 'x');
}

// Code --------------------------------------------------------------------

static lua_State *new_state(void)
{
    lua_State *L = luaL_newstate();

    CHECK(L != NULL);
    luaL_openlibs(L);
    sb__codes_begin(L);
    return L;
}

// Runs loaded code. Returns its result as text, or the error.
static const char *result(lua_State *L, int rc)
{
    static char out[256];

    if (rc == 0)
        lua_pcall(L, 0, 1, 0);
    snprintf(
        out, sizeof(out), "%s", lua_isnil(L, -1) ? "nil" : lua_tostring(L, -1));
    lua_settop(L, 0);
    return out;
}

static void set_mtime(const char *path, time_t t)
{
    const struct timespec ts[2] = { { .tv_sec = t }, { .tv_sec = t } };

    CHECK(utimensat(AT_FDCWD, path, ts, 0) == 0);
}

static void files(void)
{
    struct sb__codes c;
    lua_State *a = new_state(), *b = new_state();

    sb__codes_init(&c, NULL);
    put("f.lua", "return 1");
    set_mtime("f.lua", 1000);
    CHECK_STR(result(a, sb__codes_file(&c, a, AT_FDCWD, "f.lua")), "1");
    // A changed file is read again only if its modification time changed.
    put("f.lua", "return 2");
    set_mtime("f.lua", 1000);
    CHECK_STR(result(b, sb__codes_file(&c, b, AT_FDCWD, "f.lua")), "1");
    set_mtime("f.lua", 1001);
    CHECK_STR(result(b, sb__codes_file(&c, b, AT_FDCWD, "f.lua")), "2");
    put("g.lua", "return\n\n nothing.x");
    CHECK_STR(result(a, sb__codes_file(&c, a, AT_FDCWD, "g.lua")),
        "g.lua:3: attempt to index global 'nothing' (a nil value)");
    CHECK_STR(result(b, sb__codes_file(&c, b, AT_FDCWD, "g.lua")),
        "g.lua:3: attempt to index global 'nothing' (a nil value)");
    put("h.lua", "= 1");
    CHECK(strstr(
        result(a, sb__codes_file(&c, a, AT_FDCWD, "h.lua")), "h.lua:1: "));
    CHECK(
        strstr(result(a, sb__codes_file(&c, a, AT_FDCWD, "no.lua")), "no.lua"));
    lua_close(a);
    lua_close(b);
    sb__codes_done(&c);
}

static void texts(void)
{
    struct sb__codes c;
    lua_State *a = new_state(), *b = new_state();
    const char *one = "return 1", *two = "return 2";

    sb__codes_init(&c, NULL);
    CHECK_STR(result(a, sb__codes_text(&c, a, "=x", one, 8)), "1");
    CHECK_STR(result(b, sb__codes_text(&c, b, "=x", two, 8)), "1");
    CHECK_STR(result(b, sb__codes_text(&c, b, "=y", two, 8)), "2");
    CHECK_STR(result(a, sb__codes_text(&c, a, "=z", "x x", 3)),
        "z:1: '=' expected near 'x'");
    CHECK_STR(result(a, sb__codes_module(&c, a, "nosuch")),
        "no embedded module 'nosuch'");
    lua_close(a);
    lua_close(b);
    sb__codes_done(&c);
}

// Embedded modules have no line numbers, whichever state loads them.
static void embedded(void)
{
    struct sb__codes c;
    lua_State *a = new_state(), *b = new_state();

    sb__codes_init(&c, NULL);
    // Every module first reads the table that it is called with.
    CHECK(strstr(result(a, sb__codes_module(&c, a, "op")), "[op]:0: "));
    CHECK(strstr(result(b, sb__codes_module(&c, b, "op")), "[op]:0: "));
    lua_close(a);
    lua_close(b);
    sb__codes_done(&c);
}

// Declarations --------------------------------------------------------------

// Replaces ffi.cdef: stores its argument.
static int fake_cdef(lua_State *L)
{
    lua_pushvalue(L, 1);
    lua_setglobal(L, "seen");
    return 0;
}

static void declarations(void)
{
    lua_State *L = new_state();

    lua_pushcfunction(L, fake_cdef);
    lua_setfield(L, LUA_REGISTRYINDEX, "sysbench.cdef");
    sb__cdef(L, "sql");
    CHECK_INT(lua_gettop(L), 0);
    lua_getglobal(L, "seen");
    CHECK(strstr(lua_tostring(L, -1), "struct sb_con {") != NULL);
    CHECK(strstr(lua_tostring(L, -1), "sb_con_query(") != NULL);
    lua_settop(L, 0);
    // A state has them once.
    lua_pushnil(L);
    lua_setglobal(L, "seen");
    sb__cdef(L, "sql");
    lua_getglobal(L, "seen");
    CHECK(lua_isnil(L, -1));
    lua_close(L);
}

// Errors ------------------------------------------------------------------

static const char *text_of(lua_State *L, const char *value)
{
    static char out[512];

    lua_settop(L, 0);
    CHECK_INT(luaL_loadstring(L, value), 0);
    CHECK_INT(lua_pcall(L, 0, 1, 0), 0);
    snprintf(out, sizeof(out), "%s", sb__error_text(L, true));
    return out;
}

static void errors(void)
{
    lua_State *L = new_state();

    CHECK_STR(text_of(L, "return 'x'"), "x");
    CHECK_STR(text_of(L, "return 5"), "5");
    CHECK_STR(text_of(L, "return nil"), "error with a nil");
    CHECK_STR(text_of(L, "return true"), "error with a boolean");
    CHECK_STR(text_of(L, "return {}"), "error with a table (empty)");
    CHECK_STR(text_of(L, "return {where = 'a.lua:1: '}"),
        "a.lua:1: error with a table (empty)");
    CHECK_STR(text_of(L, "return {code = 1, sub = {}, 7}"),
        "error with a table (code = 1)");
    CHECK_STR(text_of(L, "return {message = 'm'}"), "m");
    CHECK_STR(
        text_of(L, "return {message = {}}"), "error with a table (empty)");
    CHECK_STR(text_of(L, "return {sql_errmsg = 'gone', sql_errno = 2, "
                         "where = 'w: '}"),
        "w: database error, errno = 2: gone");
    CHECK_STR(text_of(L, "return {sql_errmsg = 'gone', sql_errno = 0, "
                         "sql_state = '', where = 'w: '}"),
        "w: gone");
    CHECK_STR(text_of(L, "return {sql_errmsg = 'gone', sql_errno = 2, "
                         "sql_state = '08S01'}"),
        "SQL error, errno = 2, state = '08S01': gone");
    CHECK_STR(text_of(L, "return setmetatable({}, {__index = error, "
                         "__tostring = function() return 'obj' end})"),
        "obj");
    CHECK_STR(
        text_of(L, "return setmetatable({a = 'b'}, {__tostring = error})"),
        "error with a table (a = b)");
    lua_close(L);
}

static void clean_up(void)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf '%s'", top);
    CHECK(chdir("/") == 0 && system(command) == 0);
}

CHECK_FILE
{
    RUN(make_files);
    RUN(modules);
    RUN(files);
    RUN(texts);
    RUN(embedded);
    RUN(declarations);
    RUN(errors);
    RUN(clean_up);
    return check_done();
}
