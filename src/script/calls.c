// SPDX-License-Identifier: GPL-2.0-or-later
//
// The functions of the C API that may wait, for states that users share. While
// one user waits, other users of the state run, so code that LuaJIT has
// compiled must not make the call. Therefore the call is a function of Lua's C
// API; its arguments and its result are fields of struct sb_turn. The Lua
// function for each is generated from its entry here. A state with one user
// calls the functions by FFI.
#include <string.h>

#include "base/log.h"
#include "db/load.ffi.h"
#include "db/sql.ffi.h"
#include "kit/buf.h"
#include "run/user.ffi.h"
#include "script/script_private.h"

struct call {
    const char *name;
    const char *result; // a field of struct sb_turn, or ""
    const char *fields; // of the arguments: "t->con, t->text, t->len"
    void (*run)(struct sb_turn *t);
};

// CALL(result, function, arguments), all of them fields.
#define CALLS                                                            \
    CALL(con, sb_con_open, t->ctx, t->db, t->names, t->settings, t->len) \
    CALL(result, sb_con_close, t->con)                                   \
    CALL(result, sb_con_reconnect, t->con)                               \
    CALL(result, sb_con_init_sql, t->con, t->text, t->len)               \
    CALL(result, sb_con_retry, t->ctx)                                   \
    CALL(result, sb_con_held, t->ctx)                                    \
    CALL(result, sb_con_server, t->con, t->room, t->len)                 \
    CALL(result, sb_con_reset, t->con)                                   \
    CALL_VOID(sb_con_reset_others, t->ctx, t->con)                       \
    CALL(rs, sb_con_query, t->con, t->text, t->len)                      \
    CALL(rs, sb_con_query_now, t->con, t->text, t->len)                  \
    CALL(stmt, sb_stmt_open, t->con, t->text, t->len, t->more)           \
    CALL(rs, sb_stmt_execute, t->stmt)                                   \
    CALL_VOID(sb_stmt_free, t->stmt)                                     \
    CALL(rs, sb_rs_next, t->con)                                         \
    CALL(result, sb_con_pipeline, t->con)                                \
    CALL(result, sb_con_pipeline_send, t->con)                           \
    CALL(rs, sb_con_pipeline_next, t->con)                               \
    CALL(result, sb_con_pipeline_end, t->con)                            \
    CALL(result, sb_con_pipeline_run, t->con)                            \
    CALL_VOID(sb_con_pipeline_drop, t->con)                              \
    CALL(result, sb_con_bulk_init, t->con, t->text, t->len)              \
    CALL(result, sb_con_bulk_next, t->con, t->text, t->len)              \
    CALL(result, sb_con_bulk_done, t->con)                               \
    CALL(load, sb_load_open, t->con, t->text, t->more)                   \
    CALL(load, sb_load_open_private, t->con, t->text, t->more)           \
    CALL(result, sb_load_int, t->load, t->number)                        \
    CALL(result, sb_load_int64, t->load, t->int64)                       \
    CALL(result, sb_load_uint64, t->load, t->uint64)                     \
    CALL(result, sb_load_double, t->load, t->number)                     \
    CALL(result, sb_load_text, t->load, t->text, t->len)                 \
    CALL(result, sb_load_null, t->load)                                  \
    CALL(result, sb_load_refuse, t->load, t->text)                       \
    CALL(room, sb_load_room, t->load, t->len)                            \
    CALL(result, sb_load_close, t->load, (int)t->number)                 \
    CALL(result, sb_con_run, t->con, t->routine, t->arg)                 \
    CALL(result, sb_user_next_wait, t->user)                             \
    CALL(result, sb_user_pause, t->user, t->number)                      \
    CALL(result, sb_user_restart, t->user)

#define CALL(result, name, ...)               \
    static void run_##name(struct sb_turn *t) \
    {                                         \
        t->result = name(__VA_ARGS__);        \
    }
