// SPDX-License-Identifier: GPL-2.0-or-later
//
// The Lua modules of drivers: sysbench.driver.<name>.
#include <string.h>

#include "script/internal.h"

// Returns nil and the message on the stack top to Lua.
static int push_failure(lua_State *L)
{
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
}

int sb__driver_chunk(lua_State *L, struct sb__state *st)
{
    const char *name = luaL_checkstring(L, 1);
    struct sb_db *db = sb_db_get(&st->ctx, name);

    if (!db) {
        lua_pushfstring(
            L, "failed to initialize the DB driver: %s", sb_db_error(&st->ctx));
        return push_failure(L);
    }
    const char *text = sb_db_driver(db)->lua;
    if (!text) {
        lua_pushfstring(L, "the %s driver has no Lua module", name);
        return push_failure(L);
    }
    const char *chunk = lua_pushfstring(L, "=[driver %s]", name);
    if (sb__codes_text(&st->script->codes, L, chunk, text, strlen(text)))
        return push_failure(L);
    lua_pushstring(L, sb_db_file(db));
    return 2;
}
