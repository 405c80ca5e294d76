#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Executes statements of a plain file, with random parameters and weights. An
-- event is the statements of one @event of the file.

local sql_file = require("sb.sql_file")

local retry = require("sb.retry")
local con, params, choose, pipeline
local events = {} -- list of {statements =, op = of the whole event}

-- Returns a statement with its parameters: {stmt =, names =, slots =}.
local function prepare(file, s, op)
   local kind = sysbench.sql.type
   local stmt, slots = con:prepare(s.text, op), {}
   for i, name in ipairs(s.params) do
      local of = file.params[name].kind
      if of == "int" then
         slots[i] = stmt:bind_create(kind.BIGINT)
      elseif of == "double" then
         slots[i] = stmt:bind_create(kind.DOUBLE)
      else
         slots[i] = stmt:bind_create(kind.VARCHAR, math.max(of, 1))
      end
   end
   if #slots > 0 then
      stmt:bind_param(unpack(slots))
   end
   return {stmt = stmt, names = s.params, slots = slots}
end

-- Returns an event of the file, whose statements are prepared at first use. The
-- statements of an event with one statement have its name in reports, otherwise
-- its name and their number.
local function open_event(file, event)
   local several = #event.statements > 1
   local own = {op = several and sysbench.op(event.name), draws = {}}
   local used = {}
   for _, s in ipairs(event.statements) do
      for _, name in ipairs(s.params) do
         if not used[name] then
            used[name] = true
            own.draws[#own.draws + 1] = {name = name,
               draw = file.params[name].draw,
               sequence = file.params[name].sequence}
         end
      end
   end
   own.statements, own.count = {}, #event.statements
   function own.prepare(i)
      own.statements[i] = prepare(file, event.statements[i],
         several and event.name .. "." .. i or event.name)
      return own.statements[i]
   end
   return own
end

function thread_init()
   local opt = sql_file.normalize(sysbench.opt)
   local drv = sysbench.sql.driver()
   local file = sql_file.read(opt.file, drv:dialect())
   con, params, pipeline = drv:connect(), {}, opt.pipeline
   local names, weights = {}, {}
   for i, event in ipairs(file.events) do
      names[i] = event.name
      weights[event.name] = event.weight
   end
   if opt.weights ~= "" then
      weights = require("sb.weights").parse("weights", opt.weights, names)
   end
   local list = {}
   for i, event in ipairs(file.events) do
      events[i] = open_event(file, event)
      list[i] = weights[event.name] or 0
   end
   choose = require("sb.weights").chooser(list)
end

function thread_done()
   for _, event in ipairs(events) do
      for i = 1, event.count do
         local s = event.statements[i]
         if s then
            s.stmt:close()
         end
      end
   end
   con:disconnect()
end

local function execute(event)
   for i = 1, event.count do
      local s = event.statements[i] or event.prepare(i)
      for n, name in ipairs(s.names) do
         s.slots[n]:set(params[name])
      end
      s.stmt:execute()
   end
end

local e, token -- the event of the file, and its measurement

function event()
   local again = retry.again()
   if not again then
      e = events[choose()]
      token = e.op and e.op:start()
   end
   -- Once per event. The first try may have used its number of a sequence.
   for _, p in ipairs(e.draws) do
      if not again or p.sequence then
         params[p.name] = p.draw()
      end
   end
   if pipeline then
      con:pipeline(execute, e)
   else
      execute(e)
   end
   if token then
      e.op:finish(token)
   end
end

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

sysbench.cmdline.options = sql_file.declarations()

require("sb.own_commands").declare("sb.sql_file_commands", sql_file.normalize)

-- Errors in the file are reported before the users are created.
function init()
   require("sb.sql_file_commands").start(sql_file.normalize(sysbench.opt))
end
