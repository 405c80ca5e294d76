// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tables that thread_done() of users returns, for done(). Users end in many
// threads, and rank 0 gets those of other processes, so a table is kept as
// bytes.
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/wire.h"
#include "kit/array.h"
#include "script/script_private.h"

#define CDATA 10 // lua_type() of a cdata

#define DEPTH     100u     // maximum number of tables in each other
#define MAX_BYTES 1048576u // of a result

// A value is one of these, with its bytes. A table has keys and values, and
// END.
enum tag { END, FALSE, TRUE, NUMBER, INT64, UINT64, STRING, TABLE };

struct writer {
    struct sb_buf b;
    const char *why, *type; // why the value is ignored, in two parts; or NULL
    unsigned depth;
    const void *open[DEPTH]; // the tables that are being written
};

static void push_ffi(lua_State *L, const char *name)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "sysbench.ffi");
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

// Writing --------------------------------------------------------------------

static bool is_type(lua_State *L, const char *type)
{
    push_ffi(L, "istype");
    lua_pushstring(L, type);
    lua_pushvalue(L, -3);
    lua_call(L, 2, 1);
    bool is = lua_toboolean(L, -1);

    lua_pop(L, 1);
    return is;
}

static void put_cdata(lua_State *L, struct writer *w)
{
    bool is_unsigned = is_type(L, "uint64_t");
    const char *text = NULL;

    if ((is_unsigned || is_type(L, "int64_t")) &&
        luaL_callmeta(L, -1, "__tostring")) {
        text = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    // ffi.istype() is also true for the type itself: "ctype<int64_t>".
    if (!text || (text[0] != '-' && (text[0] < '0' || text[0] > '9'))) {
        w->why = "it contains cdata other than 64-bit integers";
    } else if (is_unsigned) {
        sb_wire_put(&w->b, UINT64);
        sb_wire_put(&w->b, strtoull(text, NULL, 10));
    } else {
        sb_wire_put(&w->b, INT64);
        sb_wire_put_signed(&w->b, strtoll(text, NULL, 10));
    }
}

static void put(lua_State *L, struct writer *w);

// Stops at the limit: the copies of a table that is in many others may have no
// end.
static void put_table(lua_State *L, struct writer *w)
{
    const void *table = lua_topointer(L, -1);

    for (unsigned i = 0; i < w->depth; i++)
        if (w->open[i] == table)
            w->why = "it contains a table that contains itself";
    if (w->depth == DEPTH)
        w->why = "it has more than 100 levels of tables";
    if (w->why)
        return;
    w->open[w->depth++] = table;
    luaL_checkstack(L, 10, "thread_done()");
    sb_wire_put(&w->b, TABLE);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        int key = lua_type(L, -2);

        if (key != LUA_TSTRING && key != LUA_TNUMBER)
            w->why = "it has a key that is neither a string nor a number";
        lua_pushvalue(L, -2);
        put(L, w);
        lua_pop(L, 1);
        put(L, w);
        lua_pop(L, 1);
        if (w->why || w->b.failed || w->b.len > MAX_BYTES) {
            lua_pop(L, 1);
            break;
        }
    }
    sb_wire_put(&w->b, END);
    w->depth--;
}

// Writes the value on the stack top, unless w->why is set.
static void put(lua_State *L, struct writer *w)
{
    const char *text;
    size_t len;

    if (w->why)
        return;
    switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN:
        sb_wire_put(&w->b, lua_toboolean(L, -1) ? TRUE : FALSE);
        break;
    case LUA_TNUMBER:
        sb_wire_put(&w->b, NUMBER);
        sb_wire_put_double(&w->b, lua_tonumber(L, -1));
        break;
    case LUA_TSTRING:
        text = lua_tolstring(L, -1, &len);
        sb_wire_put(&w->b, STRING);
        sb_wire_put_bytes(&w->b, text, len);
        break;
    case LUA_TTABLE:
        put_table(L, w);
        break;
    case CDATA:
        put_cdata(L, w);
        break;
    default:
        w->why = "it contains a ";
        w->type = luaL_typename(L, -1);
    }
}

// Arguments: the value, the writer.
static int write_result(lua_State *L)
{
    struct writer *w = lua_touserdata(L, 2);

    lua_settop(L, 1);
    if (lua_istable(L, 1)) {
        put(L, w);
    } else {
        w->why = "it is a ";
        w->type = luaL_typename(L, 1);
    }
    return 0;
}

static int no_result_memory(unsigned tid, struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM,
        "out of memory for the result of thread_done() of user %u", tid);
}

// Adds a copy of the data.
static int add(struct sb_script *s, struct sb__result r, const void *data,
    struct sb_err *err)
{
    struct sb__results *all = &s->results;

    r.data = malloc(r.len + 1);
    if (!r.data)
        return no_result_memory(r.tid, err);
    memcpy(r.data, data, r.len);
    pthread_mutex_lock(&s->lock);
    void *item = sb_array_room(all->item, &all->cap, all->n, 1, sizeof(r));

    if (item) {
        all->item = item;
        all->item[all->n++] = r;
    }
    pthread_mutex_unlock(&s->lock);
    if (item)
        return 0;
    free(r.data);
    return no_result_memory(r.tid, err);
}

