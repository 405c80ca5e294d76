// SPDX-License-Identifier: GPL-2.0-or-later
//
// The messages of failed scripts, with the position of the error. Scripts may
// raise strings, tables, nil, or any other value.
#include <string.h>

#include "kit/buf.h"
#include "base/log.h"
#include "script/script_private.h"

#define LINE_PART_MAX 200 // the beginning of a longer line is of use

// Pushes the position in the innermost function with line numbers. The modules
// of the program have none, so it is a position in the user's script.
static bool push_where(lua_State *L)
{
    lua_Debug ar;

    for (int level = 1; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0) {
            lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.currentline);
            return true;
        }
    }
    return false;
}

// Returns the text after "[sql]:0: ", the position in an embedded module; NULL
// if the text does not begin with one.
static const char *after_embedded(const char *text)
{
    const char *end = text && text[0] == '[' ? strchr(text, ']') : NULL;

    return end && strncmp(end, "]:0: ", 5) == 0 ? end + 5 : NULL;
}

// If the stack of Lua overflows in compiled code, LuaJIT leaves out the
// position, or only the line: "x.lua:0: stack overflow". Returns the text after
// the position; NULL for any other error.
static const char *after_overflow(const char *text)
{
    static const char overflow[] = ":0: stack overflow";
    const char *end = text ? strstr(text, overflow) : NULL;

    if (text && strcmp(text, overflow + 4) == 0)
        return text;
    return end && end[sizeof(overflow) - 1] == '\0' ? end + 4 : NULL;
}

// Adds the position to the error at index 1. In a text, it replaces a position
// in an embedded module or a position without a line; a table gets it as the
// field `where`, for sb__error_text().
static void add_where(lua_State *L)
{
    // Not of a number, which would become a text: see restart.lua.
    const char *text = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1)
                                                     : NULL;
    const char *rest;

    if (lua_istable(L, 1)) {
        lua_pushstring(L, "where");
        if (push_where(L))
            lua_rawset(L, 1);
    } else if (lua_isnil(L, 1)) {
        if (push_where(L)) {
            lua_pushstring(L, "error without a message");
            lua_concat(L, 2);
            lua_replace(L, 1);
        }
    } else if ((rest = after_embedded(text)) != NULL ||
               (rest = after_overflow(text)) != NULL) {
        if (!push_where(L))
            lua_pushstring(L, "");
        lua_pushstring(L, rest);
        lua_concat(L, 2);
        lua_replace(L, 1);
    }
}

int sb__on_error(lua_State *L)
{
    add_where(L);
    lua_settop(L, 1);
    if (sb_log_level() >= SB_LOG_DEBUG) {
        luaL_traceback(L, L, sb__error_text(L, true), 1);
        sb_log(SB_LOG_DEBUG, "%s", lua_tostring(L, -1));
    }
    lua_settop(L, 1);
    return 1;
}

// Called by Lua for an error outside of protected calls. The program cannot
// continue with this state.
int sb__on_panic(lua_State *L)
{
    const char *text = lua_tostring(L, -1);

    sb__libs_ending();
    sb_log(SB_LOG_FATAL, "a Lua state has failed outside of the script: %s",
        text ? text : "error without a message");
    sb_log_flush();
    return 0; // LuaJIT ends the process with status 1
}

// Pushes a field of the table at the index, without using its metatable.
static void push_raw(lua_State *L, int table, const char *name)
{
    lua_pushstring(L, name);
    lua_rawget(L, table);
}

// Pushes the fields of a table without a message: "code = 5, who = x".
static void push_fields(lua_State *L, int table)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    for (lua_pushnil(L); lua_next(L, table) && b.len < 200; lua_pop(L, 1)) {
        int kind = lua_type(L, -1);

        if (lua_type(L, -2) != LUA_TSTRING ||
            strcmp(lua_tostring(L, -2), "where") == 0 ||
            (kind != LUA_TSTRING && kind != LUA_TNUMBER))
            continue;
        sb_buf_addf(&b, "%s%s = %.100s", b.len ? ", " : "", lua_tostring(L, -2),
            lua_tostring(L, -1));
    }
    lua_settop(L, table);
    lua_pushfstring(L, "error with a table (%s)", b.len ? b.data : "empty");
    sb_buf_done(&b);
}

// Pushes the text of a table: an SQL error, its message, __tostring(), or its
// fields.
static void push_table(lua_State *L, int table)
{
    const char *state;

    push_raw(L, table, "sql_errmsg");
    if (lua_isstring(L, -1)) {
        push_raw(L, table, "sql_errno");
        push_raw(L, table, "sql_state");
        state = lua_isstring(L, -1) ? lua_tostring(L, -1) : "";
        if (!*state && lua_tointeger(L, -2) == 0) // not from the server
            lua_pushvalue(L, -3);
        else
            lua_pushfstring(L,
                *state ? "SQL error, errno = %d, state = '%s': %s"
                       : "database error, errno = %d%s: %s",
                (int)lua_tointeger(L, -2), state, lua_tostring(L, -3));
        return;
    }
    push_raw(L, table, "message");
    if (lua_isstring(L, -1))
        return;
    if (luaL_getmetafield(L, table, "__tostring")) {
        lua_pushvalue(L, table);
        if (lua_pcall(L, 1, 1, 0) == 0 && lua_isstring(L, -1))
            return;
    }
    lua_settop(L, table);
    push_fields(L, table);
}

void sb__error_cut(struct sb_err *err)
{
    char *end = err ? strrchr(err->msg, '\n') : NULL;

    if (end && strlen(err->msg) == sizeof(err->msg) - 1 &&
        strlen(end) <= LINE_PART_MAX)
        *end = '\0';
}

const char *sb__error_text(lua_State *L, bool where)
{
    int at = lua_gettop(L);

    if (lua_istable(L, at)) {
        push_raw(L, at, "where");
        if (!where || !lua_isstring(L, -1)) {
            lua_pop(L, 1);
            lua_pushstring(L, "");
        }
        lua_pushvalue(L, at);
        push_table(L, at + 2);
        lua_replace(L, at + 2);
        lua_settop(L, at + 2);
        lua_concat(L, 2);
    } else if (!lua_isstring(L, at)) {
        lua_pushfstring(L, "error with a %s", luaL_typename(L, at));
    }
    return lua_tostring(L, -1);
}
