#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- $unionWith: reads and sums ranges over two collections, a random one and the
-- next.

local collections = require("sb.mongodb.collections")

local rand = sysbench.rand
local int = sysbench.cmdline.ARG_INT

sysbench.cmdline.options = collections.options{
   tables = {"Number of collections, at least 2", 2, int, min = 1, max = 1e6},
   range_size = {"Number of ids in a range", 100, int,
      min = 1, max = 2147483647},
   unions = {"Reads of a range of two collections, sorted by c, per event",
      1, int, min = 0, max = 1e6},
   union_sums = {"Sums of k over a range of two collections per event", 1,
      int, min = 0, max = 1e6},
}

local function check_options(opt)
   if opt.tables < 2 then
      error("--tables must be at least 2: a union needs two collections", 0)
   end
end

function init()
   local db, opt = collections.open()
   check_options(opt)
   local coll = collections.require_all(db, opt, {"k", "c", "pad"})
   collections.require_operator(db, "unite collections ($unionWith)", nil,
      function()
         local none = {["$match"] = {_id = -1}}
         coll:aggregate({none,
            {["$unionWith"] = {coll = coll.name, pipeline = {none}}}})
      end)
   db:disconnect()
end

local db, opt
local commands -- compiled, by collection

local function compile(coll, n)
   local arg, null = sysbench.mongodb.arg, sysbench.mongodb.null
   local range = {["$match"] = {_id = {["$gte"] = arg(1), ["$lte"] = arg(2)}}}
   local with_other = {["$unionWith"] = {
      coll = collections.name(opt, n % opt.tables + 1), pipeline = {range}}}
   return {
      unions = coll:compile("aggregate", {range, with_other,
         {["$project"] = {c = 1}}, {["$sort"] = {c = 1}}}, {op = "unions"}),
      union_sums = coll:compile("aggregate", {range, with_other,
         {["$group"] = {_id = null, total = {["$sum"] = "$k"}}}},
         {op = "union_sums"}),
   }
end

function thread_init()
   db, opt = collections.open()
   commands = collections.per_collection(db, opt, compile)
end

function event()
   local command = commands[rand.uniform(1, opt.tables)]
   for _ = 1, opt.unions do
      local id = collections.draw_id(opt)
      command.unions:execute(id, id + opt.range_size - 1)
   end
   for _ = 1, opt.union_sums do
      local id = collections.draw_id(opt)
      command.union_sums:execute(id, id + opt.range_size - 1)
   end
end

function thread_done()
   db:disconnect()
end

-- Also counts the documents of the union of two whole collections.
local function check_more(coll, opt, n)
   local other = collections.name(opt, n % opt.tables + 1)
   local groups = coll:aggregate({{["$unionWith"] = {coll = other}},
      {["$group"] = {_id = sysbench.mongodb.null, n = {["$sum"] = 1}}}}):all()
   local count = groups[1] and groups[1].n or 0
   if count ~= 2 * opt.table_size then
      error(string.format("the union of %s and %s has %d documents, " ..
         "expected %d", coll.name, other, count, 2 * opt.table_size), 0)
   end
end

collections.declare_commands(collections.describe{check_more = check_more},
   check_options)
