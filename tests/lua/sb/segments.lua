-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The common part of select_random_points and select_random_ranges: one
-- statement on the first table, with values of k from this thread's segment of
-- it, so that threads do not contend for the same rows.

local old_names = require("sb.old_names")
local sbtest = require("sb.sbtest")
local sbtest_check = require("sb.sbtest_check")

local M = {}

-- Returns the settings. Raises an error unless there is one table.
local function settings()
   local opt = sbtest.settings(old_names.rename(sysbench.opt))
   if opt.tables ~= 1 then
      error("this workload uses one table: --tables must be 1", 0)
   end
   return opt
end

-- Adds options to those of oltp_common.lua, and the 0.5 names of all. Checks
-- the settings before every command.
function M.declare(options)
   local cmdline = sysbench.cmdline
   for name, option in pairs(options) do
      cmdline.options[name] = option
   end
   old_names.add(cmdline.options)
   function sysbench.hooks.check_tables()
      sbtest_check.check_before_run(settings())
   end
   for _, command in pairs(cmdline.commands) do
      local f = command[1]
      command[1] = function()
         settings()
         return f()
      end
   end
   local drop = cleanup
   function cleanup()
      settings()
      return drop()
   end
end

-- Declares the hooks of users. make_text(opt): returns the statement, with a
-- `?` for each value; operation: its name in the report. draw(values, first,
-- last): sets the values, parameters of the statement, to random values of k
-- from first to last.
function M.run(operation, make_text, draw)
   local con, statement, first, last, pipeline
   local values = {}

   function thread_init()
      local opt = settings()
      con = sysbench.sql.driver():connect()
      pipeline = opt.pipeline
      local text = make_text(opt)
      statement = con:prepare(text, operation)
      for _ in text:gmatch("%?") do
         values[#values + 1] = statement:bind_create(sysbench.sql.type.INT)
      end
      statement:bind_param(unpack(values))
      local length = opt.table_size / opt.threads
      local thread = sysbench.tid % opt.threads
      first = math.floor(length * thread) + 1
      last = math.max(math.floor(length * (thread + 1)), first)
   end

   function thread_done()
      statement:close()
      con:disconnect()
   end

   function event()
      draw(values, first, last)
      if pipeline then
         con:pipeline_begin()
      end
      statement:execute()
      if pipeline then
         con:pipeline_run()
      end
   end
end

return M
