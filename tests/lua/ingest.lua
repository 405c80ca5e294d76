#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Ingest: many users insert batches of rows into many tables. Each event is a
-- batch, which is a transaction; --method selects how it is sent.

local ingest = require("sb.ingest")

local rand = sysbench.rand
local retry = require("sb.retry")
local opt -- the settings
local con, d, send, inserted

local tables = {}   -- in use, by number
local to_close = {} -- statements

-- Returns table n: its name, the sequence of its ids, and its statement, which
-- is prepared at first use.
local function table_of(n)
   local t = tables[n]
   if not t then
      t = {name = ingest.name(opt, n), head = ingest.head(opt, n),
         ids = ingest.ids(opt, n)}
      tables[n] = t
   end
   return t
end

-- Methods: each returns a function that inserts a batch of opt.batch_size rows
-- from id `first` on into table t.
local methods = {}

methods["multi-row"] = function()
   local text = ingest.text(opt)
   return function(t, first)
      con:query(text(first, opt.batch_size, t.head, ",", ""))
   end
end

methods["multi-statement"] = function()
   local text = ingest.text(opt)
   local begin, commit = d.begin_write .. ";", ";" .. d.commit
   return function(t, first)
      con:query(text(first, opt.batch_size, begin .. t.head,
         ";" .. t.head, commit))
      while con:more_results() do
         con:next_result()
      end
   end
end

-- Prepares the INSERT of one row into table t.
local function prepare_row(t)
   local kind = sysbench.sql.type
   t.stmt = con:prepare(t.head .. "(?, ?, ?, ?, ?, ?, ?)", "insert")
   t.params = {}
   for i, type_of in ipairs{kind.BIGINT, kind.BIGINT, kind.INT, kind.INT,
      kind.INT, kind.INT, kind.VARCHAR}
   do
      t.params[i] = t.stmt:bind_create(type_of, type_of == kind.VARCHAR and
         math.max(opt.data_length, 1) or nil)
   end
   t.stmt:bind_param(unpack(t.params))
   to_close[#to_close + 1] = t.stmt
end

methods.single = function()
   local format = ("@"):rep(opt.data_length)
   local begin = con:prepare(d.begin_write, "begin")
   local commit = con:prepare(d.commit, "commit")
   return function(t, first)
      if not t.stmt then
         prepare_row(t)
      end
      local p = t.params
      begin:execute()
      p[2]:set(first)
      p[3]:set(opt.batch_size)
      for id = first, first + opt.batch_size - 1 do
         local source = rand.uniform(1, opt.sources)
         local reading = rand.uniform(0, ingest.MAX_READING - 1)
         p[1]:set(id)
         p[4]:set(source)
         p[5]:set(reading)
         p[6]:set(ingest.control(id, source, reading))
         p[7]:set_rand_str(format)
         t.stmt:execute()
      end
      commit:execute()
   end
end

methods.pipeline = function()
   local single = methods.single()
   return function(t, first)
      con:pipeline(single, t, first)
   end
end

methods.load = function()
   local columns = ingest.columns:gsub(" ", "")
   local format = ("@"):rep(opt.data_length)
   return function(t, first)
      local loader = con:load(t.name, columns, {private = true})
      for id = first, first + opt.batch_size - 1 do
         local source = rand.uniform(1, opt.sources)
         local reading = rand.uniform(0, ingest.MAX_READING - 1)
         loader:int(id)
         loader:int(first)
         loader:int(opt.batch_size)
         loader:int(source)
         loader:int(reading)
         loader:int(ingest.control(id, source, reading))
         loader:random_text(format)
      end
      loader:close()
   end
end

function thread_init()
   opt = ingest.normalize(sysbench.opt)
   local drv = sysbench.sql.driver()
   con, d = drv:connect(), require("sb.dialect").of(drv)
   send, inserted = methods[opt.method](), ingest.inserted()
end

function thread_done()
   for _, stmt in ipairs(to_close) do
      stmt:close()
   end
   con:disconnect()
end

local batch = sysbench.op("batch")
local t, token -- the table of the event, and its measurement

function event()
   if not retry.again() then
      t = table_of(rand.uniform(1, opt.tables))
      token = batch:start()
   end
   send(t, t.ids:next(opt.batch_size))
   batch:finish(token)
   inserted:next(opt.batch_size)
end

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

sysbench.cmdline.options = ingest.declarations()

require("sb.own_commands").declare("sb.ingest_commands", ingest.normalize)

-- New ids continue after the highest existing id.
function init()
   local settings = ingest.normalize(sysbench.opt)
   require("sb.ranks").refuse_if(settings.batch_size > 1024, "ingest",
      "with --batch-size above 1024")
   require("sb.ingest_commands").continue_ids(settings)
end

local before = 0 -- rows inserted before this interval

function sysbench.hooks.report_line(stat, final)
   local rows = ingest.inserted():last()
   if final then
      return string.format("Rows inserted: %.0f (%.2f per sec.)", rows,
         rows / math.max(stat.time_total + sysbench.opt.warmup_time, 1e-9))
   end
   local rate = (rows - before) / math.max(stat.time_interval, 1e-9)
   before = rows
   return string.format("rows/s: %.2f", rate)
end
