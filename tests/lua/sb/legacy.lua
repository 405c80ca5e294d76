-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The workloads of the 0.5 generation: oltp_* options, text queries, one
-- table an event. Each script picks its statements and event with declare().

local options = require("sb.options")
local dialect = require("sb.dialect")
local schema = require("sb.schema")
local parallel = require("sb.prepare")
local mix = require("sb.mix")

local M = {}

-- What a script's functions get: con, d (dialect), opt (settings), m (mix),
-- stmt and param. One a Lua state.
local env = {}

local function connect()
   local drv = sysbench.sql.driver()
   return drv:connect(), dialect.of(drv)
end

local function cmd_prepare(adjust)
   local opt = options.from_old(sysbench.opt)
   if adjust then
      adjust(opt)
   end
   local con, d = connect()
   parallel.prepare(con, d, opt)
   con:disconnect()
end

local function cmd_warmup()
   local con, d = connect()
   parallel.warmup(con, d, options.from_old(sysbench.opt))
   con:disconnect()
end

-- Sets the hooks of a script. w.statements(env) makes its statements,
-- w.event(env, n) executes an event on table n, w.adjust(opt) may change the
-- settings of prepare; the first and the last are optional.
function M.declare(w)
   local parallel_command = sysbench.cmdline.PARALLEL_COMMAND
   sysbench.cmdline.options = options.legacy()
   sysbench.cmdline.commands = {
      prepare = {function() cmd_prepare(w.adjust) end, parallel_command},
      warmup = {cmd_warmup, parallel_command},
      prewarm = {cmd_warmup, parallel_command},
   }

   function cleanup()
      local con = connect()
      schema.drop_all(con, options.from_old(sysbench.opt))
      con:disconnect()
   end

   function thread_init()
      env.opt = options.from_old(sysbench.opt)
      env.con, env.d = connect()
      env.m = mix.new(env, mix.text)
      env.m:open(env.opt)
      if w.statements then
         w.statements(env)
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

-- A workload that executes one statement by id an event.
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
