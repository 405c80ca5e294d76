-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The workloads of sysbench 0.5: oltp_* options, queries without server-side
-- prepare, one table per event. Each script declares its statements and event
-- with declare().

local dialect = require("sb.dialect")
local makers = require("sb.mix_makers")
local mix = require("sb.mix")
local old_names = require("sb.old_names")
local options = require("sb.options")

local M = {}

-- The argument of a script's functions: con, d (dialect), opt (settings), m
-- (mix), stmt and param. There is one per Lua state.
local env = {}

local function settings()
   return old_names.from_old(sysbench.opt)
end

local function connect()
   local drv = sysbench.sql.driver()
   return drv:connect(), dialect.of(drv)
end

local function cmd_prepare(adjust)
   local opt = settings()
   if adjust then
      adjust(opt)
   end
   require("sb.databases").each(function(con, d, _, name)
      return require("sb.prepare").prepare(con, d, opt, nil, nil, nil, name)
   end)
end

local function cmd_warmup()
   local opt = settings()
   require("sb.databases").each(function(con, d)
      require("sb.prepare").warmup(con, d, opt)
   end)
end

local function cmd_check()
   require("sb.oltp_check").check(settings())
end

-- Sets the hooks of a script. w.statements(env) prepares its statements
-- (optional), w.event(env, n) executes an event on table n, w.adjust(opt)
-- changes the settings of prepare (optional).
function M.declare(w)
   options.need_command("check, ")
   local parallel_command = sysbench.cmdline.PARALLEL_COMMAND
   sysbench.cmdline.options = options.declarations("legacy")
   sysbench.cmdline.commands = {
      prepare = {function() cmd_prepare(w.adjust) end, parallel_command},
      warmup = {cmd_warmup, parallel_command},
      prewarm = {cmd_warmup, parallel_command},
      check = {cmd_check, parallel_command},
   }
   if sysbench.cmdline.main_state then
      require("sb.check_tables").before_run(settings)
   end

   function cleanup()
      local opt = settings()
      require("sb.databases").each(function(con)
         require("sb.build").drop_all(con, opt)
      end)
   end

   function thread_init()
      env.opt = settings()
      env.con, env.d = connect()
      env.m = mix.new(env, makers.text)
      env.m:open(env.opt)
      if w.statements then
         w.statements(env)
      end
      if env.opt.pipeline then
         require("sb.pipelined").wrap(env.con)
      end
   end

   function thread_done()
      env.m:close(env.opt)
      env.con:disconnect()
   end

   local run = w.event
   function event()
      run(env, sysbench.rand.uniform(1, env.opt.tables))
   end
end

-- Declares a workload that executes one statement with a random id per event.
function M.declare_single(key)
   M.declare{
      statements = function(e)
         e.m:prepare(e.opt, key)
      end,
      event = function(e, n)
         e.m:by_id(e.opt, n, key, 1)
      end,
   }
end

return M
