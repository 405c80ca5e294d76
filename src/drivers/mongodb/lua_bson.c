// SPDX-License-Identifier: GPL-2.0-or-later
//
// Converts Lua values to BSON and back, for the modules of sysbench.mongodb. It
// is in C, because every state would have its own copy of Lua code, traces and
// machine code: they were the largest part of the memory of a user with
// documents. All functions raise Lua errors.
#include <assert.h>
#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <string.h>

#include "drivers/mongodb/bson.h"
#include "drivers/mongodb/mongodb.ffi.h"
#include "kit/buf.h"

#define MAX_EXACT 9007199254740992.0 // 2^53
#define DEPTH     100u               // limit of servers and client libraries
#define NAMED     8u                 // maximum of document names in messages
#define KEEP      1048576u           // bytes; a larger buffer is freed

// The upvalues of all functions: a struct sbmo_bson, and the table that
// bson.lua returns, with these fields:
//     codes    metatable -> BSON type, or one of the three codes below
//     order    ordered document -> its keys
//     array    metatable of arrays
//     module   loads modules
//     collect_often   is called before the first document is read
//     con      connection of the document being written
enum { SBMO_BSON_SELF = 1, SBMO_BSON_TABLE };
// Codes that are not BSON types.
enum { SBMO_BSON_ORDERED = 256, SBMO_BSON_JSON, SBMO_BSON_ARG };

#define SBMO_BSON_OPEN  4u  // maximum of documents opened by open()
#define SBMO_BSON_KEY   16u // maximum size of their keys, with the NUL
#define SBMO_BSON_CDATA 10  // lua_type() of a cdata

// An element: its key, and the document that it is in.
struct sbmo_place {
    const struct sbmo_place *up; // NULL: in the outermost document
    const char *key;
    size_t len;
    unsigned depth; // 1: in the outermost document
};

// What a state writes; the buffer is reused and grows.
struct sbmo_bson {
    struct sb_buf out;
    bool placeholders; // placeholders are allowed
    bool reads;        // documents were read in this state
    unsigned begun;    // number of documents begun
    unsigned open;     // open documents, including the outermost one
    size_t start[SBMO_BSON_OPEN];
    struct sbmo_place place[SBMO_BSON_OPEN]; // of all but the outermost one
    char key[SBMO_BSON_OPEN][SBMO_BSON_KEY];
};

// Pushes a function of another Lua module of the driver.
static void push_function(lua_State *L, const char *module, const char *name)
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

// Raises an error for an invalid element. what: the reason, NULL for a value
// whose type cannot be written. key, value: stack indexes, 0: none.
static int fail_element(lua_State *L, const struct sbmo_place *at,
    const char *what, int key, int value)
{
    luaL_checkstack(L, 10, "document");
    push_function(L, "error", "element");
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

// Raises an error at the line of the script.
static int raise_text(lua_State *L, const char *text)
{
    push_function(L, "error", "raise");
    lua_pushstring(L, text);
    lua_call(L, 1, 0);
    return 0; // never
}

// The buffer -----------------------------------------------------------------

// Returns room for `more` bytes at the end; the length does not change.
static uint8_t *out_room(lua_State *L, struct sbmo_bson *w, size_t more)
{
    char *p = sb_buf_room(&w->out, more);

    if (!p && more > INT32_MAX - w->out.len)
        luaL_error(L, "the document has more than 2 GB");
    if (!p)
        luaL_error(L, "out of memory");
    return (uint8_t *)p;
}

static void out_bytes(
    lua_State *L, struct sbmo_bson *w, const void *bytes, size_t n)
{
    uint8_t *p = out_room(L, w, n);

    memcpy(p, bytes, n);
    w->out.len += n;
}

// Writes the type and the key of an element; returns the place for `more` bytes
// after them.
static uint8_t *put_key(lua_State *L, struct sbmo_bson *w,
    const struct sbmo_place *at, int type, size_t more)
{
    uint8_t *p = out_room(L, w, at->len + 2 + more);

    *p = (uint8_t)type;
    memcpy(p + 1, at->key, at->len);
    p[at->len + 1] = '\0';
    w->out.len += at->len + 2 + more;
    return p + at->len + 2;
}

// Begins an element that is a document. Returns its start.
static size_t begin_document(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int type)
{
    put_key(L, w, at, type, 4);
    return w->out.len - 4;
}

static void finish_document(lua_State *L, struct sbmo_bson *w, size_t start)
{
    // A metamethod of the script may have begun another document.
    if (start + 4 > w->out.len)
        luaL_error(
            L, "another document was started before this one was complete");
    *out_room(L, w, 1) = '\0';
    w->out.len++;
    sb_put32((uint8_t *)w->out.data + start, (uint32_t)(w->out.len - start));
}

// Values ---------------------------------------------------------------------

static void mo_lua_put_value(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int value);
static void mo_lua_put_table(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int t);
static int code_of(lua_State *L, int t);
static bool is_array(lua_State *L, int t);

static void mo_lua_put_number(
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

static void mo_lua_put_text(
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
        out_bytes(L, w, bytes, n);
    lua_pop(L, 1);
}

// Pops JSON from the stack and writes it as an element, or (at NULL) as a whole
// document.
static void mo_lua_put_json(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at)
{
    size_t n;

    push_function(L, "bson_json", at ? "value" : "document");
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
            fail_element(L, at, "JSON that is not one value", 0, 0);
        put_given(L, w, at, type);
    } else {
        w->out.len = 0;
        out_bytes(L, w, bytes, n);
        lua_pop(L, 1);
    }
}

static void mo_lua_put_cdata(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int value)
{
    push_function(L, "bson_value", "int64");
    lua_pushvalue(L, value);
    lua_call(L, 1, 1);
    if (!lua_isstring(L, -1))
        fail_element(L, at, NULL, 0, value);
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
        fail_element(L, &at, "the key must be a string, not a %s", key, 0);
        return;
    }
    at.key = lua_tolstring(L, key, &at.len);
    if (memchr(at.key, '\0', at.len))
        fail_element(L, &at, "a NUL byte in a key", key, 0);
    mo_lua_put_value(L, w, &at, lua_gettop(L));
    lua_pop(L, 1);
}

