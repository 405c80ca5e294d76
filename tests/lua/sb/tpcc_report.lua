-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- tpcc: the lines of its reports. The users of a run never load this.

local tpcc = require("sb.tpcc")

local M = {}

local function per_minute(stat)
   local m = stat.metrics.new_orders
   local n = m and m.sum or 0
   return stat.time_interval > 0 and n * 60 / stat.time_interval or 0
end

-- Returns the line of a kind of transaction, or nil if there was none.
local function line_of(t, op, all)
   if not op or op.count == 0 then
      return nil
   end
   local share, p90 = 100 * op.count / all, op.percentile(90)
   local kept = p90 <= t.limit and "yes" or "no"
   return string.format("%-14s %10.0f %8.2f %6s %10.3f %10.3f %10.3f %8.0f " ..
      "%5s", t.name, op.count, share, t.share and ">= " .. t.share or "",
      op.avg * 1000, p90 * 1000, op.max * 1000, t.limit * 1000, kept)
end

-- Returns the kinds of transactions that missed their share or their limit.
local function missed(operations, all)
   local list = {}
   for _, t in ipairs(tpcc.transactions) do
      local op = operations[t.name]
      local count = op and op.count or 0
      if t.share and all > 0 and 100 * count / all < t.share then
         list[#list + 1] = "share of " .. t.name
      end
      if count > 0 and op.percentile(90) > t.limit then
         list[#list + 1] = "limit of " .. t.name
      end
   end
   return list
end

-- Returns the words about how statements were sent.
local function how_sent()
   local d = require("sb.dialect").of(sysbench.sql.driver())
   if not sysbench.opt.pipeline then
      return "one by one (--pipeline=off)"
   elseif not d.pipelines then
      return "one by one (this database has no pipelines)"
   end
   return "sent together (--pipeline)"
end

local function final_report(stat)
   local operations, all = stat.operations or {}, 0
   local list = {string.format("%-14s %10s %8s %6s %10s %10s %10s %8s %5s",
      "Transaction", "count", "share %", "spec", "avg ms", "90% ms", "max ms",
      "limit", "kept")}
   for _, t in ipairs(tpcc.transactions) do
      all = all + (operations[t.name] and operations[t.name].count or 0)
   end
   for _, t in ipairs(tpcc.transactions) do
      list[#list + 1] = line_of(t, operations[t.name], all)
   end
   local not_kept = missed(operations, all)
   list[#list + 1] = "Minimum shares and limits: " .. (#not_kept == 0 and
      "kept" or "missed the " .. table.concat(not_kept, ", the "))
   list[#list + 1] = "Statements: " .. how_sent()
   local metrics = stat.metrics
   local orders = metrics.new_orders and metrics.new_orders.sum or 0
   local back = metrics.rolled_back and metrics.rolled_back.sum or 0
   list[#list + 1] = string.format("New orders/min: %.2f (%.0f, of which " ..
      "%.0f, %.2f %%, were rolled back as specified)", per_minute(stat),
      orders, back, orders > 0 and 100 * back / orders or 0)
   list[#list + 1] = "This is not a TPC-C result, which needs an audit."
   return table.concat(list, "\n")
end

-- Returns the line for an interval or the text for the final report.
function M.line(stat, final)
   return final and final_report(stat) or
      string.format("new orders/min: %.2f", per_minute(stat))
end

return M
