-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Parameters of prepared statements: values that are no integers.

local sb = ...
local ffi, C = sb.ffi, sb.C
local param = sb.sql.param

assert(sb.sysbench.rand) -- declares sb_random_string()
local random = sb.random_ptr
local BIGINT, DOUBLE = 4, 6

local function number_of(value)
   local kind = type(value)
   if kind == "number" or kind == "cdata" then
      return value
   elseif kind == "boolean" then
      return value and 1 or 0
   end
   local n = tonumber(value)
   if not n then
      error("not a number: " .. tostring(value), 4)
   end
   return n
end

local function set_text(self, text)
   local n = math.min(#text, tonumber(self.max_len))
   ffi.copy(self.buffer, text, n)
   self.data_len = n
end

local function as_text(value)
   if type(value) == "boolean" then
      return value and "1" or "0"
   elseif type(value) == "cdata" then
      return (tostring(value):gsub("U?LL$", ""))
   end
   return tostring(value)
end

function param:set_rand_str(format)
   local n = math.min(#format, tonumber(self.max_len))
   C.sb_random_string(random, format, n, self.buffer)
   self.is_null = 0
   self.data_len = n
end

-- The rest of param:set(); value is not nil.
return function(self, value)
   local kind = self.type
   if kind <= BIGINT then
      self.i = number_of(value)
   elseif kind <= DOUBLE then
      self.d = tonumber(number_of(value))
   elseif type(value) == "string" then
      set_text(self, value)
   else
      set_text(self, as_text(value))
   end
end
