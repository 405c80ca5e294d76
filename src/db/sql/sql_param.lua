-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Parameters of prepared statements: values other than integral Lua numbers. A
-- value is bound unchanged or rejected, with two exceptions of sysbench 1.0: an
-- integer parameter drops the fraction of a number, and text is cut to the
-- length that was declared, if any.

local sb = ...
local ffi, C, turn = sb.ffi, sb.C, sb.turn
local param = sb.sql.param

sb.cdef("sql")
sb.cdef("random")
local BIGINT, DOUBLE = 4, 6
local TWO63, TWO64 = 2 ^ 63, 2 ^ 64
local MOST = 0x7fffffffffffffffULL -- maximum of an int64_t
local ceil, floor = math.ceil, math.floor

-- The return values of functions for a value that cannot be bound.
local function refuse(format, ...)
   return nil, format:format(...)
end

local function is_long(value)
   return ffi.istype("int64_t", value) or ffi.istype("uint64_t", value)
end

local function shown(value)
   return is_long(value) and (tostring(value):gsub("U?LL$", "")) or
      tostring(value)
end

-- Returns the integer in a text as uint64_t or, if it is negative, int64_t;
-- false if the text is not an integer.
local function integer_of(text)
   local sign, digits = text:match("^%s*([+-]?)0*(%d+)%s*$")
   if not digits then
      return false
   end
   local most = sign == "-" and "9223372036854775808" or
      "18446744073709551615"
   if #digits > #most or (#digits == #most and digits > most) then
      return refuse("%s is out of range for BIGINT", text)
   end
   local n = 0ULL
   for digit in digits:gmatch("%d") do
      n = n * 10 + tonumber(digit)
   end
   return sign == "-" and -ffi.cast("int64_t", n) or n
end

local function number_of_text(text)
   local n, why = integer_of(text)
   if n ~= false then
      return n, why
   end
   n = tonumber(text)
   if not n then
      return refuse("not a number: %s", text)
   elseif (n == math.huge or n == -math.huge) and text:find("%d") then
      return refuse("%s is out of range for DOUBLE", text)
   end
   return n
end

-- Returns the value as a Lua number or a 64-bit integer.
local function number_of(value)
   local kind = type(value)
   if kind == "number" then
      return value
   elseif kind == "boolean" then
      return value and 1 or 0
   elseif kind == "string" then
      return number_of_text(value)
   end
   local n = is_long(value) and value or kind == "cdata" and tonumber(value)
   if n then
      return n
   end
   return refuse("not a number: %s", tostring(value))
end

-- Returns the integral part of n, which is a Lua number or a 64-bit integer.
local function whole(n)
   if type(n) ~= "number" then
      return n
   end
   n = n < 0 and ceil(n) or floor(n)
   if n >= TWO63 and n < TWO64 then
      return refuse("%s is out of range for BIGINT (write integers of 2^63 " ..
                    "or more with the suffix ULL)", shown(n))
   elseif not (n >= -TWO63 and n < TWO63) then
      return refuse("%s is out of range for BIGINT", shown(n))
   end
   return n
end

local function set_integer(self, value)
   local n, why = number_of(value)
   if n then
      n, why = whole(n)
   end
   if not n then
      return why
   end
   self.is_unsigned = ffi.istype("uint64_t", n) and n > MOST and 1 or 0
   self.i = ffi.cast("int64_t", n)
end

-- Returns the double with exactly this value.
local function exact(value)
   local n, why = number_of(value)
   if not n or type(n) == "number" then
      return n, why
   end
   local d = tonumber(n)
   local signed = ffi.istype("int64_t", n)
   local limit = signed and TWO63 or TWO64
   if d >= limit or ffi.cast(signed and "int64_t" or "uint64_t", d) ~= n then
      return refuse("%s cannot be stored exactly as a double", shown(n))
   end
   return d
end

local function set_double(self, value)
   local d, why = exact(value)
   if not d then
      return why
   end
   self.d = d
end

-- Returns how many of n bytes fit into the buffer.
local function room(self, n)
   if n > self.max_len then
      local fit = tonumber(C.sb_param_room(self, n))
      if fit < 0 then
         error(("out of memory for a text of %d bytes"):format(n), 3)
      end
      return fit
   end
   return n
end

local function put_text(self, text)
   local n = room(self, #text)
   ffi.copy(self.buffer, text, n)
   self.data_len = n
end

-- Returns the shortest text that converts back to the same number.
local function digits_of(n)
   if n == floor(n) and n > -TWO63 and n < TWO63 then
      return ("%.0f"):format(n)
   end
   for precision = 14, 17 do
      local text = ("%." .. precision .. "g"):format(n)
      if tonumber(text) == n then
         return text
      end
   end
   return tostring(n)
end

local function set_text(self, value)
   if type(value) ~= "string" then
      local n, why = number_of(value)
      if not n then
         return why
      end
      value = type(n) == "number" and digits_of(n) or shown(n)
   end
   put_text(self, value)
end

function param:set_rand_str(format)
   local n = room(self, #format)
   C.sb_random_string(turn.random, format, n, self.buffer)
   self.is_null = 0
   self.data_len = n
end

sb.sql.exact = exact

-- Completes param:set(); value is not nil.
return function(self, value)
   local kind = self.type
   local why
   if kind <= BIGINT then
      why = set_integer(self, value)
   elseif kind <= DOUBLE then
      why = set_double(self, value)
   else
      why = set_text(self, value)
   end
   if why then
      error(why, 3)
   end
   self.is_null = 0
end
