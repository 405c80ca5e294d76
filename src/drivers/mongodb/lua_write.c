// SPDX-License-Identifier: GPL-2.0-or-later
//
// Converts Lua values to BSON.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "drivers/mongodb/lua_bson.h"

#define MAX_EXACT 9007199254740992.0 // 2^53
#define DEPTH     100u               // limit of servers and client libraries
#define NAMED     8u                 // maximum of document names in messages

void sbmo_bson_function(lua_State *L, const char *module, const char *name)
{
    lua_getfield(L, lua_upvalueindex(SBMO_BSON_TABLE), "module");
    lua_pushstring(L, module);
    lua_call(L, 1, 1);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

// Errors ---------------------------------------------------------------------

static void push_names(lua_State *L, const struct sbmo_place *at)
{
    const struct sbmo_place *named[NAMED] = { 0 };

    for (const struct sbmo_place *p = at->up; p; p = p->up) {
        assert(p->depth > 0);
        if (p->depth <= NAMED)
            named[p->depth - 1] = p;
    }
    lua_pushliteral(L, "");
    for (unsigned i = 0; i < NAMED && named[i]; i++) {
        lua_pushlstring(L, named[i]->key, named[i]->len);
        lua_pushliteral(L, ".");
        lua_concat(L, 3);
    }
}

int sbmo_bson_fail(lua_State *L, const struct sbmo_place *at, const char *what,
    int key, int value)
{
    luaL_checkstack(L, 10, "document");
    sbmo_bson_function(L, "error", "element");
    lua_pushstring(L, what);
    push_names(L, at);
    lua_pushboolean(L, at->depth > NAMED + 1);
    if (key)
        lua_pushvalue(L, key);
    else
        lua_pushlstring(L, at->key, at->len);
    if (value)
        lua_pushvalue(L, value);
    else
        lua_pushnil(L);
    lua_call(L, 5, 0);
    return 0; // never
}

int sbmo_bson_raise(lua_State *L, const char *text)
{
    sbmo_bson_function(L, "error", "raise");
    lua_pushstring(L, text);
    lua_call(L, 1, 0);
    return 0; // never
}

// The buffer -----------------------------------------------------------------

uint8_t *sbmo_bson_room(lua_State *L, struct sbmo_bson *w, size_t more)
{
    char *p = sb_buf_room(&w->out, more);

    if (!p && more > INT32_MAX - w->out.len)
        luaL_error(L, "the document has more than 2 GB");
    if (!p)
        luaL_error(L, "out of memory");
    return (uint8_t *)p;
}

void sbmo_bson_bytes(
    lua_State *L, struct sbmo_bson *w, const void *bytes, size_t n)
{
    uint8_t *p = sbmo_bson_room(L, w, n);

    memcpy(p, bytes, n);
    w->out.len += n;
}

// Writes the type and the key of an element; returns the place for `more` bytes
// after them.
static uint8_t *put_key(lua_State *L, struct sbmo_bson *w,
    const struct sbmo_place *at, int type, size_t more)
{
    uint8_t *p = sbmo_bson_room(L, w, at->len + 2 + more);

    *p = (uint8_t)type;
    memcpy(p + 1, at->key, at->len);
    p[at->len + 1] = '\0';
    w->out.len += at->len + 2 + more;
    return p + at->len + 2;
}

size_t sbmo_bson_begin(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int type)
{
    put_key(L, w, at, type, 4);
    return w->out.len - 4;
}

void sbmo_bson_finish(lua_State *L, struct sbmo_bson *w, size_t start)
{
    // A metamethod of the script may have begun another document.
    if (start + 4 > w->out.len)
        luaL_error(
            L, "another document was started before this one was complete");
    *sbmo_bson_room(L, w, 1) = '\0';
    w->out.len++;
    sb_put32((uint8_t *)w->out.data + start, (uint32_t)(w->out.len - start));
}

// Values ---------------------------------------------------------------------

static void put_number(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, double n)
{
    uint64_t bits;
    bool whole = n < MAX_EXACT && n > -MAX_EXACT && floor(n) == n;

    if (whole && n >= INT32_MIN && n <= INT32_MAX && (n != 0 || !signbit(n))) {
        sb_put32(put_key(L, w, at, SB_BSON_INT32, 4), (uint32_t)(int32_t)n);
    } else if (whole && n != 0) {
        sb_put64(put_key(L, w, at, SB_BSON_INT64, 8), (uint64_t)(int64_t)n);
    } else {
        memcpy(&bits, &n, sizeof(bits));
        sb_put64(put_key(L, w, at, SB_BSON_DOUBLE, 8), bits);
    }
}

static void put_text(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int value)
{
    size_t n;
    const char *s = lua_tolstring(L, value, &n);
    uint8_t *p = put_key(L, w, at, SB_BSON_TEXT, n + 5);

    sb_put32(p, (uint32_t)n + 1);
    memcpy(p + 4, s, n + 1);
}

// Pops bytes from the stack and writes them as a value of the type.
static void put_given(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int type)
{
    size_t n = 0;
    const char *bytes = lua_tolstring(L, -1, &n);

    put_key(L, w, at, type, 0);
    if (n)
        sbmo_bson_bytes(L, w, bytes, n);
    lua_pop(L, 1);
}

void sbmo_bson_put_json(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at)
{
    size_t n;

    sbmo_bson_function(L, "bson_json", at ? "value" : "document");
    lua_insert(L, -2);
    lua_getfield(L, lua_upvalueindex(SBMO_BSON_TABLE), "con");
    lua_insert(L, -2);
    lua_call(L, 2, 2); // bytes, type
    int type = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    const char *bytes = lua_tolstring(L, -1, &n);
    if (at) {
        // The text was parsed as a part of a larger one.
        if (sb_bson_size((uint8_t)type, (const uint8_t *)bytes, n) != n)
            sbmo_bson_fail(L, at, "JSON that is not one value", 0, 0);
        put_given(L, w, at, type);
    } else {
        w->out.len = 0;
        sbmo_bson_bytes(L, w, bytes, n);
        lua_pop(L, 1);
    }
}

static void put_cdata(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int value)
{
    sbmo_bson_function(L, "bson_value", "int64");
    lua_pushvalue(L, value);
    lua_call(L, 1, 1);
    if (!lua_isstring(L, -1))
        sbmo_bson_fail(L, at, NULL, 0, value);
    put_given(L, w, at, SB_BSON_INT64);
}

// Documents ------------------------------------------------------------------

// Writes an element with the key at this index, and the value on the stack top,
// which is popped.
static void put_field(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *up, int key)
{
    struct sbmo_place at = { .up = up, .depth = up ? up->depth + 1 : 1 };

    if (lua_type(L, key) != LUA_TSTRING) {
        sbmo_bson_fail(L, &at, "the key must be a string, not a %s", key, 0);
        return;
    }
    at.key = lua_tolstring(L, key, &at.len);
    if (memchr(at.key, '\0', at.len))
        sbmo_bson_fail(L, &at, "a NUL byte in a key", key, 0);
    sbmo_bson_put(L, w, &at, lua_gettop(L));
    lua_pop(L, 1);
}

void sbmo_bson_put_fields(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *up, int t)
{
    lua_pushnil(L);
    while (lua_next(L, t))
        put_field(L, w, up, lua_gettop(L) - 1);
}

void sbmo_bson_put_ordered(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *up, int t)
{
    static const struct sbmo_place whole = {
        .key = "top", .len = 3, .depth = 1
    };
    int top = lua_gettop(L);

    lua_getfield(L, lua_upvalueindex(SBMO_BSON_TABLE), "order");
    lua_pushvalue(L, t);
    lua_rawget(L, -2);
    if (!lua_istable(L, -1)) // a script has copied it and its metatable
        sbmo_bson_fail(L, up ? up : &whole,
            "a copy of an ordered document, without its order", 0, 0);
    for (int i = 1; i <= (int)lua_objlen(L, top + 2); i++) {
        lua_rawgeti(L, top + 2, i);
        lua_pushvalue(L, -1);
        lua_gettable(L, t);
        if (lua_isnil(L, -1))
            lua_pop(L, 1);
        else
            put_field(L, w, up, top + 3);
        lua_settop(L, top + 2);
    }
    lua_settop(L, top);
}

// Raises an error if an array has keys other than 1 to n.
static void check_keys(lua_State *L, const struct sbmo_place *up, int t, int n)
{
    lua_pushnil(L);
    while (lua_next(L, t)) {
        double key = lua_tonumber(L, -2);
        struct sbmo_place at = { .up = up, .depth = up ? up->depth + 1 : 1 };

        if (lua_type(L, -2) != LUA_TNUMBER || key < 1 || key > n ||
            floor(key) != key)
            sbmo_bson_fail(
                L, &at, "an array with an invalid key", lua_gettop(L) - 1, 0);
        lua_pop(L, 1);
    }
}

static void put_elements(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *up, int t)
{
    int n = (int)lua_objlen(L, t);
    char key[12];
    struct sbmo_place at = { .up = up, .key = key, .depth = up->depth + 1 };

    check_keys(L, up, t, n);
    for (int i = 1; i <= n; i++) {
        at.len = (size_t)snprintf(key, sizeof(key), "%d", i - 1);
        lua_pushinteger(L, i);
        lua_gettable(L, t);
        if (lua_isnil(L, -1))
            put_key(L, w, &at, SB_BSON_NULL, 0);
        else
            sbmo_bson_put(L, w, &at, lua_gettop(L));
        lua_pop(L, 1);
    }
}

int sbmo_bson_code(lua_State *L, int t)
{
    int code;

    if (!lua_getmetatable(L, t))
        return 0;
    lua_getfield(L, lua_upvalueindex(SBMO_BSON_TABLE), "codes");
    lua_insert(L, -2);
    lua_rawget(L, -2);
    code = (int)lua_tointeger(L, -1);
    lua_pop(L, 2);
    return code;
}

bool sbmo_bson_is_array(lua_State *L, int t)
{
    bool is;

    lua_pushinteger(L, 1);
    lua_gettable(L, t);
    is = !lua_isnil(L, -1);
    lua_pop(L, 1);
    return is;
}

// Writes a value that consists of bytes, or of JSON text.
static void put_other(lua_State *L, struct sbmo_bson *w,
    const struct sbmo_place *at, int t, int code)
{
    if (code == SBMO_BSON_JSON) {
        lua_getfield(L, t, "text");
        sbmo_bson_put_json(L, w, at);
        return;
    }
    if (code == SBMO_BSON_ARG) {
        if (!w->placeholders)
            sbmo_bson_fail(
                L, at, "a placeholder outside of a compiled command", 0, 0);
        code = SB_BSON_DOCUMENT;
    }
    lua_getfield(L, t, "bytes");
    if (lua_type(L, -1) != LUA_TSTRING)
        sbmo_bson_fail(L, at, NULL, 0, t);
    put_given(L, w, at, code);
}

void sbmo_bson_put_table(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int t)
{
    int code = sbmo_bson_code(L, t);
    size_t start;

    if (code == 0)
        code = sbmo_bson_is_array(L, t) ? SB_BSON_ARRAY : SB_BSON_DOCUMENT;
    else if (code != SB_BSON_ARRAY && code != SBMO_BSON_ORDERED) {
        put_other(L, w, at, t, code);
        return;
    }
    if (at->depth > DEPTH)
        sbmo_bson_fail(L, at,
            "documents are nested more than 100 levels deep, or a table "
            "contains itself",
            0, 0);
    luaL_checkstack(L, 10, "document");
    start = sbmo_bson_begin(
        L, w, at, code == SB_BSON_ARRAY ? SB_BSON_ARRAY : SB_BSON_DOCUMENT);
    if (code == SB_BSON_ARRAY)
        put_elements(L, w, at, t);
    else if (code == SBMO_BSON_ORDERED)
        sbmo_bson_put_ordered(L, w, at, t);
    else
        sbmo_bson_put_fields(L, w, at, t);
    sbmo_bson_finish(L, w, start);
}

void sbmo_bson_put(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int value)
{
    switch (lua_type(L, value)) {
    case LUA_TNUMBER:
        put_number(L, w, at, lua_tonumber(L, value));
        break;
    case LUA_TSTRING:
        put_text(L, w, at, value);
        break;
    case LUA_TTABLE:
        sbmo_bson_put_table(L, w, at, value);
        break;
    case LUA_TBOOLEAN:
        *put_key(L, w, at, SB_BSON_BOOL, 1) = (uint8_t)lua_toboolean(L, value);
        break;
    case SBMO_BSON_CDATA:
        put_cdata(L, w, at, value);
        break;
    default:
        sbmo_bson_fail(L, at, NULL, 0, value);
    }
}
