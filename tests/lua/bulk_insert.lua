#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Multi-row INSERTs: every event adds one row to a buffer, which is sent
-- when it is full. Each thread uses its own table unless --tables is given.

local options = require("sb.options")
local old_names = require("sb.old_names")

if sysbench.cmdline.command == nil then
   error("Command is required. Supported commands: prepare, run, cleanup, " ..
      "help", 0)
end

local int = sysbench.cmdline.ARG_INT

if sysbench.cmdline.main_state then
   local declarations = require("sb.declarations")
   local oltp = declarations.oltp()
   sysbench.cmdline.options = declarations.add_old_names{
      tables = {"Number of tables; 0: one per thread", 0, int},
      table_size = {"Ignored: use --events or --time to limit the rows", 0,
         int},
      create_table_options = oltp.create_table_options,
      mysql_storage_engine = oltp.mysql_storage_engine,
      check_tables = oltp.check_tables,
   }
end

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
   return options.normalize(opt)
end

if sysbench.cmdline.main_state then
   require("sb.check_tables").before_run(settings)
end

function prepare()
   local build = require("sb.build")
   local opt = settings()
   require("sb.databases").each(function(c, d)
      for n = 1, opt.tables do
         build.print_line("Creating table 'sbtest%d'...", n)
         c:query(string.format("CREATE TABLE IF NOT EXISTS sbtest%d (" ..
            "id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, " ..
            "PRIMARY KEY (id)) %s", n, d.table_options(opt)))
      end
   end)
end

function cleanup()
   local opt = settings()
   require("sb.databases").each(function(c)
      require("sb.build").drop_all(c, opt)
   end)
end

function thread_init()
   local opt = settings()
   -- Threads of a rank that starts later would find rows of the others.
   require("sb.ranks").refuse_if(opt.tables < opt.threads, "bulk_insert",
      "if --tables is less than --threads")
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
