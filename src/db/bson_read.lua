-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- BSON to Lua values. Lengths are checked: bytes may come from a script.
--
-- exact: nothing is lost. Documents keep their order, int64 are cdata, and
-- doubles that would be written as another type are objects.

local sb = ...
local ffi = sb.ffi
local array = sb.module("bson").array
local setmetatable = setmetatable

-- Documents become garbage fast, and a heap that doubles before it is collected
-- is the largest part of such a user. A pause of the script's own stays.
local PAUSE = 120
local pause = collectgarbage("setpause", PAUSE)
if pause ~= 100 and pause ~= 200 then -- while loading; afterwards
   collectgarbage("setpause", pause)
end

local MAX_EXACT = 2 ^ 53
local DEPTH = 200
local int32p = ffi.typeof("const int32_t *")
local int64p = ffi.typeof("const int64_t *")
local doublep = ffi.typeof("const double *")
local bytesp = ffi.typeof("const uint8_t *")

local function corrupt()
   sb.module("mongodb_error").raise("document: these bytes are no BSON")
end

-- Types that Lua lacks are loaded with the first value of one.
local function raw(code, bytes)
   return sb.module("bson_types").raw(code, bytes)
end

-- Lengths of values ---------------------------------------------------------

local fixed = {
   [1] = 8, [6] = 0, [7] = 12, [8] = 1, [9] = 8, [10] = 0, [16] = 4,
   [17] = 8, [18] = 8, [19] = 16, [127] = 0, [255] = 0
}
-- Those with a length in front, and what it does not count.
local counted = {
   [2] = 4, [3] = 0, [4] = 0, [5] = 5, [12] = 16, [13] = 4, [14] = 4, [15] = 0
}

local function name_end(p, pos, stop)
   while pos < stop and p[pos] ~= 0 do
      pos = pos + 1
   end
   if pos >= stop then
      corrupt()
   end
   return pos
end

local function size_of(code, p, pos, stop)
   local n = fixed[code]
   if n then
      return n
   elseif code == 11 then
      return name_end(p, name_end(p, pos, stop) + 1, stop) + 1 - pos
   end
   n = counted[code]
   if not n or pos + 4 > stop then
      corrupt()
   end
   local len = ffi.cast(int32p, p + pos)[0]
   if len < 0 then
      corrupt()
   end
   return n + len
end

-- Values --------------------------------------------------------------------

local read_fields, read_elements

local function read_double(p, pos, exact)
   local n = ffi.cast(doublep, p + pos)[0]
   if n ~= n then
      -- Others than this one must not get into Lua.
      return exact and raw(1, ffi.string(p + pos, 8)) or 0 / 0
   elseif exact and n % 1 == 0 and n < MAX_EXACT and n > -MAX_EXACT then
      return raw(1, ffi.string(p + pos, 8))
   end
   return n
end

local function read_int64(p, pos, exact)
   local n = ffi.cast(int64p, p + pos)[0]
   if not exact and n <= 9007199254740992LL and n >= -9007199254740992LL then
      return tonumber(n)
   end
   return n
end

local function read_value(code, p, pos, size, depth, exact)
   if code == 16 then
      return ffi.cast(int32p, p + pos)[0]
   elseif code == 2 then
      if size < 5 then
         corrupt()
      end
      return ffi.string(p + pos + 4, size - 5)
   elseif code == 3 then
      return (read_fields(p, pos, pos + size, depth + 1, exact))
   elseif code == 4 then
      return (read_elements(p, pos, pos + size, depth + 1, exact))
   elseif code == 8 then
      return p[pos] ~= 0
   elseif code == 1 then
      return read_double(p, pos, exact)
   elseif code == 18 then
      return read_int64(p, pos, exact)
   elseif code == 10 then
      return sb.module("bson_types").make.null
   end
   return raw(code, ffi.string(p + pos, size))
end

-- Documents -----------------------------------------------------------------

-- Checks the frame of a document that must end at stop.
local function frame(p, pos, stop, depth)
   if depth > DEPTH or stop - pos < 5 or
      ffi.cast(int32p, p + pos)[0] ~= stop - pos or p[stop - 1] ~= 0 then
      corrupt()
   end
end

read_fields = function(p, pos, stop, depth, exact)
   frame(p, pos, stop, depth)
   local t = exact and sb.module("bson_types").make.doc() or {}
   pos, stop = pos + 4, stop - 1
   while pos < stop do
      local code = p[pos]
      local mark = name_end(p, pos + 1, stop)
      local key = ffi.string(p + pos + 1, mark - pos - 1)
      pos = mark + 1
      local size = size_of(code, p, pos, stop)
      if pos + size > stop then
         corrupt()
      end
      t[key] = read_value(code, p, pos, size, depth, exact)
      pos = pos + size
   end
   return t
end

read_elements = function(p, pos, stop, depth, exact)
   frame(p, pos, stop, depth)
   local t, n = {}, 0
   pos, stop = pos + 4, stop - 1
   while pos < stop do
      local code = p[pos]
      pos = name_end(p, pos + 1, stop) + 1
      local size = size_of(code, p, pos, stop)
      if pos + size > stop then
         corrupt()
      end
      n = n + 1
      t[n] = read_value(code, p, pos, size, depth, exact)
      pos = pos + size
   end
   return setmetatable(t, array)
end

local read = {}

-- A document at p of len bytes.
function read.document(p, len, exact)
   return read_fields(p, 0, len, 1, exact)
end

local held -- what is being read must not be collected

function read.bytes(text, exact)
   held = text
   local t = read_fields(ffi.cast(bytesp, held), 0, #text, 1, exact)
   held = nil
   return t
end

-- The value of one field of the outermost document, or nil; p, len as in
-- document().
function read.field(p, len, name)
   frame(p, 0, len, 1)
   local pos, stop, n = 4, len - 1, #name
   while pos < stop do
      local code = p[pos]
      local mark = name_end(p, pos + 1, stop)
      local at = mark + 1
      local size = size_of(code, p, at, stop)
      if at + size > stop then
         corrupt()
      end
      if mark - pos - 1 == n and ffi.string(p + pos + 1, n) == name then
         return read_value(code, p, at, size, 1, false)
      end
      pos = at + size
   end
end

return read
