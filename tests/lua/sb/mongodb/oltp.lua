-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The OLTP mixes on documents. Each script selects the parts of its events:
-- reads, ranges and writes.

local mix = require("sb.mongodb.mix")
local workload = require("sb.mongodb.workload")

-- Declares the hooks of a user.
local function declare_user(parts)
   workload.declare{
      open = function(db, opt)
         return {db = db, opt = opt, mix = mix.new(db, opt)}
      end,

      event = function(self, n)
         local m, opt = self.mix, self.opt
         if opt.transactions then
            self.db:start_transaction()
         end
         if parts.reads then
            m:points(n)
         end
         if parts.ranges then
            m:ranges(n)
         end
         if parts.writes and not opt.read_only then
            m:writes(n)
         end
         if opt.transactions then
            self.db:commit()
         end
      end,
   }
end

if sysbench.cmdline.run_state then
   return {declare = declare_user} -- the rest is for commands
end

local commands = require("sb.mongodb.commands")

local reads = {
   point_selects = {"Reads of a document by its id per transaction", 10},
}
local ranges = {
   simple_ranges = {"Reads of a range of ids per transaction", 1},
   sum_ranges = {"Sums of k over a range per transaction", 1},
   order_ranges = {"Reads of a range, sorted by c, per transaction", 1},
   distinct_ranges = {"Reads of the distinct values of c of a range per " ..
      "transaction", 1},
   range_size = {"Number of ids in a range", 100},
}
local writes = {
   index_updates = {"Increments of the indexed field k per transaction", 1},
   non_index_updates = {"Updates of c per transaction", 1},
   inserts = {"Documents replaced, or inserted if missing, per transaction",
      1},
}

local function add(kind, options, list)
   for name, o in pairs(list) do
      options[name] = kind.int(o[1], o[2])
   end
end

-- parts: the parts that the events have, of reads, ranges and writes.
local function options(parts)
   return function(kind)
      local list = {}
      for part, own in pairs{reads = reads, ranges = ranges,
         writes = writes} do
         if parts[part] then
            add(kind, list, own)
         end
      end
      if parts.writes then
         list.transactions = kind.bool("Execute each event in a transaction",
            false)
         list.read_only = kind.bool("Do not execute writes", false)
      end
      list.auto_inc = kind.bool("Ignored: the client always chooses the ids",
         true)
      return list
   end
end

local function bounds(parts)
   local list = {}
   for part, own in pairs{reads = reads, ranges = ranges, writes = writes} do
      for name in pairs(parts[part] and own or {}) do
         list[name] = {name == "range_size" and 1 or 0, 2147483647}
      end
   end
   return list
end

local M = {}

function M.declare(parts)
   declare_user(parts)
   commands.declare{
      options = options(parts),
      bounds = bounds(parts),
      needs = commands.need_transactions,
   }
end

return M
