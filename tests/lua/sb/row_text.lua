-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Writes the text of INSERTs into a buffer that is reused, so that each
-- statement creates only one Lua string. The functions write at a position and
-- return the position after it.

ffi.cdef("int sb_decimal(char *out, double value, int digits);")

local C, copy = ffi.C, ffi.copy
local floor = math.floor

local M = {}

local buffer
local buffer_size = 0

local QUOTE, POINT = 39, 46

-- Makes room for a text of `size` bytes. To be called before it is written.
function M.reserve(size)
   if size > buffer_size then
      buffer, buffer_size = ffi.new("char[?]", size), size
   end
end

-- Returns the first `length` bytes of the text.
function M.get(length)
   return ffi.string(buffer, length)
end

local function put_char(at, char)
   buffer[at] = char
   return at + 1
end

-- Writes an integer from 0 with at least `min` digits.
local function put_digits(at, value, min)
   return at + C.sb_decimal(buffer + at, value, min)
end

M.char = put_char

function M.text(at, text)
   copy(buffer + at, text, #text)
   return at + #text
end

-- Writes an integer from 0 and a character.
function M.integer(at, value, char)
   return put_char(put_digits(at, value, 1), char)
end

-- Writes a number of hundredths from 0, such as 1.05, and a character.
function M.hundredths(at, value, char)
   local units = floor(value / 100)
   at = put_char(put_digits(at, units, 1), POINT)
   return put_char(put_digits(at, value - units * 100, 2), char)
end

-- Writes a random text in quotes.
function M.random(at, format)
   at = put_char(at, QUOTE)
   C.sb_rand_str(format, buffer + at)
   return put_char(at + #format, QUOTE)
end

return M
