-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Converts Lua values to BSON and back. The functions are in C (lua_bson.c
-- describes the fields they use), because compiling them would take a trace for
-- each shape of a document.

local api = ...

local bson = {
   codes = {}, -- metatable -> type of BSON, or a code of lua_bson.c
   order = setmetatable({}, { __mode = "k" }), -- ordered document -> its keys
   array = {}, -- metatable of arrays
   module = api.module, collect_often = api.collect_often
}
bson.codes[bson.array] = 4

-- Writing to the buffer of the state: begin(con [, compiling]), then put(key,
-- value), put_document(key, value), open(type, key), and finish() once for each
-- open document; or begin() and root(value). finish() and root() return the
-- length so far; buffer() returns the buffer, bytes() a copy of its contents.
-- Reading: decode(bytes [, exact]); for the result of the last command
-- next(result [, exact]), raw(result), reply(con), field(con, name).
api.symbol("sbmo_lua_bson")(bson)

return bson
