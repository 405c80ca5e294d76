// SPDX-License-Identifier: GPL-2.0-or-later
//
// The Lua modules of drivers: sysbench.driver.<name>.
#include <string.h>

#include "base/log.h"
#include "script/script_private.h"

// Returns nil and the message on the stack top to Lua.
static int push_failure(lua_State *L)
{
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
}

// Finds a module of a driver; name: NULL for the first one.
static bool find_module(
    const struct sb_driver *drv, const char *name, struct sb_driver_lua *out)
{
    const struct sb_driver_lua *m = drv->lua_modules;

    if (!name) {
        *out = (struct sb_driver_lua){ "", drv->lua, 0 };
        if (drv->lua)
            out->len = strlen(drv->lua);
        return drv->lua != NULL;
    }
    while (m && m->name && strcmp(m->name, name) != 0)
        m++;
    if (!m || !m->name)
        return false;
    *out = *m;
    return true;
}

static int push_missing(lua_State *L, const char *driver, const char *name)
{
    if (name)
        lua_pushfstring(
            L, "the %s driver has no Lua module '%s'", driver, name);
    else
        lua_pushfstring(L, "the %s driver has no Lua module", driver);
    return push_failure(L);
}

int sb__driver_module(lua_State *L, struct sb__state *st)
{
    const char *driver = luaL_checkstring(L, 1);
    const char *name = luaL_optstring(L, 2, NULL);
    struct sb__codes *codes = &st->script->codes;
    struct sb_driver_lua module;
    struct sb_db *db = sb_db_get(&st->ctx, driver);
    int rc;

    if (!db) {
        lua_pushfstring(
            L, "failed to initialize the DB driver: %s", sb_db_error(&st->ctx));
        return push_failure(L);
    }
    const struct sb_driver *drv = sb_db_driver(db);
    if (!find_module(drv, name, &module))
        return push_missing(L, driver, name);
    const char *chunk = lua_pushfstring(
        L, "=[driver %s%s%s]", driver, name ? ": " : "", name ? name : "");
    // As the modules of the program, those of drivers have no line numbers, so
    // that errors have the position in the script. With --verbosity=5 they do,
    // for those who write a driver.
    if (sb_log_level() < SB_LOG_DEBUG)
        rc = sb__codes_own(codes, L, chunk, module.text, module.len);
    else
        rc = sb__codes_text(codes, L, chunk, module.text, module.len);
    if (rc)
        return push_failure(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, st->vm->base);
    lua_setfenv(L, -2);
    lua_pushstring(L, sb_db_file(db));
    lua_pushstring(L, drv->lua_declarations);
    return 3;
}
