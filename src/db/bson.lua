-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Lua values to BSON, in one buffer that is reused and grows. Positions are
-- passed along and returned, so that compiled code keeps them in registers;
-- nothing here makes a table, a closure or a string for a field.
--
-- Numbers are stored as this machine does, which is little-endian as BSON is
-- wherever LuaJIT is at home.

local sb = ...
local ffi = sb.ffi
local tobit = bit.tobit
local type, pairs, next, getmetatable = type, pairs, next, getmetatable
local copy = ffi.copy

local DOUBLE, STRING, DOCUMENT, ARRAY, BOOL, NULL = 1, 2, 3, 4, 8, 10
local INT32, INT64 = 16, 18
-- Of classes that are no types of BSON.
local ORDERED, JSON, ARG = 256, 257, 258

local MAX_EXACT = 2 ^ 53
local DEPTH = 100 -- what servers and their libraries take
local ROOM = 24   -- for a type, two NULs and any value of fixed size
local FIRST, KEEP = 2048, 1048576
local MANY_KEYS = 512

local int32p, int64p = ffi.typeof("int32_t *"), ffi.typeof("int64_t *")
local doublep = ffi.typeof("double *")
local bytes = ffi.typeof("uint8_t[?]")
local int64, uint64 = ffi.typeof("int64_t"), ffi.typeof("uint64_t")

local buf, cap = bytes(FIRST), FIRST
local con           -- that parses JSON
local placeholders  -- whether they are allowed
local path = {}     -- names of the documents that are open

local bson = {
   codes = {}, -- metatable -> type of BSON, or one of the three above
   order = setmetatable({}, { __mode = "k" }), -- ordered document -> its keys
   array = {} -- metatable of arrays
}
local codes, order = bson.codes, bson.order
codes[bson.array] = ARRAY

-- Errors ------------------------------------------------------------------

local function place(depth, key)
   local names = ""
   for i = 1, depth - 1 do
      if i > 8 then
         return names .. "..."
      end
      names = names .. path[i] .. "."
   end
   return names .. key
end

local function fail(what, depth, key)
   sb.module("mongodb_error").raise(("document: %s at %s"):format(
      what, place(depth, key)))
end

-- The buffer --------------------------------------------------------------

local function grow(need)
   local size = need > 2 * cap and need or 2 * cap
   local new = bytes(size)
   copy(new, buf, cap)
   buf, cap = new, size
end

-- Keys --------------------------------------------------------------------

local known, nknown = {}, 0 -- that have been looked at

local function look_at(key, depth)
   if type(key) ~= "string" then
      fail(("a key that is a %s, not a string"):format(type(key)), depth,
           "[" .. tostring(key) .. "]")
   elseif key:find("\0", 1, true) then
      fail("a zero byte in a key", depth, (key:gsub("%z", "\\0")))
   end
   if nknown >= MANY_KEYS then
      known, nknown = {}, 0
   end
   known[key], nknown = true, nknown + 1
end

local numbers = {} -- keys of arrays

local function number_key(i)
   local key = tostring(i - 1)
   if i <= MANY_KEYS then
      numbers[i] = key
   end
   return key
end

-- Leaves room for a value of fixed size.
local function put_key(pos, code, key)
   local n = #key
   if pos + n + ROOM > cap then
      grow(pos + n + ROOM)
   end
   buf[pos] = code
   copy(buf + (pos + 1), key, n + 1)
   return pos + n + 2
end

-- Values ------------------------------------------------------------------

local function put_int32(pos, n)
   ffi.cast(int32p, buf + pos)[0] = n
   return pos + 4
end

local function put_int64(pos, n)
   ffi.cast(int64p, buf + pos)[0] = n
   return pos + 8
end

local function put_number(pos, key, n)
   if tobit(n) == n and (n ~= 0 or 1 / n > 0) then
      return put_int32(put_key(pos, INT32, key), n)
   elseif n < MAX_EXACT and n > -MAX_EXACT and n % 1 == 0 and n ~= 0 then
      return put_int64(put_key(pos, INT64, key), n)
   end
   pos = put_key(pos, DOUBLE, key)
   ffi.cast(doublep, buf + pos)[0] = n
   return pos + 8
end

-- Bytes of a value; two more than they are fit behind them.
local function put_bytes(pos, s)
   local n = #s
   if pos + n + 2 > cap then
      grow(pos + n + 2)
   end
   copy(buf + pos, s, n)
   return pos + n
end

local function put_text(pos, s)
   local n = #s
   if pos + n + ROOM > cap then
      grow(pos + n + ROOM)
   end
   ffi.cast(int32p, buf + pos)[0] = n + 1
   copy(buf + (pos + 4), s, n + 1)
   return pos + n + 5
end

local function put_cdata(pos, key, value, depth)
   if ffi.istype(int64, value) or ffi.istype(uint64, value) and
      value <= 0x7fffffffffffffffULL then
      return put_int64(put_key(pos, INT64, key), ffi.cast(int64, value))
   end
   fail(("unsupported value (%s)"):format(tostring(value)), depth, key)
end

-- Documents ---------------------------------------------------------------

local put

local function finish(start, pos)
   if pos + 2 > cap then
      grow(pos + 2)
   end
   buf[pos] = 0
   ffi.cast(int32p, buf + start)[0] = pos + 1 - start
   return pos + 1
