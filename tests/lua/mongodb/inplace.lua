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

local collections = require("sb.mongodb.collections")

local rand = sysbench.rand

local VALUES = 1000000 -- values of list, low and high: 1 to VALUES

-- Options --------------------------------------------------------------------

local function int(help, default, min, max)
   return {help, default, sysbench.cmdline.ARG_INT, min = min, max = max}
end

sysbench.cmdline.options = collections.options{
   list_size = int("Number of elements that $slice keeps in the list", 10, 1,
      1e5),
   array_size = int("Number of elements of items", 10, 1, 1e5),
   incs = int("$inc of two fields per event", 1, 0, 1e6),
   sets = int("$set of two strings per event", 1, 0, 1e6),
   pushes = int("$push with $slice per event", 1, 0, 1e6),
   bounds = int("$min and $max per event", 1, 0, 1e6),
   filtered_updates = int("Updates of an item by arrayFilters per event", 1,
      0, 1e6),
}

-- Collections ----------------------------------------------------------------

local documents = {}

function documents.indexes()
   return {}
end

function documents.loader(con, opt, n)
   local arg, items = sysbench.mongodb.arg, {}
   for i = 1, opt.array_size do
      items[i] = {n = i, v = 0}
   end
   return collections.loader(con, opt, n, {_id = arg(1), c = arg(2),
      c_twin = arg(2), first = arg(3), low = arg(3), high = arg(3),
      items = items, list = sysbench.mongodb.array{}, n = 0, n_log = 0,
      pushes = 0, v_log = 0})
end

function documents.fill(loader, _, n, first, last)
   for id = first, last do
      rand.row(n, id)
      loader:put(id, rand.string(collections.c_format),
         rand.uniform(1, VALUES))
   end
   rand.resume()
end

-- Users ----------------------------------------------------------------------

local function try_slice(coll)
   local id = sysbench.mongodb.objectid() -- used by no other document
   coll:update_one({_id = id}, {["$push"] = {list =
      {["$each"] = {1, 2}, ["$slice"] = -1}}}, {upsert = true})
   local kept = coll:find_one({_id = id}).list
   coll:delete_one({_id = id})
   if #kept ~= 1 then
      error("it does not remove any values", 0)
   end
end

-- Some servers do not support all operators.
function init()
   local db, opt = collections.open()
   local coll = collections.require_all(db, opt, {"items", "list", "n_log"})
   if opt.filtered_updates > 0 then
      collections.require_operator(db, "update by arrayFilters",
         "--filtered-updates=0", function()
            coll:update_one({_id = -1}, {["$inc"] = {["items.$[e].v"] = 1}},
               {array_filters = {{["e.n"] = 1}}})
         end)
   end
   if opt.pushes > 0 then
      collections.require_operator(db, "push with $slice", "--pushes=0",
         function() try_slice(coll) end)
   end
   db:disconnect()
end

local db, opt
local commands -- compiled, by collection

local function compile(coll)
   local arg = sysbench.mongodb.arg
   return {
      incs = coll:compile("update_one", {_id = arg(1)},
         {["$inc"] = {n = arg(2), n_log = arg(2)}}, {op = "incs"}),
      sets = coll:compile("update_one", {_id = arg(1)},
         {["$set"] = {c = arg(2), c_twin = arg(2)}}, {op = "sets"}),
      pushes = coll:compile("update_one", {_id = arg(1)},
         {["$push"] = {list = {["$each"] = {arg(2)},
            ["$slice"] = -opt.list_size}}, ["$inc"] = {pushes = 1}},
         {op = "pushes"}),
      bounds = coll:compile("update_one", {_id = arg(1)},
         {["$min"] = {low = arg(2)}, ["$max"] = {high = arg(2)}},
         {op = "bounds"}),
      filtered_updates = coll:compile("update_one", {_id = arg(1)},
         {["$inc"] = {["items.$[e].v"] = 1, v_log = 1}},
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
   for _ = 1, opt.incs do
      local by = rand.uniform(1, 10)
      command.incs:execute(draw_id(), by)
   end
   for _ = 1, opt.sets do
      command.sets:execute(draw_id(), rand.string(collections.c_format))
   end
   for _ = 1, opt.pushes do
      command.pushes:execute(draw_id(), rand.uniform(1, VALUES))
   end
   for _ = 1, opt.bounds do
      local value = rand.uniform(1, VALUES)
      command.bounds:execute(draw_id(), value)
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

local function wrong_list(doc, opt)
   local length = math.min(doc.pushes, opt.list_size)
   if #doc.list ~= length then
      return string.format("it has %d values in its list, expected %d",
         #doc.list, length)
   end
end

function documents.wrong(doc, opt)
   if doc.n ~= doc.n_log then
      return string.format("n is %d, but n_log is %d", doc.n, doc.n_log)
   elseif doc.c ~= doc.c_twin then
      return "c and c_twin differ"
   elseif #doc.c ~= #collections.c_format then
      return "c is not a string of " .. #collections.c_format .. " characters"
   elseif doc.low > doc.first or doc.high < doc.first then
      return string.format("first is %d, not between low (%d) and high (%d)",
         doc.first, doc.low, doc.high)
   end
   return wrong_list(doc, opt) or
      collections.wrong_items(doc, opt, "v", doc.v_log)
end

collections.declare_commands(collections.describe(documents))
