#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Inserts one document given by --document per event.
--
-- In --document, {"$arg": 1} is the next id, {"$arg": 2} a random k,
-- {"$arg": 3} and {"$arg": 4} are random strings of 119 and 59 characters.

local collections = require("sb.mongodb.collections")

local rand = sysbench.rand

sysbench.cmdline.options = collections.options{
   document = {"Document to insert, as JSON; {\"$arg\": n} with n = 1: the " ..
      "next id, 2: a random k, 3 and 4: random strings",
      '{"_id": {"$arg": 1}, "k": {"$arg": 2}, "c": {"$arg": 3}, ' ..
      '"pad": {"$arg": 4}}'},
}

-- Returns the shared sequence of the ids of a collection.
local function ids(coll, after)
   return sysbench.sequence("mongodb/generic " .. coll.name, after)
end

function init()
   local db, opt = collections.open()
   collections.require_all(db, opt, {})
   for n = 1, opt.tables do
      local coll = db:collection(collections.name(opt, n))
      ids(coll, collections.last_id(coll))
   end
   db:disconnect()
end

local db, opt
local targets = {} -- the collections

function thread_init()
   db, opt = collections.open()
   for n = 1, opt.tables do
      local coll = db:collection(collections.name(opt, n))
      targets[n] = {ids = ids(coll), insert = collections.compile_json(
         "--document", 4, coll, "insert_one", opt.document)}
   end
end

function event()
   local target = targets[rand.uniform(1, opt.tables)]
   target.insert:execute(target.ids:next(), collections.draw_id(opt),
      rand.string(collections.c_format), rand.string(collections.pad_format))
end

function thread_done()
   db:disconnect()
end

-- The documents may be any, so check only counts them.
collections.declare_commands(collections.describe{
   new_rows = true,
   wrong = function() end,
})
