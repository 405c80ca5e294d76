// SPDX-License-Identifier: GPL-2.0-or-later
//
// The functions with which Lua modules write BSON. A document is written
// element by element: begin(), put() etc., finish().
#include <assert.h>
#include <string.h>

#include "drivers/mongodb/lua_bson.h"
#include "drivers/mongodb/mongodb.ffi.h"

#define KEEP 1048576u // bytes; a larger buffer is freed

static struct sbmo_bson *self(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(SBMO_BSON_SELF));
}

// begin(con [, compiling]): begins the outermost document; con may be nil.
static int bson_begin(lua_State *L)
{
    struct sbmo_bson *w = self(L);

    w->placeholders = lua_toboolean(L, 2);
    lua_settop(L, 1);
    lua_setfield(L, lua_upvalueindex(SBMO_BSON_TABLE), "con");
    sb_buf_trim(&w->out, KEEP);
    w->begun++;
    sbmo_bson_room(L, w, 4);
    w->out.len = 4;
    w->start[0] = 0;
    w->open = 1;
    return 0;
}

// Returns the place of the element whose key is argument 1, in the open
// document.
static struct sbmo_place place_of(lua_State *L, const struct sbmo_bson *w)
{
    struct sbmo_place at = { .depth = w->open };

    if (w->open == 0)
        sbmo_bson_raise(L, "document: another document was started before "
                           "this one was complete");
    assert(w->open <= SBMO_BSON_OPEN);
    at.up = w->open > 1 ? &w->place[w->open - 2] : NULL;
    at.key = luaL_checklstring(L, 1, &at.len);
    if (memchr(at.key, '\0', at.len))
        sbmo_bson_fail(L, &at, "a NUL byte in a key", 0, 0);
    return at;
}

// Raises an error if a metamethod or finalizer of the script has begun another
// document.
static void check_begun(lua_State *L, const struct sbmo_bson *w, unsigned begun)
{
    if (w->begun != begun)
        sbmo_bson_raise(L, "document: another document was started while a "
                           "metamethod of this one ran");
}

// put(key, value)
static int bson_put(lua_State *L)
{
    struct sbmo_bson *w = self(L);
    struct sbmo_place at = place_of(L, w);
    unsigned begun = w->begun;

    lua_settop(L, 2);
    sbmo_bson_put(L, w, &at, 2);
    check_begun(L, w, begun);
    return 0;
}

// put_document(key, value): writes a document or an array. A string is JSON,
// nil is an empty document.
static int bson_put_document(lua_State *L)
{
    struct sbmo_bson *w = self(L);
    struct sbmo_place at = place_of(L, w);
    unsigned begun = w->begun;

    lua_settop(L, 2);
    switch (lua_type(L, 2)) {
    case LUA_TTABLE:
        sbmo_bson_put_table(L, w, &at, 2);
        break;
    case LUA_TSTRING:
        sbmo_bson_put_json(L, w, &at);
        break;
    case LUA_TNIL:
        sbmo_bson_finish(L, w, sbmo_bson_begin(L, w, &at, SB_BSON_DOCUMENT));
        break;
    default:
        sbmo_bson_fail(L, &at, "a %s instead of a document", 0, 2);
    }
    check_begun(L, w, begun);
    return 0;
}

// open(type, key): begins a document or an array in the open document.
static int bson_open(lua_State *L)
{
    struct sbmo_bson *w = self(L);
    int type = (int)luaL_checkinteger(L, 1);
    struct sbmo_place at;

    lua_remove(L, 1);
    at = place_of(L, w);
    if (w->open == SBMO_BSON_OPEN || at.len >= SBMO_BSON_KEY)
        return luaL_error(L, "too many documents are open");
    w->start[w->open] = sbmo_bson_begin(L, w, &at, type);
    memcpy(w->key[w->open - 1], at.key, at.len + 1);
    at.key = w->key[w->open - 1];
    w->place[w->open++ - 1] = at;
    return 0;
}

// finish(): ends the document that was opened last; returns the length so far.
static int bson_finish(lua_State *L)
{
    struct sbmo_bson *w = self(L);

    if (w->open == 0)
        return luaL_error(L, "no document was begun");
    sbmo_bson_finish(L, w, w->start[--w->open]);
    lua_pushinteger(L, (lua_Integer)w->out.len);
    return 1;
}

