// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds the line of a script that holds up the other users of a worker.
// Compiled code calls no hooks, so LuaJIT does not compile while lines are
// watched, and what it has compiled is dropped. The hook is set in the turns of
// the users that are watched only: it costs the others ten times as much as
// the interpreter does. (To let LuaJIT compile all but the script's functions
// does not work: it gives up on functions whose callers it must not compile,
// and later does not try again.)
#include <luajit.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "loop/hold.h"
#include "script/script_private.h"

// In one turn. Events that compute execute many lines, and each call of the
// hook takes 0.2 us.
#define CALLS_MAX 100000u

struct line {
    char file[LUA_IDSIZE];
    int number;
};

struct sb__lines {
    bool full;        // too many lines in this turn
    uint64_t turn;    // of the user: what follows is about it
    struct line now;  // that runs
    uint64_t since;   // when it began, or the turn
    struct line most; // that has taken the longest time
    uint64_t most_ns; // the time
    // That ran when the turn became too long; number 0: none.
    struct line passed;
    unsigned calls; // of the hook
};

static const char key = 0; // of the registry

// The line that runs has taken time up to now.
static void count_time(struct sb__lines *n, uint64_t turn, uint64_t now)
{
    if (turn != n->turn) {
        n->turn = n->since = turn;
        n->most_ns = 0;
        n->passed.number = 0;
        n->calls = 0;
        n->full = false;
    }
    if (now - n->since > n->most_ns) {
        n->most_ns = now - n->since;
        n->most = n->now;
    }
    if (n->passed.number == 0 && now - turn > SB_HOLD_NS)
        n->passed = n->now;
}

// The modules of the program have no lines: their time is that of the script's
// line that called them.
static void on_line(lua_State *L, lua_Debug *ar)
{
    const struct sb__vm *vm;

    lua_pushlightuserdata(L, (void *)&key);
    lua_rawget(L, LUA_REGISTRYINDEX);
    vm = lua_touserdata(L, -1);
    lua_pop(L, 1);
    struct sb__lines *n = vm ? vm->now->lines : NULL;
    uint64_t turn = n ? sb_user_turn(vm->now->user) : 0;

    if (turn == 0 || ar->currentline <= 0 || (n->full && turn == n->turn))
        return;
    uint64_t now = sb_clock_monotonic();

    count_time(n, turn, now);
    lua_getinfo(L, "S", ar);
    memcpy(n->now.file, ar->short_src, sizeof(n->now.file));
    n->now.number = ar->currentline;
    n->since = now;
    n->full = ++n->calls > CALLS_MAX;
}

bool sb__compiles(lua_State *L)
{
    int top = lua_gettop(L);
    bool on = false;

    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    lua_getfield(L, -1, LUA_JITLIBNAME);
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "status");
        on = lua_pcall(L, 0, 1, 0) == 0 && lua_toboolean(L, -1);
    }
    lua_settop(L, top);
    return on;
}

static void set_vm(lua_State *L, struct sb__vm *vm)
{
    lua_pushlightuserdata(L, (void *)&key);
    if (vm)
        lua_pushlightuserdata(L, vm);
    else
        lua_pushnil(L);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

void sb__lines_turn(const struct sb__state *st)
{
    lua_State *L = st->vm->L;
    bool set = lua_gethook(L) == on_line;

    if (st->lines && !set)
        lua_sethook(L, on_line, LUA_MASKLINE, 0);
    else if (!st->lines && set)
        lua_sethook(L, NULL, 0, 0);
}

// A script that has a hook of its own keeps it.
static void watch_begin(struct sb__state *st)
{
    struct sb__vm *vm = st->vm;
    lua_State *L = vm->L;

    if (st->lines || (lua_gethook(L) && lua_gethook(L) != on_line))
        return;
    st->lines = calloc(1, sizeof(*st->lines));
    if (!st->lines)
        return;
    sb__lines_turn(st);
    if (vm->watching++ > 0)
        return;
    vm->compiled = sb__compiles(L);
    set_vm(L, vm);
    unsigned flushes = vm->traces.flushes; // of LuaJIT itself
    luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_FLUSH);
    vm->traces.flushes = flushes;
    luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
}

void sb__lines_end(struct sb__state *st)
{
    struct sb__vm *vm = st->vm;

    if (!st->lines)
        return;
    free(st->lines);
    st->lines = NULL;
    sb__lines_turn(st);
    if (--vm->watching > 0)
        return;
    if (vm->compiled)
        luaJIT_setmode(vm->L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_ON);
    set_vm(vm->L, NULL);
}

bool sb__lines_switch(struct sb__state *st)
{
    int what;

    assert(st->user); // only the loop of its events calls this
    what = sb_user_lines(st->user);
    if (what == SB_LINES_BEGIN)
        watch_begin(st);
    else
        sb__lines_end(st);
    return what != SB_LINES_OVER;
}

// Returns the line that held the worker in the turn `hold`, or NULL.
static const struct line *line_of(struct sb__lines *n, const struct sb_hold *h)
{
    if (n->now.number == 0)
        return NULL;
    count_time(n, h->from, h->to);
    if (n->most_ns > SB_HOLD_NS)
        return &n->most;
    // No line alone took so long: one of those that computed.
    return h->computed && n->passed.number ? &n->passed : NULL;
}

enum sb_held sb__lines_held(
    struct sb__state *st, const struct sb_hold *hold, char *what, size_t size)
{
    // A bundled workload is known not to block: the machine was busy.
    if (st && st->script->installed)
        return SB_HELD_IGNORED;
    // Of turns that were not timed, no lines were noted.
    bool noted = st && st->lines && sb_user_turn(st->user) != 0;
    const struct line *line = noted ? line_of(st->lines, hold) : NULL;

    if (line) {
        snprintf(what, size, "%s:%d", line->file, line->number);
        return SB_HELD_LINE;
    }
    if (!st)
        return SB_HELD_UNKNOWN;
    snprintf(what, size, "%s() of %s", st->own_loop ? "thread_run" : "event",
        st->script->path);
    return st->own_loop ? SB_HELD_UNKNOWN : SB_HELD_FUNCTION;
}
