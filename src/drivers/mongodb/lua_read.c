// SPDX-License-Identifier: GPL-2.0-or-later
//
// Converts BSON to Lua values. Lengths are checked, because the bytes may come
// from a script.
//
// exact: the values are written back as the same bytes. Documents keep their
// order, int64 are cdata, and doubles that would be written as another type are
// objects.
#include <math.h>
#include <string.h>

#include "drivers/mongodb/lua_bson.h"
#include "drivers/mongodb/mongodb.ffi.h"

#define MAX_EXACT 9007199254740992.0 // 2^53

// Documents produce garbage quickly: before the first one is read, the core has
// the collector start early.
static void set_pause(lua_State *L)
{
    struct sbmo_bson *b = lua_touserdata(L, lua_upvalueindex(SBMO_BSON_SELF));

    if (b->reads)
        return;
    b->reads = true;
    lua_getfield(L, lua_upvalueindex(SBMO_BSON_TABLE), "collect_often");
    lua_call(L, 0, 0);
}

static void corrupt(lua_State *L)
{
    sbmo_bson_function(L, "error", "raise");
    lua_pushliteral(L, "document: not valid BSON");
    lua_call(L, 1, 0);
}

// Values ---------------------------------------------------------------------

static void push_document(
    lua_State *L, const uint8_t *doc, size_t len, unsigned depth, bool exact);
static void push_array(
    lua_State *L, const uint8_t *doc, size_t len, unsigned depth, bool exact);

// Pushes a value of a type that Lua does not have.
static void push_other(lua_State *L, const struct sb_elem *e)
{
    sbmo_bson_function(L, "bson_value", "value");
    lua_pushinteger(L, e->type);
    lua_pushlstring(L, (const char *)e->value, e->len);
    lua_call(L, 2, 1);
}

static void push_double(lua_State *L, const struct sb_elem *e, bool exact)
{
    double n = sb_elem_number(e);

    // LuaJIT supports only one bit pattern of NaN.
    if (exact &&
        (isnan(n) || (floor(n) == n && n < MAX_EXACT && n > -MAX_EXACT)))
        push_other(L, e);
    else
        lua_pushnumber(L, isnan(n) ? (double)NAN : n);
}

static void push_int64(lua_State *L, const struct sb_elem *e, bool exact)
{
    int64_t n = (int64_t)sb_get64(e->value);

    if (exact || n > (int64_t)MAX_EXACT || n < -(int64_t)MAX_EXACT)
        push_other(L, e);
    else
        lua_pushnumber(L, (double)n);
}

// depth: of the document that contains the value.
static void push_value(
    lua_State *L, const struct sb_elem *e, unsigned depth, bool exact)
{
    switch (e->type) {
    case SB_BSON_INT32:
        lua_pushnumber(L, (int32_t)sb_get32(e->value));
        break;
    case SB_BSON_TEXT:
        lua_pushlstring(L, (const char *)e->value + 4, e->len - 5);
        break;
    case SB_BSON_DOCUMENT:
        push_document(L, e->value, e->len, depth + 1, exact);
        break;
    case SB_BSON_ARRAY:
        push_array(L, e->value, e->len, depth + 1, exact);
        break;
    case SB_BSON_BOOL:
        lua_pushboolean(L, e->value[0] != 0);
        break;
    case SB_BSON_DOUBLE:
        push_double(L, e, exact);
        break;
    case SB_BSON_INT64:
        push_int64(L, e, exact);
        break;
    default:
        push_other(L, e);
    }
}

// Documents ------------------------------------------------------------------

// Checks the document, but not the contents of documents in it. Returns the
// number of elements.
static int count(lua_State *L, const uint8_t *doc, size_t len, unsigned depth)
{
    struct sb_walk w;
    struct sb_elem e;
    int n = 0, rc;

    if (depth > SB_BSON_DEPTH || !sb_bson_framed(doc, len))
        corrupt(L);
    luaL_checkstack(L, 10, "document");
    sb_walk_begin(&w, doc, len);
    while ((rc = sb_walk_next(&w, &e)) == 1)
        n++;
    if (rc < 0)
        corrupt(L);
    return n;
}

