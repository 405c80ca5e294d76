// SPDX-License-Identifier: GPL-2.0-or-later
//
// Small areas of machine code, to save memory. The first trace of an area uses
// its first and last page, and most users have only one or two traces of less
// than a page. If a trace does not fit, LuaJIT aborts it and tries again later:
// then the area is made larger.
#include <string.h>

#include "script/script_private.h"

#define SMALLEST 4 // KiB
#define USUAL    64
#define FEW      1 // after more traces than this, the usual size is set

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

// Called by LuaJIT with an event of a trace ("start", "stop", "abort", "flush")
// and the number of the trace.
static int on_trace(lua_State *L)
{
    const char *event = lua_tostring(L, 1);
    int kib = (int)lua_tointeger(L, lua_upvalueindex(SIZE));

    if (event && strcmp(event, "stop") == 0 && lua_tointeger(L, 2) > FEW)
        kib = USUAL;
    else if (event && strcmp(event, "abort") == 0)
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
    lua_pushcclosure(L, on_trace, 3);
    lua_pushvalue(L, top + 2);
    lua_insert(L, -2);
    lua_pushstring(L, "trace");
    lua_call(L, 2, 0);
    lua_settop(L, top);
}
