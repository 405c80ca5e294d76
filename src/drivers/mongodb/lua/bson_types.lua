-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- BSON types that Lua does not have. A value of such a type is a table with its
-- bytes in a document, so writing it only copies them; its fields are computed
-- when a script reads them.

local api = ...
local ffi = require("ffi")
local bson = api.module("bson")
local codes, order = bson.codes, bson.order

local types = {} -- constructors
local of = {}    -- type of BSON -> metatable

local function fail(text)
   api.module("error").raise("document: " .. text)
end

-- fields: name -> function of the bytes. text: the same, for tostring().
local function class(code, fields, text)
   local meta = {}
   meta.__index = function(value, name)
      local field = fields[name]
      if field then
         return field(rawget(value, "bytes"))
      end
   end
   meta.__tostring = function(value) return text(value.bytes) end
   meta.__eq = function(a, b)
      return getmetatable(a) == getmetatable(b) and a.bytes == b.bytes
   end
   codes[meta], of[code] = code, meta
   return meta
end

local function new(meta, bytes)
   return setmetatable({ bytes = bytes }, meta)
end

-- Returns functions that convert a number to its bytes and back.
local function packer(ctype, size)
   local cell = ffi.new(ctype .. "[1]")
   local function unpack(bytes, at)
      ffi.copy(cell, ffi.cast("const char *", bytes) + (at or 0), size)
      return cell[0]
   end
   return function(n)
      cell[0] = n
      return ffi.string(cell, size)
   end, unpack
end

local pack_int32, int32_of = packer("int32_t", 4)
local pack_uint32, uint32_of = packer("uint32_t", 4)
local pack_int64, int64_of = packer("int64_t", 8)
local pack_double, double_of = packer("double", 8)

local function check_integer(n, what, low, high)
   if type(n) ~= "number" or n % 1 ~= 0 or n < low or n > high then
      fail(("%s: %s is not an integer from %.0f to %.0f"):format(what,
         tostring(n), low, high))
   end
   return n
end

-- Numbers -----------------------------------------------------------------

local function show(value_of)
   return { value = value_of }, function(b) return tostring(value_of(b)) end
end

class(16, show(int32_of))
class(1, show(double_of))

function types.int32(n)
   check_integer(n, "int32", -2147483648, 2147483647)
   return new(of[16], pack_int32(n))
end

-- Returns a cdata: Lua has this type.
function types.int64(n)
   if type(n) == "number" then
      check_integer(n, "int64", -2 ^ 63, 2 ^ 63 - 1024)
   elseif not ffi.istype("int64_t", n) and not ffi.istype("uint64_t", n) then
      fail("int64: not a number: " .. tostring(n))
   end
   return ffi.cast("int64_t", n)
end

function types.double(n)
   if type(n) ~= "number" then
      fail("double: not a number: " .. tostring(n))
   end
   return new(of[1], pack_double(n))
end

-- Returns a value of any type, for the reader.
local function raw(code, bytes)
   local meta = of[code] or class(code, {}, function()
      return ("<BSON type 0x%02x>"):format(code)
   end)
   return new(meta, bytes)
end

-- ObjectId ----------------------------------------------------------------

local function hex_of(bytes)
   return (bytes:gsub(".", function(c)
      return ("%02x"):format(c:byte())
   end))
end

class(7, { hex = hex_of }, hex_of)

local own, counter -- five bytes of this state, and a counter of three

local function seed()
   local f = io.open("/dev/urandom", "rb")
   own = f and f:read(8)
   if f then
      f:close()
   end
   if not own or #own < 8 then
      local rand = api.user().sysbench.rand
      own = pack_uint32(rand.unique()) .. pack_uint32(rand.unique())
   end
   counter = uint32_of(own, 4) % 0x1000000
   own = own:sub(1, 5)
end

local function big_endian(n, bytes)
   return pack_uint32(n):reverse():sub(5 - bytes)
end

function types.objectid(hex)
   if hex == nil then
      if not own then
         seed()
      end
      counter = (counter + 1) % 0x1000000
      return new(of[7], big_endian(os.time(), 4) .. own ..
                 big_endian(counter, 3))
   elseif type(hex) ~= "string" or #hex ~= 24 or hex:find("%X") then
      fail("an ObjectId must have 24 hexadecimal digits: " .. tostring(hex))
   end
   return new(of[7], (hex:gsub("..", function(two)
      return string.char(tonumber(two, 16))
   end)))
end

-- Times -------------------------------------------------------------------

local function ms_of(bytes)
   return tonumber(int64_of(bytes))
end

class(9, { ms = ms_of }, function(bytes)
   local ms = ms_of(bytes)
   if ms < 0 or ms > 253402300799999 then
      return ("%.0f ms since 1970"):format(ms)
   end
   return os.date("!%Y-%m-%dT%H:%M:%S", math.floor(ms / 1000)) ..
      (".%03dZ"):format(ms % 1000)
end)

