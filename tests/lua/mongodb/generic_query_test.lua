#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Executes one query given by --query per event.
--
-- In --query, {"$arg": 1} is a random id, {"$arg": 2} this id plus --range-size
-- minus 1, and {"$arg": 3} a random k. --fields, --sort and --limit are passed
-- to find().

local schema = require("sb.schema")
local values = require("sb.mongodb.values")

require("sb.mongodb.workload").declare{
   open = function(db, opt)
      local own = {opt = opt}
      for n = 1, opt.tables do
         own[n] = values.compile("--query, --fields and --sort", 3,
            db:collection(schema.name(opt, n)), "find",
            opt.query ~= "" and opt.query or nil, {
               projection = opt.fields ~= "" and opt.fields or nil,
               sort = opt.sort ~= "" and opt.sort or nil,
               limit = opt.limit > 0 and opt.limit or nil,
            })
      end
      return own
   end,

   event = function(self, n)
      local opt, rand = self.opt, sysbench.rand
      local size = math.max(opt.table_size, 1)
      local id = rand.default(1, size)
      self[n]:execute(id, id + opt.range_size - 1, rand.default(1, size))
   end,
}

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

require("sb.mongodb.commands").declare{
   fields = {},
   -- The documents may be any, so check only counts them.
   collections = {
      new_rows = true,
      wrong = function() end,
   },

   bounds = {range_size = {1, 2147483647}, limit = {0, 2147483647}},

   options = function(kind)
      return {
         query = kind.text("Filter, as JSON; empty: all documents; " ..
            "{\"$arg\": n} with n = 1: a random id, 2: the last id of the " ..
            "range that starts there, 3: a random k",
            '{"_id": {"$arg": 1}}'),
         fields = kind.text("Fields to return, as JSON; empty: all", ""),
         sort = kind.text("Sort order, as JSON; empty: none", ""),
         limit = kind.int("Maximum number of documents to return; 0: all", 0),
         range_size = kind.int("Number of ids in a range", 100),
      }
   end,
}
