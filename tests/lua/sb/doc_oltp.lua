-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The OLTP mixes on documents: which parts an event has is the script's.

local M = {}

local reads = {
   point_selects = {"Reads of a document by its id per transaction", 10},
}
local ranges = {
   simple_ranges = {"Reads of a range of ids per transaction", 1},
   sum_ranges = {"Sums of k over a range per transaction", 1},
   order_ranges = {"Reads of a range, sorted by c, per transaction", 1},
   distinct_ranges = {"Distinct values of c of a range per transaction", 1},
   range_size = {"Ids in a range", 100},
}
local writes = {
   index_updates = {"Additions to the indexed k per transaction", 1},
   non_index_updates = {"Updates of c per transaction", 1},
   inserts = {"Documents replaced, or inserted if missing, per transaction",
      1},
}

local function add(kind, options, list)
   for name, o in pairs(list) do
      options[name] = kind.int(o[1], o[2])
   end
end

-- parts: reads, ranges, writes: which the events have. read_only: --read-only
-- leaves the writes out.
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
         list.transactions = kind.bool("A transaction of the server around " ..
            "each event", false)
         list.read_only = kind.bool("Leave out all writes", false)
      end
      list.auto_inc = kind.bool("Accepted for old command lines; ids are " ..
         "the client's", true)
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

local function needs(opt)
   if not opt.transactions then
      return {}
   end
   return {{name = "run transactions", without = "--transactions=off",
      try = function(coll)
         coll.db:transaction(function()
            coll:find_one({_id = -1})
         end)
      end}}
end

function M.declare(parts)
   require("sb.doc_workload").declare{
      options = options(parts),
      bounds = bounds(parts),
      commands = "sb.doc_oltp_commands",
      needs = needs,

      open = function(db, opt)
         return {db = db, opt = opt,
            mix = require("sb.doc_mix").new(db, opt)}
      end,

      event = function(self, n)
         local mix, opt = self.mix, self.opt
         if opt.transactions then
            self.db:start_transaction()
         end
         if parts.reads then
            mix:points(n)
         end
         if parts.ranges then
            mix:ranges(n)
         end
         if parts.writes and not opt.read_only then
            mix:writes(n)
         end
         if opt.transactions then
            self.db:commit()
         end
      end,
   }
end

return M
