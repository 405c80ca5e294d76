-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- mongodb/arrays: its options and commands. The documents are
--
--    {_id, tags: [int], pushed, popped, set: [int],
--     items: [{n: 1, sku, qty}, ...], counted}
--
-- where the number of tags is --array-size + pushed - popped, the values of set
-- are unique, and counted is the sum of qty.

local M = {
   TAGS = 1000, -- number of different values of tags
   SKUS = 1000, -- of sku
   SET = 20,    -- of set
}

function M.options(kind)
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

M.bounds = {array_size = {1, 1e5}, contains = some, elem_matches = some,
   pushes = some, pops = some, set_adds = some, positional_updates = some,
   filtered_updates = some, limit = {1, 1e6}}

-- Operators that some servers do not support.
function M.needs(opt)
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
function M.compile(coll)
   local arg, limit = sysbench.mongodb.arg, sysbench.opt.limit
   local ops = updates(coll)
   ops.contains = coll:compile("find", {tags = arg(1)},
      {projection = {tags = 1}, limit = limit, op = "contains"})
   ops.elem_matches = coll:compile("find", {items = {["$elemMatch"] =
      {sku = arg(1), qty = {["$gte"] = arg(2)}}}},
      {projection = {items = 1}, limit = limit, op = "elem_matches"})
   return ops
end

return M
