-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Converts the text of a decimal128 to its 16 bytes and back. It consists of a
-- sign, an exponent of ten and a coefficient of up to 34 digits; here the
-- coefficient is four parts of 32 bits, the lowest first.

local ffi = require("ffi")
local decimal = {}

local DIGITS, BIAS, LOWEST, HIGHEST = 34, 6176, -6176, 6111
local WORD = 2 ^ 32
local cell = ffi.new("uint32_t[4]")

local function pack(high, parts)
   for i = 0, 2 do
      cell[i] = parts and parts[i + 1] or 0
   end
   cell[3] = high
   return ffi.string(cell, 16)
end

local function parts_of(digits)
   local parts = { 0, 0, 0, 0 }
   for digit in digits:gmatch("%d") do
      local carry = tonumber(digit)
      for i = 1, 4 do
         local n = parts[i] * 10 + carry
         parts[i], carry = n % WORD, math.floor(n / WORD)
      end
   end
   return parts
end

-- Returns digits and exponent of the same value that both fit, or nil.
local function fit(digits, exponent)
   while (#digits > DIGITS or exponent < LOWEST) and digits:sub(-1) == "0" and
      #digits > 1 do
      digits, exponent = digits:sub(1, -2), exponent + 1
   end
   while exponent > HIGHEST and #digits < DIGITS and digits ~= "0" do
      digits, exponent = digits .. "0", exponent - 1
   end
   if digits == "0" then
      exponent = math.max(LOWEST, math.min(HIGHEST, exponent))
   end
   if #digits <= DIGITS and exponent >= LOWEST and exponent <= HIGHEST then
      return digits, exponent
   end
end

local names = { nan = 0x7c000000, inf = 0x78000000, infinity = 0x78000000 }

-- Returns nil for a text that is not a decimal number, or does not fit.
function decimal.bytes(text)
   local sign, rest = text:match("^([+-]?)(.+)$")
   if not sign then
      return nil
   end
   local high = sign == "-" and 2 ^ 31 or 0
   if names[rest:lower()] then
      return pack(high + names[rest:lower()])
   end
   local mantissa, power = rest:match("^([%d.]+)[eE]([+-]?%d+)$")
   local whole, fraction = (mantissa or rest):match("^(%d*)%.?(%d*)$")
   if not whole or #whole + #fraction == 0 then
      return nil
   end
   local digits = (whole .. fraction):gsub("^0+(.)", "%1")
   local exponent = tonumber(power or 0) - #fraction
   digits, exponent = fit(digits, exponent)
   if not digits then
      return nil
   end
   local parts = parts_of(digits)
   return pack(high + (exponent + BIAS) * 2 ^ 17 + parts[4], parts)
end

local function digits_of(parts)
   local text = ""
   for _ = 1, 9 do
      local rest = 0
      for i = 4, 1, -1 do
         local n = rest * WORD + parts[i]
         parts[i], rest = math.floor(n / 10000), n % 10000
      end
      text = ("%04d"):format(rest) .. text
   end
   text = text:gsub("^0+(.)", "%1")
   return #text <= DIGITS and text or "0"
end

local function spell(digits, exponent)
   local adjusted = exponent + #digits - 1
   if exponent > 0 or adjusted < -6 then
      local text = digits:sub(1, 1)
      if #digits > 1 then
         text = text .. "." .. digits:sub(2)
      end
      return ("%sE%+d"):format(text, adjusted)
   elseif exponent == 0 then
      return digits
   end
   digits = ("0"):rep(1 - exponent - #digits) .. digits
   return digits:sub(1, exponent - 1) .. "." .. digits:sub(exponent)
end

function decimal.text(bytes)
   ffi.copy(cell, bytes, 16)
   local high = cell[3]
   local sign = high >= 2 ^ 31 and "-" or ""
   high = high % 2 ^ 31
   if high >= 0x7c000000 then
      return "NaN"
   elseif high >= 0x78000000 then
      return sign .. "Infinity"
   elseif high >= 0x60000000 then -- a coefficient out of range means zero
      return sign .. spell("0", math.floor(high / 2 ^ 15) % 2 ^ 14 - BIAS)
   end
   local digits = digits_of({ cell[0], cell[1], cell[2], high % 2 ^ 17 })
   return sign .. spell(digits, math.floor(high / 2 ^ 17) - BIAS)
end

return decimal
