-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Runs commands on all databases of the run (--mysql-db=a,b,c), one after the
-- other. Otherwise there is just one connection.

local dialect = require("sb.dialect")

local M = {}

-- Same as drv:each_database(f). A script may have replaced the driver with its
-- own object that can only connect.
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

-- Prints the name of the next database. The barriers keep the lines about one
-- database apart from those about the next.
local function announce(name)
   sysbench.parallel.barrier()
   if sysbench.tid == 0 then
      require("sb.build").print_line("Database '%s':", name)
   end
   sysbench.parallel.barrier()
end

-- Calls f(con, d, drv, name) with a connection to each database and the
-- driver's dialect; name is nil if there is one database. f returns false if it
-- failed and another user raises the error. In a parallel command, all users
-- call this.
function M.each(f)
   local drv = sysbench.sql.driver()
   local names, done = names_of(drv), {}
   local several = #names > 1
   if several and sysbench.tid == 0 then
      -- Fails if a database is unreachable, before anything is changed.
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

-- Raises an error if there are several databases, for a workload that supports
-- only one.
function M.refuse_several(workload)
   local names = names_of(sysbench.sql.driver())
   if #names > 1 then
      error(string.format("%s supports only one database, but %d are given: " ..
         "%s", workload, #names, table.concat(names, ", ")), 0)
   end
end

return M