// root(value): writes the value as the whole document; returns its length.
static int bson_root(lua_State *L)
{
    struct sbmo_bson *w = self(L);
    const struct sbmo_place at = { .key = "top", .len = 3, .depth = 1 };
    int type = lua_type(L, 1), code;
    unsigned begun = w->begun;

    lua_settop(L, 1);
    w->open = 0;
    if (type != LUA_TSTRING && type != LUA_TTABLE)
        return sbmo_bson_fail(L, &at, "a %s instead of a document", 0, 1);
    code = type == LUA_TTABLE ? sbmo_bson_code(L, 1) : 0;
    if (code == SBMO_BSON_JSON)
        lua_getfield(L, 1, "text");
    if (code == SBMO_BSON_JSON || type == LUA_TSTRING) {
        sbmo_bson_put_json(L, w, NULL);
    } else if (code == SB_BSON_DOCUMENT) {
        size_t n;

        lua_getfield(L, 1, "bytes");
        const char *bytes = luaL_checklstring(L, -1, &n);
        w->out.len = 0;
        sbmo_bson_bytes(L, w, bytes, n);
    } else if (code == SBMO_BSON_ORDERED) {
        sbmo_bson_put_ordered(L, w, NULL, 1);
        sbmo_bson_finish(L, w, 0);
    } else if (code == 0 && !sbmo_bson_is_array(L, 1)) {
        sbmo_bson_put_fields(L, w, NULL, 1);
        sbmo_bson_finish(L, w, 0);
    } else {
        sbmo_bson_fail(
            L, &at, "an array or another value instead of a document", 0, 0);
    }
    check_begun(L, w, begun);
    lua_pushinteger(L, (lua_Integer)w->out.len);
    return 1;
}

// reopen(): continues the outermost document after finish().
static int bson_reopen(lua_State *L)
{
    struct sbmo_bson *w = self(L);

    if (w->open != 0 || w->out.len < SB_BSON_EMPTY)
        return luaL_error(L, "no document was finished");
    w->start[0] = 0;
    w->open = 1;
    w->out.len--;
    return 0;
}

// length(): the length so far
static int bson_length(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)self(L)->out.len);
    return 1;
}

// cut(length): removes what was written to the open document after length() had
// returned this value
static int bson_cut(lua_State *L)
{
    struct sbmo_bson *w = self(L);
    size_t len = (size_t)luaL_checkinteger(L, 1);

    if (w->open == 0 || len < w->start[w->open - 1] + 4 || len > w->out.len)
        return luaL_error(L, "nothing to cut");
    w->out.len = len;
    return 0;
}

// buffer(): the address of the buffer, valid until the next call of a function
// of this file
static int bson_buffer(lua_State *L)
{
    lua_pushlightuserdata(L, self(L)->out.data);
    return 1;
}

// bytes(): the contents of the buffer as a string
static int bson_bytes(lua_State *L)
{
    struct sbmo_bson *w = self(L);

    lua_pushlstring(L, w->out.data, w->out.len);
    return 1;
}

static int release(lua_State *L)
{
    struct sbmo_bson *w = lua_touserdata(L, 1);

    sb_buf_done(&w->out);
    return 0;
}

static const luaL_Reg functions[] = {
    { "begin", bson_begin },
    { "put", bson_put },
    { "put_document", bson_put_document },
    { "open", bson_open },
    { "finish", bson_finish },
    { "root", bson_root },
    { "reopen", bson_reopen },
    { "length", bson_length },
    { "cut", bson_cut },
    { "buffer", bson_buffer },
    { "bytes", bson_bytes },
    { NULL, NULL },
};

static void add_functions(
    lua_State *L, const luaL_Reg *list, int writer, int table)
{
    for (; list->name; list++) {
        lua_pushvalue(L, writer);
        lua_pushvalue(L, table);
        lua_pushcclosure(L, list->func, 2);
        lua_setfield(L, table, list->name);
    }
}

int sbmo_lua_bson(lua_State *L)
{
    const int table = 1;

    luaL_checktype(L, table, LUA_TTABLE);
    lua_settop(L, table);
    struct sbmo_bson *w = lua_newuserdata(L, sizeof(*w));

    memset(w, 0, sizeof(*w));
    sb_buf_init(&w->out, INT32_MAX);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, release);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    add_functions(L, functions, table + 1, table);
    add_functions(L, sbmo_bson_readers, table + 1, table);
    return 0;
}
