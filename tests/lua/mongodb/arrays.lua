#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Documents with arrays: pushes, pops and adds elements to sets, updates
-- elements in place and searches for them. Each document counts its updates, so
-- check finds updates that were lost or only partly applied. The documents are
--
--    {_id, tags: [int], pushed, popped, set: [int],
--     items: [{n: 1, sku, qty}, ...], counted}
--
-- where the number of tags is --array-size + pushed - popped, the values of set
-- are unique, and counted is the sum of qty.

local workload = require("sb.mongodb.workload")

local TAGS = 1000 -- number of different values of tags
local SKUS = 1000 -- of sku
local SET = 20    -- of set

local function updates(coll)
   local arg = sysbench.mongodb.arg
   return {
      pushes = coll:compile("update_one", {_id = arg(1)},
         {["$push"] = {tags = arg(2)}, ["$inc"] = {pushed = 1}},
         {op = "pushes"}),
      pops = coll:compile("update_one",
         {_id = arg(1), ["tags.0"] = {["$exists"] = true}},
         {["$pop"] = {tags = -1}, ["$inc"] = {popped = 1}}, {op = "pops"}),
      set_adds = coll:compile("update_one", {_id = arg(1)},
         {["$addToSet"] = {set = arg(2)}}, {op = "set_adds"}),
      positional_updates = coll:compile("update_one",
         {_id = arg(1), ["items.n"] = arg(2)},
         {["$inc"] = {["items.$.qty"] = 1, counted = 1}},
         {op = "positional_updates"}),
      filtered_updates = coll:compile("update_one", {_id = arg(1)},
         {["$inc"] = {["items.$[e].qty"] = 1, counted = 1}},
         {array_filters = {{["e.n"] = arg(2)}}, op = "filtered_updates"}),
   }
end

-- Compiles the commands for a collection.
local function compile(coll)
   local arg, limit = sysbench.mongodb.arg, sysbench.opt.limit
   local ops = updates(coll)
   ops.contains = coll:compile("find", {tags = arg(1)},
      {projection = {tags = 1}, limit = limit, op = "contains"})
   ops.elem_matches = coll:compile("find", {items = {["$elemMatch"] =
      {sku = arg(1), qty = {["$gte"] = arg(2)}}}},
      {projection = {items = 1}, limit = limit, op = "elem_matches"})
   return ops
end

workload.declare{
   open = function(db, opt)
      return {opt = opt, ops = workload.per_collection(db, opt, compile)}
   end,

   event = function(self, n)
      local opt, ops, rand = self.opt, self.ops[n], sysbench.rand
      local id, size = workload.id, opt.array_size
      for _ = 1, opt.contains do
         ops.contains:execute(rand.uniform(1, TAGS))
      end
      for _ = 1, opt.elem_matches do
         ops.elem_matches:execute(rand.uniform(1, SKUS), 0)
      end
      for _ = 1, opt.pushes do
         ops.pushes:execute(id(opt), rand.uniform(1, TAGS))
      end
      for _ = 1, opt.pops do
         ops.pops:execute(id(opt))
      end
      for _ = 1, opt.set_adds do
         ops.set_adds:execute(id(opt), rand.uniform(1, SET))
      end
      for _ = 1, opt.positional_updates do
         ops.positional_updates:execute(id(opt), rand.uniform(1, size))
      end
      for _ = 1, opt.filtered_updates do
         ops.filtered_updates:execute(id(opt), rand.uniform(1, size))
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
      array_size = kind.int("Initial number of elements of tags and items",
         10),
      contains = kind.int("Finds of documents by a tag (indexed) per event", 1),
      elem_matches = kind.int("Finds by two fields of an item ($elemMatch) " ..
         "per event", 1),
      pushes = kind.int("$push of a tag per event", 1),
      pops = kind.int("$pop of a tag per event", 1),
      set_adds = kind.int("$addToSet per event", 1),
      positional_updates = kind.int("Updates of an item by the positional " ..
         "operator per event", 1),
      filtered_updates = kind.int("Updates of an item by arrayFilters per " ..
         "event", 1),
      limit = kind.int("Maximum number of documents that a find returns", 10),
   }
end

local some = {0, 1e6}

local bounds = {array_size = {1, 1e5}, contains = some, elem_matches = some,
   pushes = some, pops = some, set_adds = some, positional_updates = some,
   filtered_updates = some, limit = {1, 1e6}}

-- Operators that some servers do not support.
local function needs(opt)
   local list = {}
   if opt.elem_matches > 0 then
      list[1] = {name = "find by several fields of an element ($elemMatch)",
         without = "--elem-matches=0",
         try = function(coll)
            coll:find_one({items = {["$elemMatch"] =
               {sku = -1, qty = {["$gte"] = 0}}}})
         end}
   end
   if opt.filtered_updates > 0 then
      list[#list + 1] = {name = "update by arrayFilters",
         without = "--filtered-updates=0",
         try = function(coll)
            coll:update_one({_id = -1},
               {["$inc"] = {["items.$[e].qty"] = 1}},
               {array_filters = {{["e.n"] = 1}}})
         end}
   end
   return list
end

-- Collections ----------------------------------------------------------------

local own = {}

function own.indexes(_, n)
   return {{{tags = 1}, {name = "tags_" .. n}},
      {{["items.sku"] = 1}, {name = "sku_" .. n}}}
end

function own.loader(con, opt, n)
   local mongodb = sysbench.mongodb
   return collections.documents(con, opt, n, {_id = mongodb.arg(1),
      tags = mongodb.arg(2), items = mongodb.arg(3), set = mongodb.array{},
      pushed = 0, popped = 0, counted = 0})
end

function own.fill(loader, opt, n, first, last)
   local rand = sysbench.rand
   for id = first, last do
      local tags, items = {}, {}
      rand.row(n, id)
      for i = 1, opt.array_size do
         tags[i] = rand.uniform(1, TAGS)
         items[i] = {n = i, sku = rand.uniform(1, SKUS), qty = 0}
      end
      loader:put(id, tags, items)
   end
   rand.resume()
end

local function wrong_set(doc)
   local seen = {}
   for _, v in ipairs(doc.set) do
      if seen[v] then
         return "its set has the value " .. v .. " twice"
      elseif v < 1 or v > SET then
         return "its set has the invalid value " .. v
      end
      seen[v] = true
   end
end

function own.wrong(doc, opt)
   local tags = opt.array_size + doc.pushed - doc.popped
   if #doc.tags ~= tags then
      return string.format("it has %d tags, expected %d + %d pushed - %d " ..
         "popped", #doc.tags, opt.array_size, doc.pushed, doc.popped)
   end
   return collections.wrong_items(doc, opt, "qty", doc.counted) or
      wrong_set(doc)
end

require("sb.mongodb.commands").declare{
   options = options,
   bounds = bounds,
   fields = {"tags", "items", "pushed"},
   needs = needs,
   collections = own,
}