static void push_document(
    lua_State *L, const uint8_t *doc, size_t len, unsigned depth, bool exact)
{
    int n = count(L, doc, len, depth);
    struct sb_walk w;
    struct sb_elem e;

    if (exact) {
        sbmo_bson_function(L, "bson_value", "doc");
        lua_call(L, 0, 1);
    } else {
        lua_createtable(L, 0, n);
    }
    sb_walk_begin(&w, doc, len);
    while (sb_walk_next(&w, &e) == 1) {
        lua_pushlstring(L, e.key, e.key_len);
        push_value(L, &e, depth, exact);
        lua_settable(L, -3);
    }
}

static void push_array(
    lua_State *L, const uint8_t *doc, size_t len, unsigned depth, bool exact)
{
    int n = count(L, doc, len, depth);
    struct sb_walk w;
    struct sb_elem e;

    lua_createtable(L, n, 0);
    sb_walk_begin(&w, doc, len);
    for (int i = 1; sb_walk_next(&w, &e) == 1; i++) {
        push_value(L, &e, depth, exact);
        lua_rawseti(L, -2, i);
    }
    lua_getfield(L, lua_upvalueindex(SBMO_BSON_TABLE), "array");
    lua_setmetatable(L, -2);
}

// Functions ------------------------------------------------------------------

// Returns the connection at this stack index.
static struct sb_con *connection(lua_State *L, int i)
{
    struct sb_con *con = NULL;

    luaL_argcheck(
        L, lua_type(L, i) == SBMO_BSON_CDATA, i, "connection expected");
    memcpy(&con, lua_topointer(L, i), sizeof(con));
    return con;
}

// Returns the next document of the result at index 1 and pushes its connection;
// NULL: no more documents.
static const uint8_t *advance(lua_State *L, size_t *len)
{
    const uint8_t *doc;
    int rc;

    set_pause(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_getfield(L, 1, "con");
    luaL_argcheck(L, lua_type(L, -1) == SBMO_BSON_CDATA, 1, "no result");
    rc = sbmo_doc_next(connection(L, lua_gettop(L)), &doc, len);
    if (rc < 0) {
        sbmo_bson_function(L, "error", "raise_con");
        lua_insert(L, -2);
        lua_call(L, 1, 0);
    }
    return rc == 1 ? doc : NULL;
}

// next(result [, exact])
static int bson_next(lua_State *L)
{
    size_t len;
    bool exact = lua_toboolean(L, 2);
    const uint8_t *doc = advance(L, &len);

    if (!doc)
        return 0;
    push_document(L, doc, len, 1, exact);
    return 1;
}

// raw(result): the bytes of the next document
static int bson_raw(lua_State *L)
{
    size_t len;
    const uint8_t *doc = advance(L, &len);

    if (!doc)
        return 0;
    lua_pushlstring(L, (const char *)doc, len);
    return 1;
}

// reply(con): the reply to the last command, or nil
static int bson_reply(lua_State *L)
{
    size_t len;
    const uint8_t *doc = sbmo_doc_reply(connection(L, 1), &len);

    set_pause(L);
    if (!doc)
        return 0;
    push_document(L, doc, len, 1, false);
    return 1;
}

// field(con, name): a field of the reply to the last command, or nil
static int bson_field(lua_State *L)
{
    size_t len;
    const uint8_t *doc = sbmo_doc_reply(connection(L, 1), &len);
    struct sb_elem e;

    set_pause(L);
    if (!doc || !sb_bson_find(doc, len, luaL_checkstring(L, 2), &e))
        return 0;
    push_value(L, &e, 1, false);
    return 1;
}

// decode(bytes [, exact])
static int bson_decode(lua_State *L)
{
    size_t len;
    const char *doc = luaL_checklstring(L, 1, &len);

    set_pause(L);
    push_document(L, (const uint8_t *)doc, len, 1, lua_toboolean(L, 2));
    return 1;
}

const luaL_Reg sbmo_bson_readers[] = {
    { "next", bson_next },
    { "raw", bson_raw },
    { "reply", bson_reply },
    { "field", bson_field },
    { "decode", bson_decode },
    { NULL, NULL },
};
