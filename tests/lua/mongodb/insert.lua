#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Inserts one document per event, with the next id or, with --auto-inc=off, a
-- unique random id.

local mix = require("sb.mongodb.mix")
local schema = require("sb.schema")

local function ids(opt, n, after)
   return sysbench.sequence("mongodb/insert " .. schema.name(opt, n), after)
end

require("sb.mongodb.workload").declare{
   open = function(db, opt)
      return {opt = opt, mix = mix.new(db, opt)}
   end,

   event = function(self, n)
      local id
      if self.opt.auto_inc then
         id = ids(self.opt, n):next()
      else
         id = sysbench.rand.unique() - 2147483648
      end
      self.mix:put(n, "new_rows", id)
   end,
}

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

require("sb.mongodb.commands").declare{
   collections = {new_rows = true},

   options = function(kind)
      return {auto_inc = kind.bool("Number new documents after the highest " ..
         "id in the collection; off: use unique random ids", true)}
   end,

   -- New ids continue after the highest existing id.
   init = function(db, opt)
      for n = 1, opt.tables do
         local last = db:collection(schema.name(opt, n)):find_one({},
            {sort = {_id = -1}, projection = {_id = 1}})
         ids(opt, n, last and math.max(last._id, 0) or 0)
      end
   end,
}
