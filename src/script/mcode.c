// SPDX-License-Identifier: GPL-2.0-or-later
//
// Small areas of machine code. The first and the last page of an area are in
// use with its first trace, and most users have but one or two traces of less
// than a page. What does not fit makes LuaJIT give up the trace and try again
// later: then the area may be larger.
#include <string.h>

#include "script/script_private.h"

#define SMALLEST 4 // KiB
#define USUAL    64
#define FEW      1 // traces, behind which areas are of the usual size

// Upvalues: jit.attach(), jit.opt.start(), the size in KiB.
enum { ATTACH = 1, START, SIZE };

static void set_size(lua_State *L, int kib)
{
    lua_pushinteger(L, kib);
    lua_replace(L, lua_upvalueindex(SIZE));
    lua_pushvalue(L, lua_upvalueindex(START));
    lua_pushfstring(L, "sizemcode=%d", kib);
    lua_call(L, 1, 0);
}

// Called with what happened to a trace: "start", "stop", "abort", "flush",
// and its number.
static int watch(lua_State *L)
{
    const char *what = lua_tostring(L, 1);
    int kib = (int)lua_tointeger(L, lua_upvalueindex(SIZE));

    if (what && strcmp(what, "stop") == 0 && lua_tointeger(L, 2) > FEW)
        kib = USUAL;
    else if (what && strcmp(what, "abort") == 0)
        kib *= 2;
    else
        return 0;
    set_size(L, kib);
    if (kib == USUAL) {
        lua_Debug self;

        lua_getstack(L, 0, &self);
        lua_pushvalue(L, lua_upvalueindex(ATTACH));
        lua_getinfo(L, "f", &self);
        lua_call(L, 1, 0);
    }
    return 0;
}

void sb__mcode_init(lua_State *L)
{
    int top = lua_gettop(L);

    lua_getglobal(L, "jit");
    lua_getfield(L, top + 1, "attach");
    lua_getfield(L, top + 1, "opt");
    lua_getfield(L, -1, "start");
    lua_pushvalue(L, -1);
    lua_pushfstring(L, "sizemcode=%d", SMALLEST);
    lua_call(L, 1, 0);
    lua_pushvalue(L, top + 2);
    lua_insert(L, -2);
    lua_pushinteger(L, SMALLEST);
    lua_pushcclosure(L, watch, 3);
    lua_pushvalue(L, top + 2);
    lua_insert(L, -2);
    lua_pushstring(L, "trace");
    lua_call(L, 2, 0);
    lua_settop(L, top);
}
