-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- iibench: the text of an INSERT of many rows. It is written into a buffer that
-- is reused, so each statement creates only one Lua string.

local purchases = require("sb.purchases")
local rand, C, copy = sysbench.rand, ffi.C, ffi.copy

local Text = {}
Text.__index = Text

-- Maximum number of bytes per row, without its data.
local ROW = 100

local function reserve(self, size)
   if size > self.size then
      self.buffer, self.size = ffi.new("char[?]", size), size
   end
end

-- Writes an integer with at least `min` digits so that it ends before `stop`;
-- returns the position of its first digit.
local function put_digits(buffer, stop, value, min)
   local at = stop
   repeat
      local rest = math.floor(value / 10)
      at = at - 1
      buffer[at] = 48 + (value - rest * 10)
      value = rest
   until value == 0 and stop - at >= min
   return at
end

-- Writes an integer and a character at `at`; returns the position after them.
local function put(self, at, value, mark)
   local scratch = self.scratch
   local from = put_digits(scratch, 24, value, 1)
   copy(self.buffer + at, scratch + from, 24 - from)
   at = at + 24 - from
   self.buffer[at] = mark
   return at + 1
end

local COMMA, QUOTE, POINT, CLOSE = 44, 39, 46, 41

local function put_price(self, at, cents)
   local units = math.floor(cents / 100)
   at = put(self, at, units, POINT)
   put_digits(self.buffer, at + 2, cents - units * 100, 2)
   self.buffer[at + 2], self.buffer[at + 3] = COMMA, QUOTE
   return at + 4
end

-- head: "('2026-01-31 12:00:00',"
local function put_row(self, at, head)
   local opt, buffer = self.opt, self.buffer
   copy(buffer + at, head, #head)
   at = at + #head
   local customer, cents = purchases.customer_and_price(opt)
   at = put(self, at, rand.uniform(0, opt.cashregisters - 1), COMMA)
   at = put(self, at, customer, COMMA)
   at = put(self, at, rand.uniform(0, opt.products - 1), COMMA)
   at = put_price(self, at, cents)
   local format = self.format()
   C.sb_rand_str(format, buffer + at)
   at = at + #format
   buffer[at], buffer[at + 1], buffer[at + 2] = QUOTE, CLOSE, COMMA
   return at + 3
end

-- Returns an INSERT of `rows` new rows, all with the current time.
function Text:insert(name, rows)
   local begin = "INSERT INTO " .. name .. " (" .. purchases.columns ..
      ") VALUES "
   local head = "('" .. os.date("%Y-%m-%d %H:%M:%S") .. "',"
   reserve(self, #begin + rows * (ROW + self.opt.data_length_max))
   copy(self.buffer, begin, #begin)
   local at = #begin
   for _ = 1, rows do
      at = put_row(self, at, head)
   end
   return ffi.string(self.buffer, at - 1) -- without the last comma
end

local M = {}

function M.new(opt)
   return setmetatable({opt = opt, size = 0, scratch = ffi.new("char[24]"),
      format = purchases.data_formats(opt)}, Text)
end

return M
