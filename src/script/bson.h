// SPDX-License-Identifier: GPL-2.0-or-later
//
// BSON of Lua values and back, for the modules of sysbench.mongodb. In C,
// because what is done in Lua is in every state again: code, traces and machine
// code of it were the largest part of a user with documents.
#ifndef SB_SCRIPT_BSON_H
#define SB_SCRIPT_BSON_H

#include <lauxlib.h>
#include <lua.h>

#include "db/doc_bson.h"

// The upvalues of all functions: a struct sb__bson, and the table that bson.lua
// returns, with
//     codes    metatable -> type of BSON, or one of the three below
//     order    ordered document -> its keys
//     array    metatable of arrays
//     module   loads modules
//     con      connection of the document being written
enum { SB__BSON_SELF = 1, SB__BSON_TABLE };
// What is no type of BSON.
enum { SB__BSON_ORDERED = 256, SB__BSON_JSON, SB__BSON_ARG };

#define SB__BSON_OPEN  4u  // documents opened one by one, at most
#define SB__BSON_KEY   16u // longest name of these, with its NUL
#define SB__BSON_CDATA 10  // lua_type() of a cdata

// An element: its key, and the document that it is in.
struct sb__place {
    const struct sb__place *up; // NULL: in the outermost one
    const char *key;
    size_t len;
    unsigned depth; // 1: in the outermost document
};

// One buffer of a state, which is reused and grows.
struct sb__bson {
    uint8_t *p;
    size_t len, cap;
    bool placeholders; // whether they are allowed
    bool reads;        // documents were read in this state
    unsigned turn;     // how many documents were begun
    unsigned open;     // documents that are open, the outermost one included
    size_t start[SB__BSON_OPEN];
    struct sb__place place[SB__BSON_OPEN]; // of the others
    char key[SB__BSON_OPEN][SB__BSON_KEY];
};

// All of them raise Lua errors.

// Adds the functions to the table on the stack top (bson.c), and which of them
// read (bson_read.c).
void sb__bson_open(lua_State *L);
extern const luaL_Reg sb__bson_readers[];

// Pushes a function of another embedded module.
void sb__bson_function(lua_State *L, const char *module, const char *name);
// Raises that the value or, if there is none, the key is no good; both are
// indexes of the stack, 0: none. what: NULL for a value of no such type.
int sb__bson_fail(lua_State *L, const struct sb__place *at, const char *what,
    int key, int value);

// Raises at the script's line.
int sb__bson_raise(lua_State *L, const char *text);

// Room for `more` bytes at the end.
uint8_t *sb__bson_room(lua_State *L, struct sb__bson *w, size_t more);
void sb__bson_bytes(
    lua_State *L, struct sb__bson *w, const void *bytes, size_t n);
// Begins an element that is a document, and ends it; returns where it begins.
size_t sb__bson_begin(
    lua_State *L, struct sb__bson *w, const struct sb__place *at, int type);
void sb__bson_finish(lua_State *L, struct sb__bson *w, size_t start);
// An element: the value, or the table, at that index.
void sb__bson_put(
    lua_State *L, struct sb__bson *w, const struct sb__place *at, int value);
void sb__bson_put_table(
    lua_State *L, struct sb__bson *w, const struct sb__place *at, int t);
// JSON on the stack top, which is popped: an element's, or (at NULL) a whole
// document.
void sb__bson_put_json(
    lua_State *L, struct sb__bson *w, const struct sb__place *at);
// The elements of a table. up: the document, NULL for the outermost one.
void sb__bson_put_fields(
    lua_State *L, struct sb__bson *w, const struct sb__place *up, int t);
void sb__bson_put_ordered(
    lua_State *L, struct sb__bson *w, const struct sb__place *up, int t);
// What the metatable of the table makes of it; 0: nothing.
int sb__bson_code(lua_State *L, int t);
// Whether a table without such a metatable is an array.
bool sb__bson_is_array(lua_State *L, int t);

#endif