end

local function put_fields(start, t, depth)
   local pos = start + 4
   for key, value in pairs(t) do
      if not known[key] then
         look_at(key, depth)
      end
      pos = put(pos, key, value, depth)
   end
   return finish(start, pos)
end

local function put_ordered(start, t, depth)
   local pos, keys = start + 4, order[t]
   for i = 1, #keys do
      local key = keys[i]
      local value = t[key]
      if value ~= nil then
         if not known[key] then
            look_at(key, depth)
         end
         pos = put(pos, key, value, depth)
      end
   end
   return finish(start, pos)
end

-- An array with other keys than 1 to n is a mistake.
local function check_keys(t, n, depth)
   for key in pairs(t) do
      if type(key) ~= "number" or key < 1 or key > n or key % 1 ~= 0 then
         fail("an array with a key of its own", depth, tostring(key))
      end
   end
end

local function put_elements(start, t, depth)
   local pos, n = start + 4, #t
   if next(t, n > 0 and n or nil) ~= nil then
      check_keys(t, n, depth)
   end
   for i = 1, n do
      local value = t[i]
      local key = numbers[i] or number_key(i)
      if value == nil then
         pos = put_key(pos, NULL, key)
      else
         pos = put(pos, key, value, depth)
      end
   end
   return finish(start, pos)
end

local function put_other(pos, key, t, code, depth)
   if code == JSON then
      return sb.module("bson_json").put(pos, key, t.text)
   elseif code == ARG then
      if not placeholders then
         fail("a placeholder outside of a compiled command", depth, key)
      end
      code = DOCUMENT
   end
   return put_bytes(put_key(pos, code, key), t.bytes)
end

-- What stands before the fields of a document: checks, its name for errors.
local function enter(depth, key)
   if depth > DEPTH then
      fail("nesting deeper than 100 levels, or a table inside itself", depth,
           key)
   end
   path[depth] = key
end

local function put_table(pos, key, t, depth)
   local mt = getmetatable(t)
   local code = mt ~= nil and codes[mt] or nil
   if code == nil then
      code = t[1] ~= nil and ARRAY or DOCUMENT
   elseif code ~= ARRAY and code ~= ORDERED then
      return put_other(pos, key, t, code, depth)
   end
   enter(depth, key)
   if code == ARRAY then
      return put_elements(put_key(pos, ARRAY, key), t, depth + 1)
   elseif code == ORDERED then
      return put_ordered(put_key(pos, DOCUMENT, key), t, depth + 1)
   end
   return put_fields(put_key(pos, DOCUMENT, key), t, depth + 1)
end

-- Appends one element at pos of a document that is open; returns where the
-- next one goes. depth: 1 in the outermost document.
put = function(pos, key, value, depth)
   local kind = type(value)
   if kind == "number" then
      return put_number(pos, key, value)
   elseif kind == "string" then
      return put_text(put_key(pos, STRING, key), value)
   elseif kind == "table" then
      return put_table(pos, key, value, depth)
   elseif kind == "boolean" then
      pos = put_key(pos, BOOL, key)
      buf[pos] = value and 1 or 0
      return pos + 1
   elseif kind == "cdata" then
      return put_cdata(pos, key, value, depth)
   end
   fail(("unsupported value (a %s)"):format(kind), depth, key)
end

-- For mongodb*.lua --------------------------------------------------------

bson.put, bson.put_key, bson.put_bytes = put, put_key, put_bytes
bson.finish, bson.fail = finish, fail

-- Begins a document in the empty buffer; returns the position of its first
-- element. connection: NULL allowed.
function bson.begin(connection, compiling)
   if cap > KEEP then
      buf, cap = bytes(FIRST), FIRST
   end
   con, placeholders = connection, compiling
   return 4
end

-- An element that is a document or an array; text is JSON, nil is empty.
function bson.put_document(pos, key, value, depth)
   local kind = type(value)
   if kind == "table" then
      return put_table(pos, key, value, depth)
   elseif kind == "string" then
      return sb.module("bson_json").put(pos, key, value)
   elseif kind == "nil" then
      local start = put_key(pos, DOCUMENT, key)
      return finish(start, start + 4)
   end
   fail(("a %s where a document should be"):format(kind), depth, key)
end

-- A whole document, from the beginning of the buffer; returns its length.
function bson.root(value)
   local code
   if type(value) == "string" then
      return sb.module("bson_json").root(value)
   elseif type(value) ~= "table" then
      fail(("a %s where a document should be"):format(type(value)), 1, "top")
   end
   code = codes[getmetatable(value) or 0]
   if code == nil and value[1] == nil then
      return put_fields(0, value, 1)
   elseif code == ORDERED then
      return put_ordered(0, value, 1)
   elseif code == DOCUMENT then
      return put_bytes(0, value.bytes)
   elseif code == JSON then
      return sb.module("bson_json").root(value.text)
   end
   fail("an array or another value where a document should be", 1, "top")
end

-- Opens an array or a document: its elements begin 4 bytes behind the position
-- returned, and finish() ends it.
function bson.open(pos, code, key, depth)
   path[depth] = key
   return put_key(pos, code, key)
end

function bson.buffer()
   return buf
end

function bson.connection()
   return con
end

return bson
