// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds the line of a script that holds up the other users of a worker.
// Compiled code calls no hooks, so LuaJIT does not compile while lines are
// watched, and its compiled code is dropped. The hook is set only in the turns
// of watched users, because it costs other users ten times as much as the
// interpreter does. (Compiling everything except the script's functions does
// not work: LuaJIT gives up on functions whose callers it must not compile, and
// does not retry them later.)

#define _GNU_SOURCE // REG_RIP
#include <assert.h>
#include <luajit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "base/clock.h"
#include "kit/array.h"
#include "loop/hold.h"
#include "script/script_private.h"

// Finds the line of a script that does not return, for a message. A signal
// interrupts the thread of its worker. If the thread executes code that LuaJIT
// has compiled, the address tells where in the script this code begins: such
// code calls no hooks. Otherwise a hook tells the line that is executed next,
// which LuaJIT allows a signal handler to set.

// How often the thread is interrupted: it may be in a function that the
// compiled code has called.
#define TRIES 50

struct sb__trace {
    uintptr_t from; // the machine code
    size_t size;
    char line[SB__TRACE_LINE]; // where it begins: "x.lua:12"
};

// The question to a thread, and its answer. One thread asks.
static lua_State *_Atomic asked;
static _Atomic uintptr_t pc;
static const void *_Atomic registry; // of the state
static pthread_mutex_t answer_lock = PTHREAD_MUTEX_INITIALIZER;
static char answer[SB__TRACE_LINE];

// Traces ----------------------------------------------------------------------

// (func, pc) are arguments 3 and 4 of the event.
static void note_start(lua_State *L, struct sb__traces *t)
{
    t->line[0] = '\0';
    lua_pushvalue(L, lua_upvalueindex(2)); // jit.util.funcinfo()
    lua_pushvalue(L, 3);
    lua_pushvalue(L, 4);
    lua_call(L, 2, 1);
    if (!lua_istable(L, -1))
        return;
    lua_getfield(L, -1, "currentline");
    lua_getfield(L, -2, "loc"); // "x.lua:12"
    if (lua_tointeger(L, -2) > 0 && lua_isstring(L, -1))
        snprintf(t->line, sizeof(t->line), "%s", lua_tostring(L, -1));
}

static void note_stop(lua_State *L, struct sb__traces *t)
{
    struct sb__trace trace = { 0 }, *list;

    lua_pushvalue(L, lua_upvalueindex(3)); // jit.util.tracemc()
    lua_pushvalue(L, 2);
    lua_call(L, 1, 2);
    trace.from = (uintptr_t)lua_tonumber(L, -1);
    trace.size = lua_objlen(L, -2);
    memcpy(trace.line, t->line, sizeof(trace.line));
    if (!trace.line[0])
        return;
    pthread_mutex_lock(&t->lock);
    list = sb_array_room(t->list, &t->cap, t->n, 1, sizeof(*list));
    if (list) {
        t->list = list;
        list[t->n++] = trace;
    }
    pthread_mutex_unlock(&t->lock);
}

// For jit.attach(): (event, number, function, bytecode). Upvalue 1: the traces.
static int on_trace(lua_State *L)
{
    struct sb__traces *t = lua_touserdata(L, lua_upvalueindex(1));
    const char *event = lua_tostring(L, 1);

    if (strcmp(event, "start") == 0) {
        note_start(L, t);
    } else if (strcmp(event, "stop") == 0) {
        note_stop(L, t);
    } else if (strcmp(event, "flush") == 0) {
        pthread_mutex_lock(&t->lock);
        t->n = 0;
        t->flushes++;
        pthread_mutex_unlock(&t->lock);
    }
    return 0;
}

void sb__traces_note(lua_State *L, struct sb__traces *t)
{
    int top = lua_gettop(L);

    lua_getglobal(L, "jit");
    lua_getfield(L, -1, "attach");
    lua_pushlightuserdata(L, t);
    lua_getglobal(L, "require");
    lua_pushstring(L, "jit.util");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "funcinfo");
    lua_getfield(L, -2, "tracemc");
    lua_remove(L, -3);
    lua_pushcclosure(L, on_trace, 3);
    lua_pushstring(L, "trace");
    lua_call(L, 2, 0);
    lua_settop(L, top);
}

