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

local collections = require("sb.mongodb.collections")

local rand = sysbench.rand

local TAGS = 1000 -- number of different values of tags
local SKUS = 1000 -- of sku
local SET = 20    -- of set

-- Options --------------------------------------------------------------------

local function int(help, default, min, max)
   return {help, default, sysbench.cmdline.ARG_INT, min = min, max = max}
end

sysbench.cmdline.options = collections.options{
   array_size = int("Initial number of elements of tags and items", 10, 1,
      1e5),
   contains = int("Finds of documents by a tag (indexed) per event", 1, 0,
      1e6),
   elem_matches = int("Finds by two fields of an item ($elemMatch) per event",
      1, 0, 1e6),
   pushes = int("$push of a tag per event", 1, 0, 1e6),
   pops = int("$pop of a tag per event", 1, 0, 1e6),
   set_adds = int("$addToSet per event", 1, 0, 1e6),
   positional_updates = int("Updates of an item by the positional operator " ..
      "per event", 1, 0, 1e6),
   filtered_updates = int("Updates of an item by arrayFilters per event", 1,
      0, 1e6),
   limit = int("Maximum number of documents that a find returns", 10, 1, 1e6),
}

-- Collections ----------------------------------------------------------------

local documents = {}

function documents.indexes(n)
   return {{{tags = 1}, {name = "tags_" .. n}},
      {{["items.sku"] = 1}, {name = "sku_" .. n}}}
end

function documents.loader(con, opt, n)
   local arg = sysbench.mongodb.arg
   return collections.loader(con, opt, n, {_id = arg(1), tags = arg(2),
      items = arg(3), set = sysbench.mongodb.array{}, pushed = 0, popped = 0,
      counted = 0})
end

function documents.fill(loader, opt, n, first, last)
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

-- Users ----------------------------------------------------------------------

-- Some servers do not support all operators.
function init()
   local db, opt = collections.open()
   local coll = collections.require_all(db, opt, {"tags", "items", "pushed"})
   if opt.elem_matches > 0 then
      collections.require_operator(db,
         "find by several fields of an element ($elemMatch)",
         "--elem-matches=0", function()
            coll:find_one({items = {["$elemMatch"] =
               {sku = -1, qty = {["$gte"] = 0}}}})
         end)
   end
   if opt.filtered_updates > 0 then
      collections.require_operator(db, "update by arrayFilters",
         "--filtered-updates=0", function()
            coll:update_one({_id = -1},
               {["$inc"] = {["items.$[e].qty"] = 1}},
               {array_filters = {{["e.n"] = 1}}})
         end)
   end
   db:disconnect()
end

local db, opt
local commands -- compiled, by collection

local function compile(coll)
   local arg = sysbench.mongodb.arg
   return {
      contains = coll:compile("find", {tags = arg(1)},
         {projection = {tags = 1}, limit = opt.limit, op = "contains"}),
      elem_matches = coll:compile("find", {items = {["$elemMatch"] =
         {sku = arg(1), qty = {["$gte"] = 0}}}},
         {projection = {items = 1}, limit = opt.limit, op = "elem_matches"}),
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

function thread_init()
   db, opt = collections.open()
   commands = collections.per_collection(db, opt, compile)
end

local function draw_id()
   return collections.draw_id(opt)
end

function event()
   local command = commands[rand.uniform(1, opt.tables)]
   for _ = 1, opt.contains do
      command.contains:execute(rand.uniform(1, TAGS))
   end
   for _ = 1, opt.elem_matches do
      command.elem_matches:execute(rand.uniform(1, SKUS))
   end
   for _ = 1, opt.pushes do
      command.pushes:execute(draw_id(), rand.uniform(1, TAGS))
   end
   for _ = 1, opt.pops do
      command.pops:execute(draw_id())
   end
   for _ = 1, opt.set_adds do
      command.set_adds:execute(draw_id(), rand.uniform(1, SET))
   end
   for _ = 1, opt.positional_updates do
      command.positional_updates:execute(draw_id(),
         rand.uniform(1, opt.array_size))
   end
   for _ = 1, opt.filtered_updates do
      command.filtered_updates:execute(draw_id(),
         rand.uniform(1, opt.array_size))
   end
end

function thread_done()
   db:disconnect()
end

-- Check ----------------------------------------------------------------------

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

function documents.wrong(doc, opt)
   local tags = opt.array_size + doc.pushed - doc.popped
   if #doc.tags ~= tags then
      return string.format("it has %d tags, expected %d + %d pushed - %d " ..
         "popped", #doc.tags, opt.array_size, doc.pushed, doc.popped)
   end
   return collections.wrong_items(doc, opt, "qty", doc.counted) or
      wrong_set(doc)
end

collections.declare_commands(collections.describe(documents))
