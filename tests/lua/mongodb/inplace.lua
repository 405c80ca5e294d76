#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Updates in place by operators: $inc, $set, $push with $slice, $min and $max,
-- arrayFilters. Each document counts its updates, so check finds updates that
-- were lost or only partly applied. The documents are
--
--    {_id, n, n_log, c, c_twin, list: [int], pushes, first, low, high,
--     items: [{n: 1, v}, ...], v_log}
--
-- where n equals n_log, c equals c_twin, list has the last --list-size of
-- `pushes` values, first is between low and high, and v_log is the sum of v.

local schema = require("sb.schema")
local workload = require("sb.mongodb.workload")

local VALUES = 1000000 -- values of list, low and high: 1 to VALUES

-- Compiles the commands for a collection.
local function compile(coll)
   local arg, opt = sysbench.mongodb.arg, sysbench.opt
   local by_id = {_id = arg(1)}
   return {
      incs = coll:compile("update_one", by_id,
         {["$inc"] = {n = arg(2), n_log = arg(3)}}, {op = "incs"}),
      sets = coll:compile("update_one", by_id,
         {["$set"] = {c = arg(2), c_twin = arg(2)}}, {op = "sets"}),
      pushes = coll:compile("update_one", by_id,
         {["$push"] = {list = {["$each"] = {arg(2)},
            ["$slice"] = -opt.list_size}}, ["$inc"] = {pushes = 1}},
         {op = "pushes"}),
      bounds = coll:compile("update_one", by_id,
         {["$min"] = {low = arg(2)}, ["$max"] = {high = arg(3)}},
         {op = "bounds"}),
      filtered_updates = coll:compile("update_one", by_id,
         {["$inc"] = {["items.$[e].v"] = 1, v_log = 1}},
         {array_filters = {{["e.n"] = arg(2)}}, op = "filtered_updates"}),
   }
end

workload.declare{
   open = function(db, opt)
      return {opt = opt, ops = workload.per_collection(db, opt, compile)}
   end,

   event = function(self, n)
      local opt, ops, rand = self.opt, self.ops[n], sysbench.rand
      local id = workload.id
      for _ = 1, opt.incs do
         local by = rand.uniform(1, 10)
         ops.incs:execute(id(opt), by, by)
      end
      for _ = 1, opt.sets do
         ops.sets:execute(id(opt), rand.string(schema.c_format))
      end
      for _ = 1, opt.pushes do
         ops.pushes:execute(id(opt), rand.uniform(1, VALUES))
      end
      for _ = 1, opt.bounds do
         local v = rand.uniform(1, VALUES)
         ops.bounds:execute(id(opt), v, v)
      end
      for _ = 1, opt.filtered_updates do
         ops.filtered_updates:execute(id(opt),
            rand.uniform(1, opt.array_size))
      end
   end,
}

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

local collections = require("sb.mongodb.documents")

-- Options --------------------------------------------------------------------

local function options(kind)
   return {
      list_size = kind.int("Number of elements that $slice keeps in the list",
         10),
      array_size = kind.int("Number of elements of items", 10),
      incs = kind.int("$inc of two fields per event", 1),
      sets = kind.int("$set of two strings per event", 1),
      pushes = kind.int("$push with $slice per event", 1),
      bounds = kind.int("$min and $max per event", 1),
      filtered_updates = kind.int("Updates of an item by arrayFilters per " ..
         "event", 1),
   }
end

local some = {0, 1e6}

local bounds = {list_size = {1, 1e5}, array_size = {1, 1e5}, incs = some,
   sets = some, pushes = some, bounds = some, filtered_updates = some}

-- Operators that some servers do not support.
local function needs(opt)
   local list = {}
   if opt.filtered_updates > 0 then
      list[#list + 1] = {name = "update by arrayFilters",
         without = "--filtered-updates=0",
         try = function(coll)
            coll:update_one({_id = -1}, {["$inc"] = {["items.$[e].v"] = 1}},
               {array_filters = {{["e.n"] = 1}}})
         end}
   end
   if opt.pushes > 0 then
      list[#list + 1] = {name = "push with $slice", without = "--pushes=0",
         try = function(coll)
            local id = sysbench.mongodb.objectid() -- used by no other document
            coll:update_one({_id = id}, {["$push"] = {list =
               {["$each"] = {1, 2}, ["$slice"] = -1}}}, {upsert = true})
            local kept = coll:find_one({_id = id}).list
            coll:delete_one({_id = id})
            if #kept ~= 1 then
               error("it does not remove any values", 0)
            end
         end}
   end
   return list
end

-- Collections ----------------------------------------------------------------

local own = {}

function own.indexes()
   return {}
end

function own.loader(con, opt, n)
   local mongodb = sysbench.mongodb
   local arg = mongodb.arg
   local items = {}
   for i = 1, opt.array_size do
      items[i] = {n = i, v = 0}
   end
   return collections.documents(con, opt, n, {_id = arg(1), c = arg(2),
      c_twin = arg(2), first = arg(3), low = arg(3), high = arg(3),
      items = items, list = mongodb.array{}, n = 0, n_log = 0, pushes = 0,
      v_log = 0})
end

function own.fill(loader, _, n, first, last)
   local rand = sysbench.rand
   for id = first, last do
      rand.row(n, id)
      loader:put(id, rand.string(schema.c_format),
         rand.uniform(1, VALUES))
   end
   rand.resume()
end

local function wrong_list(doc, opt)
   local length = math.min(doc.pushes, opt.list_size)
   if #doc.list ~= length then
      return string.format("it has %d values in its list, expected %d",
         #doc.list, length)
   end
end

function own.wrong(doc, opt)
   if doc.n ~= doc.n_log then
      return string.format("n is %d, but n_log is %d", doc.n, doc.n_log)
   elseif doc.c ~= doc.c_twin then
      return "c and c_twin differ"
   elseif #doc.c ~= #schema.c_format then
      return "c is not a string of " .. #schema.c_format .. " characters"
   elseif doc.low > doc.first or doc.high < doc.first then
      return string.format("first is %d, not between low (%d) and high (%d)",
         doc.first, doc.low, doc.high)
   end
   return wrong_list(doc, opt) or
      collections.wrong_items(doc, opt, "v", doc.v_log)
end

require("sb.mongodb.commands").declare{
   options = options,
   bounds = bounds,
   fields = {"items", "list", "n_log"},
   needs = needs,
   collections = own,
}