// Write the elements of a table. up: the document, NULL for the outermost one.
static void put_fields(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *up, int t)
{
    lua_pushnil(L);
    while (lua_next(L, t))
        put_field(L, w, up, lua_gettop(L) - 1);
}

static void put_ordered(
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
        fail_element(L, up ? up : &whole,
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
            fail_element(
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
            mo_lua_put_value(L, w, &at, lua_gettop(L));
        lua_pop(L, 1);
    }
}

// Returns the code in `codes` of the table's metatable; 0: none.
static int code_of(lua_State *L, int t)
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

// True if a table without such a metatable is an array.
static bool is_array(lua_State *L, int t)
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
        mo_lua_put_json(L, w, at);
        return;
    }
    if (code == SBMO_BSON_ARG) {
        if (!w->placeholders)
            fail_element(
                L, at, "a placeholder outside of a compiled command", 0, 0);
        code = SB_BSON_DOCUMENT;
    }
    lua_getfield(L, t, "bytes");
    if (lua_type(L, -1) != LUA_TSTRING)
        fail_element(L, at, NULL, 0, t);
    put_given(L, w, at, code);
}

static void mo_lua_put_table(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int t)
{
    int code = code_of(L, t);
    size_t start;

    if (code == 0)
        code = is_array(L, t) ? SB_BSON_ARRAY : SB_BSON_DOCUMENT;
    else if (code != SB_BSON_ARRAY && code != SBMO_BSON_ORDERED) {
        put_other(L, w, at, t, code);
        return;
    }
    if (at->depth > DEPTH)
        fail_element(L, at,
            "documents are nested more than 100 levels deep, or a table "
            "contains itself",
            0, 0);
    luaL_checkstack(L, 10, "document");
    start = begin_document(
        L, w, at, code == SB_BSON_ARRAY ? SB_BSON_ARRAY : SB_BSON_DOCUMENT);
    if (code == SB_BSON_ARRAY)
        put_elements(L, w, at, t);
    else if (code == SBMO_BSON_ORDERED)
        put_ordered(L, w, at, t);
    else
        put_fields(L, w, at, t);
    finish_document(L, w, start);
}

static void mo_lua_put_value(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int value)
{
    switch (lua_type(L, value)) {
    case LUA_TNUMBER:
        mo_lua_put_number(L, w, at, lua_tonumber(L, value));
        break;
    case LUA_TSTRING:
        mo_lua_put_text(L, w, at, value);
        break;
    case LUA_TTABLE:
        mo_lua_put_table(L, w, at, value);
        break;
    case LUA_TBOOLEAN:
        *put_key(L, w, at, SB_BSON_BOOL, 1) = (uint8_t)lua_toboolean(L, value);
        break;
    case SBMO_BSON_CDATA:
        mo_lua_put_cdata(L, w, at, value);
        break;
    default:
        fail_element(L, at, NULL, 0, value);
    }
}

