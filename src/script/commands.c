// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lists and runs the commands of a script.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "script/script_private.h"

// Pushes sysbench.cmdline[name], or nil: a script may have replaced these
// tables with any value.
static void push_cmdline(lua_State *L, const char *name)
{
    const char *const path[] = { "sysbench", "cmdline", name };

    lua_pushvalue(L, LUA_GLOBALSINDEX);
    for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
        if (lua_istable(L, -1)) {
            lua_pushstring(L, path[i]);
            lua_rawget(L, -2);
        } else {
            lua_pushnil(L);
        }
        lua_remove(L, -2);
    }
}

// Pushes sysbench.cmdline.commands[command] and returns true; returns false and
// pushes nothing if the command is not declared.
static bool push_command(lua_State *L, const char *command)
{
    int top = lua_gettop(L);

    push_cmdline(L, "commands");
    if (lua_istable(L, -1))
        lua_getfield(L, -1, command);
    if (lua_istable(L, -1)) {
        lua_rawgeti(L, -1, 1);
        if (lua_isfunction(L, -1)) {
            lua_pop(L, 1);
            lua_replace(L, top + 1);
            lua_settop(L, top + 1);
            return true;
        }
    }
    lua_settop(L, top);
    return false;
}

bool sb_script_command_is_empty(const struct sb_script *s, const char *command)
{
    lua_State *L = s->main->L;
    int top = lua_gettop(L);
    bool empty = false;

    push_cmdline(L, "commands");
    if (lua_istable(L, -1)) {
        lua_pushstring(L, command);
        lua_rawget(L, -2);
    }
    if (lua_gettop(L) > top + 1 && lua_istable(L, -1)) {
        lua_rawgeti(L, -1, 1);
        empty = !lua_isfunction(L, -1);
    }
    lua_settop(L, top);
    return empty;
}

static bool declares_options(lua_State *L)
{
    bool yes;

    push_cmdline(L, "options");
    yes = lua_istable(L, -1);
    lua_pop(L, 1);
    return yes;
}

enum sb_script_command sb_script_command(
    const struct sb_script *s, const char *command)
{
    static const char *const plain[] = { "prepare", "cleanup", "help" };
    lua_State *L = s->main->L;

    if (push_command(L, command)) {
        lua_rawgeti(L, -1, 2);
        bool parallel = lua_toboolean(L, -1);
        lua_pop(L, 2);
        return parallel ? SB_COMMAND_PARALLEL : SB_COMMAND_SERIAL;
    }
    if (strcmp(command, "run") == 0)
        return SB_COMMAND_RUN;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (strcmp(command, plain[i]) == 0 &&
            sb__state_has(s->main, NULL, command))
            return SB_COMMAND_SERIAL;
    }
    if (strcmp(command, "help") == 0 && declares_options(L))
        return SB_COMMAND_SERIAL;
    return SB_COMMAND_NONE;
}

// Pushes the function that implements the command.
static int push_action(
    struct sb__state *st, const char *command, struct sb_err *err)
{
    lua_State *L = st->L;

    if (push_command(L, command)) {
        lua_rawgeti(L, -1, 1);
        lua_remove(L, -2);
        return 0;
    }
    if (sb__state_has(st, NULL, command)) {
        lua_getglobal(L, command);
        return 0;
    }
    if (strcmp(command, "help") == 0)
        return sb__state_module(st, "cmdline", "print_test_options", err);
    return sb_err_set(err, SB_ENOTFOUND,
        "'%s' test does not implement the '%s' command.", st->script->name,
        command);
}

static int act(struct sb__state *st, const char *command, struct sb_err *err)
{
    int rc = push_action(st, command, err);

    if (rc == 0)
        rc = sb__state_call(st, command, 0, 1, err);
    if (rc)
        return rc;
    bool failed = lua_isboolean(st->L, -1) && !lua_toboolean(st->L, -1);
    lua_pop(st->L, 1);
    return failed ? sb_err_set(err, SB_ESCRIPT,
                        "the '%s' command of %s failed (it returned false)",
                        command, st->script->path)
                  : 0;
}

int sb_script_call(struct sb_script *s, const char *command, struct sb_err *err)
{
    return act(s->main, command, err);
}

int sb_script_task(struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb_script *s = w->data;
    struct sb__state *st;
    int rc = sb__workload_attach(s, u, SB__ALONE, &st, err);

    return rc ? rc : act(st, s->command, err);
}

// Copies the list of names on the stack top, from cmdline.lua.
static void keep_commands(struct sb_script *s, lua_State *L)
{
    size_t n = lua_objlen(L, -1);
    char **names = calloc(n + 1, sizeof(*names));

    assert(!s->commands);
    for (size_t i = 0; names && i < n; i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        names[i] = strdup(lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    s->commands = names;
}

void sb__commands_done(struct sb_script *s)
{
    for (size_t i = 0; s->commands && s->commands[i]; i++)
        free(s->commands[i]);
    free(s->commands);
    s->commands = NULL;
}

const char *const *sb_script_commands(struct sb_script *s)
{
    static const char *const none[] = { NULL };
    struct sb_err err;

    sb__commands_done(s);
    if (sb__state_module(s->main, "cmdline", "commands_here", &err) == 0 &&
        sb__state_call(s->main, "commands_here", 0, 1, &err) == 0) {
        keep_commands(s, s->main->L);
        lua_pop(s->main->L, 1);
    }
    return s->commands ? (const char *const *)s->commands : none;
}