void sb__traces_init(struct sb__traces *t)
{
    *t = (struct sb__traces){ 0 };
    pthread_mutex_init(&t->lock, NULL);
}

void sb__traces_done(struct sb__traces *t)
{
    pthread_mutex_destroy(&t->lock);
    free(t->list);
}

// Searches from the newest trace: LuaJIT reuses the memory of dropped traces.
static bool find_trace(
    struct sb__traces *t, uintptr_t at, char *what, size_t size)
{
    bool found = false;

    pthread_mutex_lock(&t->lock);
    for (size_t i = t->n; i > 0 && !found; i--) {
        const struct sb__trace *trace = &t->list[i - 1];

        found = at - trace->from < trace->size;
        if (found)
            snprintf(what, size, "%s", trace->line);
    }
    pthread_mutex_unlock(&t->lock);
    return found;
}

// The thread ------------------------------------------------------------------

static uintptr_t address_of(void *context)
{
    const ucontext_t *c = context;

#if defined(__x86_64__)
    return (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)c->uc_mcontext.pc;
#else
    (void)c;
    return 0;
#endif
}

static void answer_line(lua_State *L, lua_Debug *ar)
{
    if (ar->currentline <= 0)
        return;
    lua_sethook(L, NULL, 0, 0);
    lua_getinfo(L, "S", ar);
    pthread_mutex_lock(&answer_lock);
    if (lua_topointer(L, LUA_REGISTRYINDEX) == atomic_load(&registry))
        snprintf(
            answer, sizeof(answer), "%s:%d", ar->short_src, ar->currentline);
    pthread_mutex_unlock(&answer_lock);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    lua_State *L = atomic_exchange(&asked, NULL);

    (void)sig;
    (void)info;
    if (!L)
        return;
    lua_sethook(L, answer_line, LUA_MASKLINE, 0);
    atomic_store(&pc, address_of(context));
}

static void catch_signal(void)
{
    struct sigaction action = { .sa_sigaction = on_signal,
        .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };

    sigemptyset(&action.sa_mask);
    sigaction(SIGURG, &action, NULL);
}

static bool take_answer(char *what, size_t size)
{
    pthread_mutex_lock(&answer_lock);
    bool known = answer[0];
    if (known)
        snprintf(what, size, "%s", answer);
    pthread_mutex_unlock(&answer_lock);
    return known;
}

bool sb__stuck_line(
    struct sb__vm *vm, pthread_t thread, char *what, size_t size)
{
    const struct timespec pause = { .tv_nsec = 2000000 };
    bool found = false;

    pthread_mutex_lock(&answer_lock);
    answer[0] = '\0';
    atomic_store(&registry, lua_topointer(vm->L, LUA_REGISTRYINDEX));
    pthread_mutex_unlock(&answer_lock);
    catch_signal();
    for (int i = 0; i < TRIES && !found; i++) {
        atomic_store(&pc, 0);
        atomic_store(&asked, vm->L);
        if (pthread_kill(thread, SIGURG))
            break;
        nanosleep(&pause, NULL);
        found = find_trace(&vm->traces, atomic_load(&pc), what, size) ||
                take_answer(what, size);
    }
    atomic_store(&asked, NULL);
    atomic_store(&registry, NULL);
    return found;
}

// Maximum calls of the hook in one turn. Events that compute execute many
// lines, and each call takes 0.2 us.
#define CALLS_MAX 100000u

struct line {
    char file[LUA_IDSIZE];
    int number;
};

struct sb__lines {
    bool full;        // too many lines in this turn
    uint64_t turn;    // of the user; the following fields are about it
    struct line now;  // the current line
    uint64_t since;   // the start of the line, or of the turn
    struct line most; // the line that has taken the longest time
    uint64_t most_ns; // its time
    // The line that ran when the turn became too long; number 0: none.
    struct line passed;
    unsigned calls; // of the hook
};

static const char key = 0; // of the registry

// Counts the time of the current line up to `now`.
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

static void set_hook(const struct sb__state *st)
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
    set_hook(st);
    if (vm->watching++ > 0)
        return;
    vm->watch = set_hook;
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
    set_hook(st);
    if (--vm->watching > 0)
        return;
    vm->watch = NULL;
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
    // No line alone took so long: if the user computed, name one of its lines.
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
