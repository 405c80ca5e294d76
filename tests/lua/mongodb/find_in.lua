#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- $in: reads or updates many documents with one command, by their ids or by
-- values of the indexed field k.

local collections = require("sb.mongodb.collections")

local rand = sysbench.rand
local int = sysbench.cmdline.ARG_INT

sysbench.cmdline.options = collections.options{
   in_size = {"Number of values in a list", 10, int, min = 1, max = 1e5},
   in_selects = {"Finds by a list of ids per event", 10, int,
      min = 0, max = 1e6},
   in_k_selects = {"Finds by a list of values of k per event", 1, int,
      min = 0, max = 1e6},
   in_updates = {"Updates by a list of ids per event", 1, int,
      min = 0, max = 1e6},
   limit = {"Maximum number of documents that a find by k returns", 100, int,
      min = 1, max = 1e6},
   verify = {"Compare the size of each result with the number of different " ..
      "ids in its list", false},
}

function init()
   local db, opt = collections.open()
   collections.require_all(db, opt, {"k", "c", "pad"})
   db:disconnect()
end

local db, opt
local commands -- compiled, by collection
local list = {} -- the values of a command

local function compile(coll)
   local arg = sysbench.mongodb.arg
   return {
      in_selects = coll:compile("find", {_id = {["$in"] = arg(1)}},
         {projection = {c = 1, _id = 0}, op = "in_selects"}),
      in_k_selects = coll:compile("find", {k = {["$in"] = arg(1)}},
         {projection = {c = 1, _id = 0}, limit = opt.limit,
         op = "in_k_selects"}),
      in_updates = coll:compile("update_many", {_id = {["$in"] = arg(1)}},
         {["$inc"] = {k = 1}}, {op = "in_updates"}),
   }
end

function thread_init()
   db, opt = collections.open()
   commands = collections.per_collection(db, opt, compile)
end

local function draw_list()
   for i = 1, opt.in_size do
      list[i] = collections.draw_id(opt)
   end
end

local function verify(found)
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

function event()
   local command = commands[rand.uniform(1, opt.tables)]
   for _ = 1, opt.in_selects do
      draw_list()
      local found = command.in_selects:execute(list)
      if opt.verify then
         verify(found:count())
      end
   end
   for _ = 1, opt.in_k_selects do
      draw_list()
      command.in_k_selects:execute(list)
   end
   for _ = 1, opt.in_updates do
      draw_list()
      local done = command.in_updates:execute(list)
      if opt.verify then
         verify(done.matched)
      end
   end
end

function thread_done()
   db:disconnect()
end

collections.declare_commands(collections.describe{})
