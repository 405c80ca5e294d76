-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Commands on all databases of the run (--mysql-db=a,b,c), one after the
-- other. With one database, or none to choose, this is just a connection.

local dialect = require("sb.dialect")

local M = {}

-- As drv:each_database(f). A script may have put an object of its own in place
-- of the driver, which only connects.
function M.visit(drv, f)
   if drv.each_database then
      drv:each_database(f)
      return
   end
   local con = drv:connect()
   f(con)
   con:disconnect()
end

local function names_of(drv)
   return drv.databases and drv:databases() or {}
end

-- Lines about one database do not mix with those about the next.
local function announce(name)
   sysbench.parallel.barrier()
   if sysbench.tid == 0 then
      require("sb.build").say("Database '%s':", name)
   end
   sysbench.parallel.barrier()
end

-- Calls f(con, d, drv, name) with a connection to each database and the
-- driver's dialect; name is nil when there is one database. f returns false
-- when it failed and another user raises the error. Of a parallel command all
-- users call it.
function M.each(f)
   local drv = sysbench.sql.driver()
   local names, done = names_of(drv), {}
   local several = #names > 1
   if several and sysbench.tid == 0 then
      -- One that cannot be connected to fails before anything is done.
      M.visit(drv, function() end)
   end
   local function one(con, name)
      if several then
         announce(name)
      end
      local ok = f(con, dialect.of(drv), drv, several and name or nil)
      done[#done + 1] = ok ~= false and name or nil
      return ok
   end
   local ok, err = pcall(M.visit, drv, one)
   if #done > 0 and #done < #names and sysbench.tid == 0 then
      io.stderr:write(string.format("%s has completed in: %s\n",
         sysbench.cmdline.command, table.concat(done, ", ")))
   end
   if not ok then
      error(err, 0)
   end
end

-- For a workload that keeps account of its tables in the program.
function M.refuse_several(workload)
   local names = names_of(sysbench.sql.driver())
   if #names > 1 then
      error(string.format("%s works on one database, and %d are named: %s",
         workload, #names, table.concat(names, ", ")), 0)
   end
end

return M
