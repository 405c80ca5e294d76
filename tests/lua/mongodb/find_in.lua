#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- $in: reads or updates many documents with one command, by their ids or by
-- values of the indexed field k.

local workload = require("sb.mongodb.workload")

local function draw(list, opt)
   for i = 1, opt.in_size do
      list[i] = workload.id(opt)
   end
end

local function verify(list, found)
   local seen, different = {}, 0
   for _, v in ipairs(list) do
      different = different + (seen[v] and 0 or 1)
      seen[v] = true
   end
   if found ~= different then
      error(string.format("the command matched %d documents, but its list " ..
         "has %d different ids", found, different), 0)
   end
end

workload.declare{
   open = function(db, opt)
      local arg = sysbench.mongodb.arg
      local ids, ks = {_id = {["$in"] = arg(1)}}, {k = {["$in"] = arg(1)}}
      return {opt = opt, list = {},
         ops = workload.per_collection(db, opt, function(coll)
            return {
               ids = coll:compile("find", ids,
                  {projection = {c = 1, _id = 0}, op = "in_selects"}),
               ks = coll:compile("find", ks, {projection = {c = 1, _id = 0},
                  limit = opt.limit, op = "in_k_selects"}),
               updates = coll:compile("update_many", ids,
                  {["$inc"] = {k = 1}}, {op = "in_updates"}),
            }
         end)}
   end,

   event = function(self, n)
      local opt, ops, list = self.opt, self.ops[n], self.list
      for _ = 1, opt.in_selects do
         draw(list, opt)
         local found = ops.ids:execute(list)
         if opt.verify then
            verify(list, found:count())
         end
      end
      for _ = 1, opt.in_k_selects do
         draw(list, opt)
         ops.ks:execute(list)
      end
      for _ = 1, opt.in_updates do
         draw(list, opt)
         local done = ops.updates:execute(list)
         if opt.verify then
            verify(list, done.matched)
         end
      end
   end,
}

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

local some = {0, 1e6}

require("sb.mongodb.commands").declare{
   bounds = {in_size = {1, 1e5}, in_selects = some, in_k_selects = some,
      in_updates = some, limit = {1, 1e6}},

   options = function(kind)
      return {
         in_size = kind.int("Number of values in a list", 10),
         in_selects = kind.int("Finds by a list of ids per event", 10),
         in_k_selects = kind.int("Finds by a list of values of k per event", 1),
         in_updates = kind.int("Updates by a list of ids per event", 1),
         limit = kind.int("Maximum number of documents that a find by k " ..
            "returns", 100),
         verify = kind.bool("Compare the size of each result with the " ..
            "number of different ids in its list", false),
      }
   end,
}