#define CALL_VOID(name, ...)                  \
    static void run_##name(struct sb_turn *t) \
    {                                         \
        name(__VA_ARGS__);                    \
    }
CALLS
#undef CALL
#undef CALL_VOID

#define CALL(result, name, ...) { #name, #result, #__VA_ARGS__, run_##name },
#define CALL_VOID(name, ...)    { #name, "", #__VA_ARGS__, run_##name },
static const struct call calls[] = { CALLS };
#undef CALL
#undef CALL_VOID

// Runs the call of upvalue 2 for the user whose turn it is. Its Lua arguments
// are what the call borrows: they stay on the stack of Lua until it returns.
static int run(lua_State *L)
{
    struct sb__vm *vm = lua_touserdata(L, lua_upvalueindex(1));
    const struct call *c = lua_touserdata(L, lua_upvalueindex(2));
    struct sb__state *st = vm->now;

    // A finalizer runs in the turn of any user. The collector is stopped only
    // while it calls one, because scripts cannot stop it where users share a
    // state.
    if (!lua_gc(L, LUA_GCISRUNNING, 0))
        return luaL_error(L,
            "a finalizer (__gc) called %s(): finalizers must not use the "
            "database",
            c->name);
    sb__state_leave(st);
    c->run(&vm->turn); // has read its arguments before others write theirs
    sb__state_enter(st);
    return 0;
}

// "(int)t->number" -> "number". Returns what follows the field.
static const char *add_field(struct sb_buf *b, const char *field)
{
    const char *name = strstr(field, "->") + 2;
    size_t len = strcspn(name, ", ");

    sb_buf_add(b, name, len);
    name += len;
    return name + strspn(name, ", ");
}

static void add_fields(struct sb_buf *b, const char *fields, const char *last)
{
    while (*fields) {
        fields = add_field(b, fields);
        sb_buf_adds(b, *fields ? ", " : last);
    }
}

// sb_con_query -> "function f.sb_con_query(con, text, len) t.con = con ...
// run(con, text, len) return t.rs end"
static void add_function(struct sb_buf *b, const struct call *c, size_t i)
{
    sb_buf_addf(b, "do local run = run[%zu] function f.%s(", i + 1, c->name);
    add_fields(b, c->fields, ") ");
    for (const char *p = c->fields; *p;) {
        const char *field = p;

        sb_buf_adds(b, "t.");
        p = add_field(b, field);
        sb_buf_adds(b, " = ");
        add_field(b, field);
        sb_buf_adds(b, " ");
    }
    sb_buf_adds(b, "run(");
    add_fields(b, c->fields, ") ");
    if (*c->result)
        sb_buf_addf(b, "return t.%s ", c->result);
    sb_buf_adds(b, "end end ");
}

// Pushes a list of the functions above.
static void push_runners(lua_State *L, struct sb__vm *vm)
{
    size_t n = sizeof(calls) / sizeof(calls[0]);

    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        lua_pushlightuserdata(L, vm);
        lua_pushlightuserdata(L, (void *)&calls[i]);
        lua_pushcclosure(L, run, 2);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

int sb__calls_push(lua_State *L, struct sb__vm *vm)
{
    struct sb_buf b;
    int rc;

    sb_buf_init(&b, 0);
    sb_buf_adds(&b, "local t, run = ... local f = {} ");
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        add_function(&b, &calls[i], i);
    sb_buf_adds(&b, "return f");
    rc = b.failed
             ? LUA_ERRMEM
             : sb__codes_own(&vm->script->codes, L, "=[calls]", b.data, b.len);
    sb_buf_done(&b);
    if (rc)
        return luaL_error(L, "out of memory");
    lua_pushvalue(L, 1); // the turn as cdata
    push_runners(L, vm);
    lua_call(L, 2, 1);
    return 1;
}

#define CALL(result, name, ...) #name,
#define CALL_VOID(name, ...)    #name,
const char *const sb__call_names[] = { CALLS "sb_more_events", NULL };
#undef CALL
#undef CALL_VOID