// Functions that write -------------------------------------------------------
//
// Lua modules call them. A document is written element by element: begin(),
// put() etc., finish().

static struct sbmo_bson *mo_lua_self(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(SBMO_BSON_SELF));
}

// begin(con [, compiling]): begins the outermost document; con may be nil.
static int bson_begin(lua_State *L)
{
    struct sbmo_bson *w = mo_lua_self(L);

    w->placeholders = lua_toboolean(L, 2);
    lua_settop(L, 1);
    lua_setfield(L, lua_upvalueindex(SBMO_BSON_TABLE), "con");
    sb_buf_trim(&w->out, KEEP);
    w->begun++;
    out_room(L, w, 4);
    w->out.len = 4;
    w->start[0] = 0;
    w->open = 1;
    return 0;
}

// Returns the place of the element whose key is argument 1, in the open
// document.
static struct sbmo_place mo_lua_place_of(
    lua_State *L, const struct sbmo_bson *w)
{
    struct sbmo_place at = { .depth = w->open };

    if (w->open == 0)
        raise_text(L, "document: another document was started before "
                      "this one was complete");
    assert(w->open <= SBMO_BSON_OPEN);
    at.up = w->open > 1 ? &w->place[w->open - 2] : NULL;
    at.key = luaL_checklstring(L, 1, &at.len);
    if (memchr(at.key, '\0', at.len))
        fail_element(L, &at, "a NUL byte in a key", 0, 0);
    return at;
}

// Raises an error if a metamethod or finalizer of the script has begun another
// document.
static void check_begun(lua_State *L, const struct sbmo_bson *w, unsigned begun)
{
    if (w->begun != begun)
        raise_text(L, "document: another document was started while a "
                      "metamethod of this one ran");
}

// put(key, value)
static int bson_put(lua_State *L)
{
    struct sbmo_bson *w = mo_lua_self(L);
    struct sbmo_place at = mo_lua_place_of(L, w);
    unsigned begun = w->begun;

    lua_settop(L, 2);
    mo_lua_put_value(L, w, &at, 2);
    check_begun(L, w, begun);
    return 0;
}

// put_document(key, value): writes a document or an array. A string is JSON,
// nil is an empty document.
static int bson_put_document(lua_State *L)
{
    struct sbmo_bson *w = mo_lua_self(L);
    struct sbmo_place at = mo_lua_place_of(L, w);
    unsigned begun = w->begun;

    lua_settop(L, 2);
    switch (lua_type(L, 2)) {
    case LUA_TTABLE:
        mo_lua_put_table(L, w, &at, 2);
        break;
    case LUA_TSTRING:
        mo_lua_put_json(L, w, &at);
        break;
    case LUA_TNIL:
        finish_document(L, w, begin_document(L, w, &at, SB_BSON_DOCUMENT));
        break;
    default:
        fail_element(L, &at, "a %s instead of a document", 0, 2);
    }
    check_begun(L, w, begun);
    return 0;
}

// open(type, key): begins a document or an array in the open document.
static int bson_open(lua_State *L)
{
    struct sbmo_bson *w = mo_lua_self(L);
    int type = (int)luaL_checkinteger(L, 1);
    struct sbmo_place at;

    lua_remove(L, 1);
    at = mo_lua_place_of(L, w);
    if (w->open == SBMO_BSON_OPEN || at.len >= SBMO_BSON_KEY)
        return luaL_error(L, "too many documents are open");
    w->start[w->open] = begin_document(L, w, &at, type);
    memcpy(w->key[w->open - 1], at.key, at.len + 1);
    at.key = w->key[w->open - 1];
    w->place[w->open++ - 1] = at;
    return 0;
}

// finish(): ends the document that was opened last; returns the length so far.
static int bson_finish(lua_State *L)
{
    struct sbmo_bson *w = mo_lua_self(L);

    if (w->open == 0)
        return luaL_error(L, "no document was begun");
    finish_document(L, w, w->start[--w->open]);
    lua_pushinteger(L, (lua_Integer)w->out.len);
    return 1;
}