int sb__results_keep(struct sb__state *st, struct sb_err *err)
{
    lua_State *L = st->L;
    struct writer w = { .type = "" };
    struct sb__result r = { .rank = st->script->env.run->share.rank,
        .tid = st->tid,
        .visit = st->user->visit };

    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return 0;
    }
    lua_pushcfunction(L, write_result);
    lua_insert(L, -2);
    lua_pushlightuserdata(L, &w);
    int rc = sb__state_call(st, "thread_done", 2, 0, err);

    r.len = w.b.len;
    if (rc == 0 && w.why)
        sb_log(SB_LOG_DEBUG,
            "user %u: the result of thread_done() is ignored: %s%s", st->tid,
            w.why, w.type);
    else if (rc == 0 && w.b.failed)
        rc = no_result_memory(st->tid, err);
    else if (rc == 0 && r.len > MAX_BYTES)
        rc = sb_err_set(err, SB_ELIMIT,
            "user %u: thread_done() returned more than 1 MB", st->tid);
    else if (rc == 0)
        rc = add(st->script, r, w.b.data, err);
    sb_buf_done(&w.b);
    return rc;
}

// Between ranks ---------------------------------------------------------------

bool sb__results_give(struct sb_workload *w, struct sb_buf *b, size_t max)
{
    struct sb_script *s = w->data;
    struct sb__results *all = &s->results;

    pthread_mutex_lock(&s->lock);
    while (all->n > 0 && b->len < max) {
        const struct sb__result *r = &all->item[--all->n];

        sb_wire_put(b, 1);
        sb_wire_put(b, r->tid);
        sb_wire_put(b, r->visit);
        sb_wire_put_bytes(b, r->data, r->len);
        free(r->data);
    }
    bool more = all->n > 0;

    pthread_mutex_unlock(&s->lock);
    sb_wire_put(b, 0);
    return more;
}

int sb__results_take(
    struct sb_workload *w, unsigned rank, struct sb_wire *r, struct sb_err *err)
{
    int rc = 0;

    while (rc == 0 && sb_wire_get(r)) {
        struct sb__result one = { .rank = rank };

        one.tid = (unsigned)sb_wire_get(r);
        one.visit = (unsigned)sb_wire_get(r);
        const char *data = sb_wire_get_bytes(r, &one.len);
        rc = add(w->data, one, data, err);
    }
    return rc;
}

// Reading ---------------------------------------------------------------------

static void push_int64(lua_State *L, const char *type, uint64_t value)
{
    push_ffi(L, "new");
    lua_pushstring(L, type);
    lua_call(L, 1, 1);
    memcpy((void *)(uintptr_t)lua_topointer(L, -1), &value, sizeof(value));
}

// Pushes the next value; returns false at END.
static bool get(lua_State *L, struct sb_wire *r)
{
    uint64_t tag = sb_wire_get(r);
    const char *text;
    size_t len;

    switch (tag) {
    case FALSE:
    case TRUE:
        lua_pushboolean(L, tag == TRUE);
        return true;
    case NUMBER:
        lua_pushnumber(L, sb_wire_get_double(r));
        return true;
    case INT64:
        push_int64(L, "int64_t", (uint64_t)sb_wire_get_signed(r));
        return true;
    case UINT64:
        push_int64(L, "uint64_t", sb_wire_get(r));
        return true;
    case STRING:
        text = sb_wire_get_bytes(r, &len);
        lua_pushlstring(L, text, len);
        return true;
    case TABLE:
        luaL_checkstack(L, 10, "results");
        lua_newtable(L);
        while (get(L, r) && get(L, r))
            lua_rawset(L, -3);
        return true;
    default:
        return false;
    }
}

// Argument: the results. Returns the list for done().
static int read_results(lua_State *L)
{
    const struct sb__results *all = lua_touserdata(L, 1);

    lua_createtable(L, (int)all->n, 0);
    for (size_t i = 0; i < all->n; i++) {
        struct sb__result *one = &all->item[i];
        struct sb_wire r = sb_wire_of(one->data, one->len);

        lua_createtable(L, 0, 4);
        lua_pushinteger(L, (lua_Integer)one->rank);
        lua_setfield(L, -2, "rank");
        lua_pushinteger(L, (lua_Integer)one->tid);
        lua_setfield(L, -2, "tid");
        lua_pushinteger(L, (lua_Integer)one->visit);
        lua_setfield(L, -2, "visit");
        if (!get(L, &r) || r.bad)
            return luaL_error(L, "a result of thread_done() is damaged");
        lua_setfield(L, -2, "value");
        lua_rawseti(L, -2, (int)i + 1);
        free(one->data);
        one->data = NULL;
    }
    return 1;
}

// The users of a rank have greater numbers than those of the ranks before it.
static int by_user(const void *a, const void *b)
{
    const struct sb__result *x = a, *y = b;

    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->visit < y->visit ? -1 : x->visit > y->visit;
}

// Takes the results out of the script.
static struct sb__results take_out(struct sb_script *s)
{
    pthread_mutex_lock(&s->lock);
    struct sb__results all = s->results;

    s->results = (struct sb__results){ 0 };
    pthread_mutex_unlock(&s->lock);
    return all;
}

static void free_all(struct sb__results all)
{
    for (size_t i = 0; i < all.n; i++)
        free(all.item[i].data);
    free(all.item);
}

int sb__results_push(struct sb_script *s, struct sb_err *err)
{
    struct sb__results all = take_out(s);

    if (all.n)
        qsort(all.item, all.n, sizeof(*all.item), by_user);
    lua_pushcfunction(s->main->L, read_results);
    lua_pushlightuserdata(s->main->L, &all);
    int rc = sb__state_call(s->main, NULL, 1, 1, err);

    free_all(all);
    return rc;
}

void sb__results_done(struct sb_script *s)
{
    free_all(take_out(s));
}
