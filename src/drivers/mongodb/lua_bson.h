// SPDX-License-Identifier: GPL-2.0-or-later
//
// Converts Lua values to BSON and back, for the modules of sysbench.mongodb. It
// is in C, because every state would have its own copy of Lua code, traces and
// machine code: they were the largest part of the memory of a user with
// documents.
#ifndef MONGODB_LUA_BSON_H
#define MONGODB_LUA_BSON_H

#include <lauxlib.h>
#include <lua.h>

#include "drivers/mongodb/bson.h"
#include "kit/buf.h"

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

// All functions raise Lua errors.

// The functions that read, for sbmo_lua_bson() (lua_read.c).
extern const luaL_Reg sbmo_bson_readers[];

// Pushes a function of another Lua module of the driver.
void sbmo_bson_function(lua_State *L, const char *module, const char *name);
// Raises an error for an invalid element. what: the reason, NULL for a value
// whose type cannot be written. key, value: stack indexes, 0: none.
int sbmo_bson_fail(lua_State *L, const struct sbmo_place *at, const char *what,
    int key, int value);

// Raises an error at the line of the script.
int sbmo_bson_raise(lua_State *L, const char *text);

// Returns room for `more` bytes at the end; the length does not change.
uint8_t *sbmo_bson_room(lua_State *L, struct sbmo_bson *w, size_t more);
void sbmo_bson_bytes(
    lua_State *L, struct sbmo_bson *w, const void *bytes, size_t n);
// Begin an element that is a document, which returns its start, and end it.
size_t sbmo_bson_begin(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int type);
void sbmo_bson_finish(lua_State *L, struct sbmo_bson *w, size_t start);
// Write an element: the value, or the table, at this stack index.
void sbmo_bson_put(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int value);
void sbmo_bson_put_table(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at, int t);
// Pops JSON from the stack and writes it as an element, or (at NULL) as a whole
// document.
void sbmo_bson_put_json(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *at);
// Write the elements of a table. up: the document, NULL for the outermost one.
void sbmo_bson_put_fields(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *up, int t);
void sbmo_bson_put_ordered(
    lua_State *L, struct sbmo_bson *w, const struct sbmo_place *up, int t);
// The code in `codes` of the table's metatable; 0: none.
int sbmo_bson_code(lua_State *L, int t);
// True if a table without such a metatable is an array.
bool sbmo_bson_is_array(lua_State *L, int t);

#endif
