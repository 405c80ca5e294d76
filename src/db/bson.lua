-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Lua values to BSON and back. The functions are in C (script/bson.h says what
-- they find here); nothing of them is compiled anew in each state.

local sb = ...

local bson = {
   codes = {}, -- metatable -> type of BSON, or a code of script/bson.h
   order = setmetatable({}, { __mode = "k" }), -- ordered document -> its keys
   array = {}, -- metatable of arrays
   module = sb.module
}
bson.codes[bson.array] = 4

-- Writing, into one buffer: begin(con [, compiling]), then put(key, value),
-- put_document(key, value), open(type, key), finish() as often as there are
-- documents open; or root(value) in place of all that. The last two return the
-- length so far; buffer() is where it lies, bytes() a copy of it.
-- Reading: decode(bytes [, exact]); of the last command next(result [, exact]),
-- raw(result), reply(con), field(con, name).
sb.bson(bson)

return bson
