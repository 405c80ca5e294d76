#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Executes one query given by --query per event.
--
-- In --query, {"$arg": 1} is a random id, {"$arg": 2} this id plus --range-size
-- minus 1, and {"$arg": 3} a random k. --fields, --sort and --limit are passed
-- to find().

local collections = require("sb.mongodb.collections")

local rand = sysbench.rand
local int = sysbench.cmdline.ARG_INT

sysbench.cmdline.options = collections.options{
   query = {"Filter, as JSON; empty: all documents; {\"$arg\": n} with " ..
      "n = 1: a random id, 2: the last id of the range that starts there, " ..
      "3: a random k", '{"_id": {"$arg": 1}}'},
   fields = {"Fields to return, as JSON; empty: all", ""},
   sort = {"Sort order, as JSON; empty: none", ""},
   limit = {"Maximum number of documents to return; 0: all", 0, int,
      min = 0, max = 2147483647},
   range_size = {"Number of ids in a range", 100, int,
      min = 1, max = 2147483647},
}

function init()
   local db, opt = collections.open()
   collections.require_all(db, opt, {})
   db:disconnect()
end

local db, opt
local queries = {} -- by collection

function thread_init()
   db, opt = collections.open()
   for n = 1, opt.tables do
      queries[n] = collections.compile_json("--query, --fields and --sort", 3,
         db:collection(collections.name(opt, n)), "find",
         opt.query ~= "" and opt.query or nil, {
            projection = opt.fields ~= "" and opt.fields or nil,
            sort = opt.sort ~= "" and opt.sort or nil,
            limit = opt.limit > 0 and opt.limit or nil,
         })
   end
end

function event()
   local query = queries[rand.uniform(1, opt.tables)]
   local id = collections.draw_id(opt)
   query:execute(id, id + opt.range_size - 1, collections.draw_id(opt))
end

function thread_done()
   db:disconnect()
end

-- The documents may be any, so check only counts them.
collections.declare_commands(collections.describe{
   new_rows = true,
   wrong = function() end,
})
