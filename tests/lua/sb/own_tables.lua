-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Creates, fills and drops the tables of workloads that have other ones than
-- those of sb/schema.lua, and their commands. The users of a run never load
-- this.

local build = require("sb.build")
local parallel = require("sb.prepare")

local M = {}

-- Counters of sysbench.parallel.ticket() for commands that are not prepare.
local TABLE_KEY = 0
local PRINTED = "tables that were checked"

local TURN_EVERY = 1000 -- microseconds between two looks whose turn it is

ffi.cdef("int usleep(unsigned int);")

-- How many servers the options name, at least.
local function count_servers(drv)
   local n = 1
   for _, what in ipairs{"host", "port", "socket"} do
      local list = sysbench.opt[drv:name() .. "_" .. what]
      n = n * (type(list) == "table" and math.max(#list, 1) or 1)
   end
   return n
end

-- Opens a connection; returns it and the dialect. If the options name several
-- servers, one that is down does not prevent a command: each attempt takes the
-- next one.
function M.connect(workload, opt)
   require("sb.databases").refuse_several(workload)
   local drv = sysbench.sql.driver()
   local con, d = nil, require("sb.dialect").of(drv)
   for _ = 2, count_servers(drv) do
      con = con or drv:try_connect()
   end
   con = con or drv:connect()
   if d.check_engine then
      d.check_engine(con, opt)
   end
   return con, d
end

local function drop(t, con, opt, n)
   con:query("DROP TABLE IF EXISTS " .. t.name(opt, n))
end

-- Returns whether the primary key is created after the rows.
local function key_late(t, d, opt)
   return d.key_after_rows or t.key_after_rows and t.key_after_rows(d, opt)
end

local function create(t, con, d, opt, n)
   local name = t.name(opt, n)
   build.print_line("Creating table '%s'...", name)
   con:query(string.format("CREATE TABLE %s(%s%s) %s", name,
      t.define(d, opt, con), key_late(t, d, opt) and "" or
      ", PRIMARY KEY (" .. t.key .. ")", d.table_options(opt)))
   if d.check_table then
      d.check_table(con, opt, name)
   end
end

-- Adds the primary key of table n to a list for require_indexes(), if prepare
-- creates it after the rows. Workloads that create their tables themselves do
-- not name a key.
local function add_key(list, t, d, opt, n)
   if t.key and key_late(t, d, opt) then
      list[#list + 1] = {table = t.name(opt, n),
         column = t.key:match("^[%w_]+")}
   end
end

-- Raises an error if table n does not exist or has no primary key, without
-- which reading pages of rows in its order sorts all rows for each of them.
local function require_key(t, con, d, opt, n)
   local check_tables, key = require("sb.check_tables"), {}
   check_tables.require_tables(con, d, 1, function() return t.name(opt, n) end)
   add_key(key, t, d, opt, n)
   check_tables.require_indexes(con, d, key)
end

-- Completes a table with functions that sb/prepare.lua calls. It has:
--   name(opt, n)     the name of table n
--   define(d, opt, con)    the definitions of its columns
--   key              the columns of its primary key
--   columns(opt)     the names of its columns, in the order of fill()
--   fill(loader, opt, n, first, last)
--   indexes(con, opt, n)   creates its secondary indexes; optional
--   index_names(opt, n)    their names, for require_all(); optional
--   key_after_rows(d, opt) whether the primary key is created after the rows in
--                    databases that otherwise create it before; optional
function M.derive(t)
   setmetatable(t, {__index = build})

   function t.loader(con, opt, n)
      return con:load(t.name(opt, n), (t.columns(opt):gsub(" ", "")))
   end

   function t.announce_rows(opt, n)
      build.print_line("Inserting %.0f records into '%s'", opt.table_size,
         t.name(opt, n))
   end

   function t.create(con, d, opt, n)
      build.refuse_existing(con, d, t.name(opt, n))
      local ok, err = pcall(create, t, con, d, opt, n)
      if not ok then
         t.discard(con, opt, n)
         error(err, 0)
      end
   end

   function t.finish(con, d, opt, n)
      if key_late(t, d, opt) then
         con:query(string.format("ALTER TABLE %s ADD PRIMARY KEY (%s)",
            t.name(opt, n), t.key))
      end
      if t.indexes then
         t.indexes(con, opt, n)
      end
   end

   function t.discard(con, opt, n)
      pcall(con.reset, con)
      return (pcall(drop, t, con, opt, n))
   end

   return t
end

-- Returns prepare, warmup, prewarm, check and cleanup for sb/own_commands.lua.
-- check(con, d, opt, n), warm(con, d, opt, n): for table n. check returns the
-- line about a correct table.
function M.commands(workload, t, check, warm)
   local commands = {}

   local function each(opt, f)
      local con, d = M.connect(workload, opt)
      parallel.share(TABLE_KEY, opt.tables, function(n)
         f(con, d, opt, n)
      end)
      con:disconnect()
   end

   function commands.prepare(opt)
      local con, d = M.connect(workload, opt)
      parallel.prepare(con, d, opt, nil, nil, t)
      con:disconnect()
   end

   function commands.warmup(opt)
      each(opt, function(con, d, _, n)
         build.print_line("Preloading table %s", t.name(opt, n))
         warm(con, d, opt, n)
      end)
   end

   commands.prewarm = commands.warmup

   -- The lines are in the order of the tables, whatever each of them takes.
   function commands.check(opt)
      each(opt, function(con, d, _, n)
         local ok, text = pcall(function()
            require_key(t, con, d, opt, n)
            return check(con, d, opt, n)
         end)
         -- Raises after an interruption.
         while sysbench.parallel.add(PRINTED, 0) < n - 1 do
            ffi.C.usleep(TURN_EVERY)
         end
         if ok and text then
            build.print_line("%s", text)
         end
         sysbench.parallel.add(PRINTED, 1)
         if not ok then
            error(text, 0)
         end
      end)
   end

   function commands.cleanup(opt)
      local con = M.connect(workload, opt)
      for n = 1, opt.tables do
         build.print_line("Dropping table '%s'...", t.name(opt, n))
         drop(t, con, opt, n)
      end
      con:disconnect()
   end

   return commands
end

-- Checks that an index exists and finds exactly the rows of a table. index:
-- {name =, columns =}. condition: one that is true for all rows and that the
-- index can be read for. sum: a column, `total` its sum in all rows.
function M.check_index(con, d, name, index, condition, sum, rows, total)
   if d.indexes == false then
      return
   elseif d.find_index and
      con:query_row(d.find_index:format(name, index.name)) == "0"
   then
      error(string.format("%s: the index %s does not exist", name, index.name),
         0)
   end
   local found, found_sum = con:query_row(d:sum_through(name, index.name,
      index.columns, sum, condition))
   if tonumber(found) ~= tonumber(rows) or
      tonumber(found_sum or 0) ~= tonumber(total or 0)
   then
      error(string.format("%s: the index %s finds %s rows and a sum of %s " ..
         "of %s; the table has %.0f rows and a sum of %.0f", name, index.name,
         found, found_sum or 0, sum, tonumber(rows) or 0,
         tonumber(total) or 0), 0)
   end
end

-- Raises an error if one of the tables does not exist or lacks its key or an
-- index, unless --check-tables=off: prepare creates them after the rows, so
-- they are missing if it was interrupted. t: as for derive().
function M.require_all(con, d, opt, t)
   if not opt.check_tables then
      return
   end
   local check_tables, list = require("sb.check_tables"), {}
   check_tables.require_tables(con, d, opt.tables,
      function(n) return t.name(opt, n) end)
   for n = 1, opt.tables do
      local name = t.name(opt, n)
      add_key(list, t, d, opt, n)
      for _, index in ipairs(t.index_names and t.index_names(opt, n) or {}) do
         list[#list + 1] = {table = name, index = index}
      end
   end
   check_tables.require_indexes(con, d, list)
end

return M