function types.date(ms)
   if ms == nil then
      ms = 1000 * os.time()
   end
   return new(of[9], pack_int64(check_integer(ms, "date", -2 ^ 53, 2 ^ 53)))
end

local function increment_of(bytes) return uint32_of(bytes) end
local function seconds_of(bytes) return uint32_of(bytes, 4) end

class(17, { seconds = seconds_of, increment = increment_of }, function(bytes)
   return ("timestamp(%d, %d)"):format(seconds_of(bytes), increment_of(bytes))
end)

function types.timestamp(seconds, increment)
   check_integer(seconds, "timestamp", 0, 4294967295)
   check_integer(increment, "timestamp increment", 0, 4294967295)
   return new(of[17], pack_uint32(increment) .. pack_uint32(seconds))
end

-- Bytes -------------------------------------------------------------------

local OLD_BINARY = 2 -- this subtype repeats the length

local function subtype_of(bytes) return bytes:byte(5) end
local function data_of(bytes)
   return bytes:sub(subtype_of(bytes) == OLD_BINARY and 10 or 6)
end

class(5, { data = data_of, subtype = subtype_of }, function(bytes)
   return ("binary(%d bytes, subtype %d)"):format(#data_of(bytes),
                                                  subtype_of(bytes))
end)

function types.binary(data, subtype)
   subtype = subtype or 0
   if type(data) ~= "string" then
      fail("binary data must be a string")
   end
   check_integer(subtype, "binary subtype", 0, 255)
   if subtype == OLD_BINARY then
      data = pack_int32(#data) .. data
   end
   return new(of[5], pack_int32(#data) .. string.char(subtype) .. data)
end

-- Texts -------------------------------------------------------------------

local function pattern_of(bytes) return bytes:match("^(%Z*)") end
local function options_of(bytes) return bytes:match("^%Z*%z(%Z*)") end

class(11, { pattern = pattern_of, options = options_of }, function(bytes)
   return "/" .. pattern_of(bytes) .. "/" .. options_of(bytes)
end)

function types.regex(pattern, options)
   options = options or ""
   if type(pattern) ~= "string" or pattern:find("%z") or
      type(options) ~= "string" or options:find("%z") then
      fail("a regular expression and its options must be strings without NUL")
   end
   local letters = {}
   options:gsub(".", function(c) letters[#letters + 1] = c end)
   table.sort(letters) -- BSON requires this order
   return new(of[11], pattern .. "\0" .. table.concat(letters) .. "\0")
end

local function text_of(bytes) return bytes:sub(5, -2) end

class(13, { text = text_of }, text_of)

function types.code(text)
   if type(text) ~= "string" then
      fail("code must be a string")
   end
   return new(of[13], pack_int32(#text + 1) .. text .. "\0")
end

class(19, {}, function(bytes)
   return api.module("bson_decimal").text(bytes)
end)

function types.decimal(text)
   local bytes = api.module("bson_decimal").bytes(tostring(text))
   if not bytes then
      fail("not a decimal number, or out of range: " .. tostring(text))
   end
   return new(of[19], bytes)
end

-- Values without bytes ----------------------------------------------------

local function constant(code, name)
   types[name] = new(class(code, {}, function() return name end), "")
end

constant(10, "null")
constant(255, "minkey")
constant(127, "maxkey")

-- Documents ---------------------------------------------------------------

function types.array(t)
   return setmetatable(t or {}, bson.array)
end

local ordered = {}
codes[ordered] = 256

local function add_key(t, key)
   local keys = order[t]
   for i = 1, #keys do
      if keys[i] == key then
         return
      end
   end
   keys[#keys + 1] = key
end

function ordered.__newindex(t, key, value)
   if value ~= nil then
      add_key(t, key)
      rawset(t, key, value)
   end
end

function types.doc(...)
   local t, n = {}, select("#", ...)
   order[t] = {}
   if n % 2 == 1 then
      fail("doc() requires a value for each key")
   end
   setmetatable(t, ordered)
   for i = 1, n, 2 do
      local key, value = select(i, ...)
      if type(key) ~= "string" then
         fail("doc() requires a string as key, not a " .. type(key))
      end
      t[key] = value
   end
   return t
end

local json = {
   __tostring = function(value) return value.text end
}
codes[json] = 257

function types.json(text)
   if type(text) ~= "string" then
      fail("JSON must be a string")
   end
   return setmetatable({ text = text }, json)
end

local embedded = class(3, {}, function(bytes)
   return ("BSON(%d bytes)"):format(#bytes)
end)

function types.bson(bytes)
   if type(bytes) ~= "string" or #bytes < 5 or
      int32_of(bytes) ~= #bytes or bytes:byte(-1) ~= 0 then
      fail("not a BSON document")
   end
   return new(embedded, bytes)
end

return { make = types, raw = raw }
