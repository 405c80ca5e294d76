#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Inserts one document given by --document per event.
--
-- In --document, {"$arg": 1} is the next id, {"$arg": 2} a random k,
-- {"$arg": 3} and {"$arg": 4} are random strings of 119 and 59 characters.

local schema = require("sb.schema")
local values = require("sb.mongodb.values")

local function ids(opt, n, after)
   return sysbench.sequence("mongodb/generic " .. schema.name(opt, n), after)
end

require("sb.mongodb.workload").declare{
   open = function(db, opt)
      local own = {opt = opt}
      for n = 1, opt.tables do
         own[n] = values.compile("--document", 4,
            db:collection(schema.name(opt, n)), "insert_one", opt.document)
      end
      return own
   end,

   event = function(self, n)
      local opt, rand = self.opt, sysbench.rand
      self[n]:execute(ids(opt, n):next(),
         rand.default(1, math.max(opt.table_size, 1)),
         rand.string(schema.c_format), rand.string(schema.pad_format))
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

   options = function(kind)
      return {document = kind.text("Document to insert, as JSON; " ..
         "{\"$arg\": n} with n = 1: the next id, 2: a random k, 3 and 4: " ..
         "random strings",
         '{"_id": {"$arg": 1}, "k": {"$arg": 2}, "c": {"$arg": 3}, ' ..
         '"pad": {"$arg": 4}}')}
   end,

   init = function(db, opt)
      for n = 1, opt.tables do
         local last = db:collection(schema.name(opt, n)):find_one(
            {_id = {["$type"] = "number"}},
            {sort = {_id = -1}, projection = {_id = 1}})
         ids(opt, n, last and math.max(last._id, 0) or 0)
      end
   end,
}