// root(value): writes the value as the whole document; returns its length.
static int bson_root(lua_State *L)
{
    struct sbmo_bson *w = mo_lua_self(L);
    const struct sbmo_place at = { .key = "top", .len = 3, .depth = 1 };
    int type = lua_type(L, 1), code;
    unsigned begun = w->begun;

    lua_settop(L, 1);
    w->open = 0;
    if (type != LUA_TSTRING && type != LUA_TTABLE)
        return fail_element(L, &at, "a %s instead of a document", 0, 1);
    code = type == LUA_TTABLE ? code_of(L, 1) : 0;
    if (code == SBMO_BSON_JSON)
        lua_getfield(L, 1, "text");
    if (code == SBMO_BSON_JSON || type == LUA_TSTRING) {
        mo_lua_put_json(L, w, NULL);
    } else if (code == SB_BSON_DOCUMENT) {
        size_t n;

        lua_getfield(L, 1, "bytes");
        const char *bytes = luaL_checklstring(L, -1, &n);
        w->out.len = 0;
        out_bytes(L, w, bytes, n);
    } else if (code == SBMO_BSON_ORDERED) {
        put_ordered(L, w, NULL, 1);
        finish_document(L, w, 0);
    } else if (code == 0 && !is_array(L, 1)) {
        put_fields(L, w, NULL, 1);
        finish_document(L, w, 0);
    } else {
        fail_element(
            L, &at, "an array or another value instead of a document", 0, 0);
    }
    check_begun(L, w, begun);
    lua_pushinteger(L, (lua_Integer)w->out.len);
    return 1;
}

// reopen(): continues the outermost document after finish().
static int bson_reopen(lua_State *L)
{
    struct sbmo_bson *w = mo_lua_self(L);

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
    lua_pushinteger(L, (lua_Integer)mo_lua_self(L)->out.len);
    return 1;
}

// cut(length): removes what was written to the open document after length() had
// returned this value
static int bson_cut(lua_State *L)
{
    struct sbmo_bson *w = mo_lua_self(L);
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
    lua_pushlightuserdata(L, mo_lua_self(L)->out.data);
    return 1;
}

// bytes(): the contents of the buffer as a string
static int bson_bytes(lua_State *L)
{
    struct sbmo_bson *w = mo_lua_self(L);

    lua_pushlstring(L, w->out.data, w->out.len);
    return 1;
}

// Reading --------------------------------------------------------------------
//
// Lengths are checked, because the bytes may come from a script.
//
// exact: the values are written back as the same bytes. Documents keep their
// order, int64 are cdata, and doubles that would be written as another type are
// objects.

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
    push_function(L, "error", "raise");
    lua_pushliteral(L, "document: not valid BSON");
    lua_call(L, 1, 0);
}

static void push_document(
    lua_State *L, const uint8_t *doc, size_t len, unsigned depth, bool exact);
static void push_array(
    lua_State *L, const uint8_t *doc, size_t len, unsigned depth, bool exact);

// Pushes a value of a type that Lua does not have.
static void push_other(lua_State *L, const struct sb_elem *e)
{
    push_function(L, "bson_value", "value");
    lua_pushinteger(L, e->type);
    lua_pushlstring(L, (const char *)e->value, e->len);
    lua_call(L, 2, 1);
}

static void mo_lua_push_double(
    lua_State *L, const struct sb_elem *e, bool exact)
{
    double n = sb_elem_number(e);

    // LuaJIT supports only one bit pattern of NaN.
    if (exact &&
        (isnan(n) || (floor(n) == n && n < MAX_EXACT && n > -MAX_EXACT)))
        push_other(L, e);
    else
        lua_pushnumber(L, isnan(n) ? (double)NAN : n);
}

static void mo_lua_push_int64(lua_State *L, const struct sb_elem *e, bool exact)
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
        mo_lua_push_double(L, e, exact);
        break;
    case SB_BSON_INT64:
        mo_lua_push_int64(L, e, exact);
        break;
    default:
        push_other(L, e);
    }
}

// Documents ------------------------------------------------------------------

// Checks the document, but not the contents of documents in it. Returns the
// number of elements.
static int mo_lua_count(
    lua_State *L, const uint8_t *doc, size_t len, unsigned depth)
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
    int n = mo_lua_count(L, doc, len, depth);
    struct sb_walk w;
    struct sb_elem e;

    if (exact) {
        push_function(L, "bson_value", "doc");
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
    int n = mo_lua_count(L, doc, len, depth);
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
        push_function(L, "error", "raise_con");
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

// The table of functions -----------------------------------------------------

static int mo_lua_release(lua_State *L)
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
    { "next", bson_next },
    { "raw", bson_raw },
    { "reply", bson_reply },
    { "field", bson_field },
    { "decode", bson_decode },
    { NULL, NULL },
};

static void add_functions(lua_State *L, int writer, int table)
{
    for (const luaL_Reg *list = functions; list->name; list++) {
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
    lua_pushcfunction(L, mo_lua_release);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    add_functions(L, table + 1, table);
    return 0;
}
