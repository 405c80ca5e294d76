-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- iibench: the text of its INSERTs.

local iibench = require("sb.iibench")
local out = require("sb.row_text")
local rand = sysbench.rand

local M = {}

-- Maximum number of bytes per row, without its data.
local ROW = 100

local COMMA, CLOSE = 44, 41

-- head: "('2026-01-31 12:00:00',"
local function put_row(opt, at, head, format)
   at = out.text(at, head)
   local customer, cents = iibench.customer_and_price(opt)
   at = out.integer(at, rand.uniform(0, opt.cashregisters - 1), COMMA)
   at = out.integer(at, customer, COMMA)
   at = out.integer(at, rand.uniform(0, opt.products - 1), COMMA)
   at = out.hundredths(at, cents, COMMA)
   at = out.random(at, format)
   return out.char(out.char(at, CLOSE), COMMA)
end

-- Returns a function (name, rows) that returns an INSERT of new rows, all with
-- the current time.
function M.new(opt)
   local next_format = iibench.data_formats(opt)
   return function(name, rows)
      local first = "INSERT INTO " .. name .. " (" .. iibench.columns ..
         ") VALUES "
      local head = "('" .. os.date("%Y-%m-%d %H:%M:%S") .. "',"
      out.reserve(#first + rows * (ROW + opt.data_length_max))
      local at = out.text(0, first)
      for _ = 1, rows do
         at = put_row(opt, at, head, next_format())
      end
      return out.get(at - 1) -- without the last comma
   end
end

return M
