#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- $unionWith: reads and sums ranges over two collections, a random one and the
-- next.

local workload = require("sb.mongodb.workload")
local schema = require("sb.schema")

local function range()
   local arg = sysbench.mongodb.arg
   return {["$match"] = {_id = {["$gte"] = arg(1), ["$lte"] = arg(2)}}}
end

-- The pipeline that unites a range of both collections, followed by the stages
-- given.
local function both(other, ...)
   return {range(), {["$unionWith"] = {coll = other, pipeline = {range()}}},
      ...}
end

workload.declare{
   open = function(db, opt)
      local ops = {}
      for n = 1, opt.tables do
         local coll = db:collection(schema.name(opt, n))
         local other = schema.name(opt, n % opt.tables + 1)
         ops[n] = {
            unions = coll:compile("aggregate", both(other,
               {["$project"] = {c = 1}}, {["$sort"] = {c = 1}}),
               {op = "unions"}),
            union_sums = coll:compile("aggregate", both(other,
               {["$group"] = {_id = sysbench.mongodb.null,
                  total = {["$sum"] = "$k"}}}), {op = "union_sums"}),
         }
      end
      return {opt = opt, ops = ops}
   end,

   event = function(self, n)
      local opt, ops = self.opt, self.ops[n]
      for _ = 1, opt.unions do
         local id = workload.id(opt)
         ops.unions:execute(id, id + opt.range_size - 1)
      end
      for _ = 1, opt.union_sums do
         local id = workload.id(opt)
         ops.union_sums:execute(id, id + opt.range_size - 1)
      end
   end,
}

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

local some = {0, 1e6}

-- Also counts the documents of the union of two whole collections.
local function check_more(coll, opt, n)
   local other = schema.name(opt, n % opt.tables + 1)
   local groups = coll:aggregate({{["$unionWith"] = {coll = other}},
      {["$group"] = {_id = sysbench.mongodb.null, n = {["$sum"] = 1}}}}):all()
   local count = groups[1] and groups[1].n or 0
   if count ~= 2 * opt.table_size then
      error(string.format("the union of %s and %s has %d documents, " ..
         "expected %d", schema.name(opt, n), other, count,
         2 * opt.table_size), 0)
   end
end

require("sb.mongodb.commands").declare{
   bounds = {range_size = {1, 2147483647}, unions = some, union_sums = some},

   options = function(kind)
      return {
         tables = kind.int("Number of collections, at least 2", 2),
         range_size = kind.int("Number of ids in a range", 100),
         unions = kind.int("Reads of a range of two collections, sorted by " ..
            "c, per event", 1),
         union_sums = kind.int("Sums of k over a range of two collections " ..
            "per event", 1),
      }
   end,

   check_options = function(opt)
      if opt.tables < 2 then
         error("--tables must be at least 2: a union needs two collections", 0)
      end
   end,

   needs = function()
      return {{name = "unite collections ($unionWith)",
         try = function(coll)
            coll:aggregate({{["$match"] = {_id = -1}},
               {["$unionWith"] = {coll = coll.name,
                  pipeline = {{["$match"] = {_id = -1}}}}}})
         end}}
   end,

   collections = {check_more = check_more},
}
