-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What the users of the workloads in mongodb/ share.

local M = {}

-- Old names of options that only these workloads have.
M.old_names = {
   oltp_inserts = "inserts",
   oltp_bulk_size = "bulk_size",
   oltp_read_only = "read_only",
}

-- Moves values given under old names to the new names and returns opt. May be
-- called repeatedly.
function M.rename(opt)
   local rename = require("sb.old_names").rename
   rename(opt)
   return rename(opt, M.old_names)
end

-- Opens a connection and returns its database.
function M.connect()
   local drv = sysbench.sql.driver()
   if drv:dialect() ~= "mongodb" then
      error(string.format("this workload needs a MongoDB server: give " ..
         "--mongo-url (current driver: %s)", drv:name()), 0)
   end
   return sysbench.mongodb.wrap(drv:connect())
end

-- Returns a table t where t[n] is make(coll, n) for collection n, called at
-- first use.
function M.per_collection(db, opt, make)
   local name = require("sb.schema").name
   return setmetatable({}, {__index = function(list, n)
      list[n] = make(db:collection(name(opt, n)), n)
      return list[n]
   end})
end

-- Returns a random id of the documents that prepare created.
function M.id(opt)
   local size = opt.table_size
   return sysbench.rand.default(1, size < 1 and 1 or size)
end

-- Declares the hooks of a user:
--   w.open(db, opt)   returns `self` for event()
--   w.event(self, n)  executes one event on collection n; returns what event()
--                     returns
-- sb/mongodb/commands.lua declares the rest of the workload.
function M.declare(w)
   local db, opt, self

   function thread_init() -- luacheck: globals thread_init
      opt = M.rename(sysbench.opt)
      db = M.connect()
      self = w.open(db, opt)
   end

   function thread_done() -- luacheck: globals thread_done
      db:disconnect()
   end

   local run, rand = w.event, sysbench.rand
   function event() -- luacheck: globals event
      return run(self, rand.uniform(1, opt.tables))
   end
end

return M
