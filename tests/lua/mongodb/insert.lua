#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Inserts one document per event, with the next id or, with --auto-inc=off, a
-- unique random id.

local collections = require("sb.mongodb.collections")

local rand = sysbench.rand

sysbench.cmdline.options = collections.options{
   auto_inc = {"Number new documents after the highest id in the " ..
      "collection; off: use unique random ids", true},
}

-- Returns the shared sequence of the ids of a collection.
local function ids(coll, after)
   return sysbench.sequence("mongodb/insert " .. coll.name, after)
end

-- New ids continue after the highest existing id.
function init()
   local db, opt = collections.open()
   collections.require_all(db, opt, {"k", "c", "pad"})
   for n = 1, opt.tables do
      local coll = db:collection(collections.name(opt, n))
      ids(coll, collections.last_id(coll))
   end
   db:disconnect()
end

local db, opt
local targets -- the collections

local function compile(coll)
   local arg = sysbench.mongodb.arg
   return {
      ids = ids(coll),
      insert = coll:compile("insert_one",
         {_id = arg(1), k = arg(2), c = arg(3), pad = arg(4)},
         {op = "inserts"}),
   }
end

function thread_init()
   db, opt = collections.open()
   targets = collections.per_collection(db, opt, compile)
end

function event()
   local target = targets[rand.uniform(1, opt.tables)]
   local id = opt.auto_inc and target.ids:next() or rand.unique() - 2147483648
   target.insert:execute(id, collections.draw_id(opt),
      rand.string(collections.c_format), rand.string(collections.pad_format))
end

function thread_done()
   db:disconnect()
end

collections.declare_commands(collections.describe{new_rows = true})
