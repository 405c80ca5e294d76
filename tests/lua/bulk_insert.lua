#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Multi-row INSERTs: every event adds one row to a buffer, which is sent
-- when it is full. Each thread uses its own table unless --tables is given.

local old_names = require("sb.old_names")
local options = require("sb.options")
local sbtest = require("sb.sbtest")
local sbtest_check = require("sb.sbtest_check")
local tables = require("sb.tables")

if sysbench.cmdline.command == nil then
   error("Command is required. Supported commands: prepare, run, cleanup, " ..
      "help", 0)
end

local int = sysbench.cmdline.ARG_INT

local function declare()
   local list = options.with_table_options{
      tables = {"Number of tables; 0: one per thread", 0, int, min = 0,
         max = 1e6},
      table_size = {"Ignored: use --events or --time to limit the rows", 0,
         int},
   }
   list.pgsql_variant = nil
   return old_names.add(list)
end

sysbench.cmdline.options = declare()

-- This thread's table, its next id, and the step between its ids.
local con, name, id, step

local function settings()
   local opt = old_names.rename(sysbench.opt)
   if opt.tables == 0 then
      opt.tables = opt.threads
      -- The command that creates the tables, for messages.
      opt.prepare = opt.threads > 1 and
         string.format("--threads=%d prepare", opt.threads) or nil
   end
   return opt
end

function sysbench.hooks.check_tables()
   sbtest_check.check_before_run(settings())
end

function prepare()
   local opt = settings()
   tables.command_on_each_database(function(c, d)
      for n = 1, opt.tables do
         tables.print("Creating table 'sbtest%d'...", n)
         c:query(string.format("CREATE TABLE IF NOT EXISTS sbtest%d (" ..
            "id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, " ..
            "PRIMARY KEY (id)) %s", n, d.table_options(opt)))
      end
   end)
end

function cleanup()
   sbtest.cleanup(settings())
end

function thread_init()
   local opt = settings()
   if opt.tables < opt.threads then
      -- Threads of a rank that starts later would find rows of the others.
      options.refuse_ranks("bulk_insert", "if --tables is less than --threads")
   end
   con = sysbench.sql.driver():connect()
   name = "sbtest" .. sysbench.tid % opt.tables + 1
   -- The ids of threads that share a table are interleaved. They start after
   -- the rows of earlier runs.
   local rank = math.floor(sysbench.tid / opt.tables)
   step = math.ceil((opt.threads - sysbench.tid % opt.tables) / opt.tables)
   local last = con:query_row("SELECT MAX(id) FROM " .. name)
   id = (tonumber(last) or 0) + 1 + rank
   con:bulk_insert_init("INSERT INTO " .. name .. " (id, k) VALUES")
end

function event()
   con:bulk_insert_next("(" .. id .. "," .. id .. ")")
   id = id + step
end

function thread_done()
   con:bulk_insert_done()
   con:disconnect()
end
