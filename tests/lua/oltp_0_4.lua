#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The test of sysbench 0.4, which 'sysbench oltp' and --test=oltp run: one
-- table, prepared statements, and several modes. docs/workloads.md lists the
-- differences from sysbench 0.4.

local dialect = require("sb.dialect")
local legacy = require("sb.legacy")
local old_names = require("sb.old_names")
local sbtest = require("sb.sbtest")
local sbtest_check = require("sb.sbtest_check")
local tables = require("sb.tables")

local rand = sysbench.rand

-- Options --------------------------------------------------------------------

local int = sysbench.cmdline.ARG_INT
local INTEGER_MAX = 2147483647

local function declare()
   local list = legacy.options()
   list.oltp_tables_count = nil
   list.oltp_test_mode = {"Kind of event: simple, complex, nontrx or sp",
      "complex"}
   list.oltp_nontrx_mode = {"Statement of the nontrx mode: select, " ..
      "update_key, update_nokey, insert or delete", "select"}
   list.oltp_reconnect_mode = {"How long a connection is used: session, " ..
      "transaction, query or random", "session"}
   list.oltp_sp_name = {"Name of the stored procedure for the sp mode", ""}
   list.oltp_connect_delay = {"Pause after connecting, in microseconds",
      10000, int, min = 0, max = INTEGER_MAX}
   list.oltp_user_delay_min = {"Minimum think time per query, in " ..
      "microseconds", 0, int, min = 0, max = INTEGER_MAX}
   list.oltp_user_delay_max = {"Maximum think time per query, in " ..
      "microseconds", 0, int, min = 0, max = INTEGER_MAX}
   list.oltp_table_name = {"Name of the table", "sbtest"}
   list.oltp_dist_type = {"Distribution of ids: uniform, gaussian or special",
      "special"}
   list.oltp_dist_iter = {"Number of random numbers that gaussian and " ..
      "special average, at least 1", 12, int, min = 1, max = 1e6}
   list.oltp_dist_pct = {"Percentage of rows that are special, 1 to 100", 1,
      int, min = 1, max = 100}
   list.oltp_dist_res = {"Percentage of ids drawn from the special rows, 0 " ..
      "to 100", 75, int, min = 0, max = 100}
   list.oltp_point_select_mysql_handler = {"Use MySQL's HANDLER for point " ..
      "SELECTs", false}
   list.oltp_point_select_all_cols = {"Read all columns in point SELECTs",
      false}
   return list
end

sysbench.cmdline.options = declare()

local function choice(name, ...)
   local value = sysbench.opt[name]
   for _, allowed in ipairs{...} do
      if value == allowed then
         return value
      end
   end
   error(string.format("Invalid value for the '%s' option: '%s' (one of %s)",
      name:gsub("_", "-"), value, table.concat({...}, ", ")), 0)
end

local function check_delays(o)
   if o.oltp_user_delay_max > 0
      and o.oltp_user_delay_min > o.oltp_user_delay_max
   then
      error("--oltp-user-delay-min must not be more than " ..
         "--oltp-user-delay-max", 0)
   end
end

-- Rejects modes that cannot use a pipeline.
local function check_pipeline(opt)
   if opt.mode == "sp" then
      error("--oltp-test-mode=sp cannot be used with --oltp-pipeline: a " ..
         "call may return any number of results and commit", 0)
   elseif opt.reconnect_mode == "query" or opt.reconnect_mode == "random" then
      error(string.format("--oltp-reconnect-mode=%s cannot be used with " ..
         "--oltp-pipeline: it reconnects after single queries",
         opt.reconnect_mode), 0)
   end
end

-- Returns the settings under their 1.x names, with the modes added.
local function settings()
   local o = sysbench.opt
   local opt = old_names.from_old(o)
   check_delays(o)
   opt.mode = choice("oltp_test_mode", "complex", "simple", "nontrx", "sp")
   opt.nontrx = choice("oltp_nontrx_mode", "select", "update_key",
      "update_nokey", "insert", "delete")
   opt.reconnect_mode = choice("oltp_reconnect_mode", "session",
      "transaction", "query", "random")
   opt.dist = choice("oltp_dist_type", "special", "uniform", "gaussian")
   if opt.mode == "sp" and o.oltp_sp_name == "" then
      error("--oltp-test-mode=sp needs the name of a stored procedure: " ..
         "give --oltp-sp-name", 0)
   end
   if opt.pipeline then
      check_pipeline(opt)
   end
   return opt
end

local function inserts_only(opt)
   return opt.mode == "nontrx" and opt.nontrx == "insert"
end

-- Commands -------------------------------------------------------------------

legacy.declare_commands(settings, function(opt, command)
   if command == "check" and inserts_only(opt) then
      opt.table_size = 0 -- the run starts with an empty table
   end
end)

-- The tables are not checked in the sp mode: which tables the procedure uses is
-- unknown. The insert mode starts with an empty table.
function sysbench.hooks.check_tables()
   local opt = settings()
   if opt.mode ~= "sp" and not inserts_only(opt) then
      sbtest_check.check_before_run(opt, sbtest_check.ROWS)
   end
end

function init()
   local opt = settings()
   if inserts_only(opt) then
      sbtest_check.check_before_run(opt, sbtest_check.TABLES)
      tables.command_on_each_database(function(con, d)
         con:query(d.truncate:format(sbtest.name(opt, 1)))
      end)
   end
end

-- Random ids ---------------------------------------------------------------

local draw = {}

function draw.uniform(size)
   return rand.uniform(1, size)
end

function draw.gaussian(size)
   local count, sum = sysbench.opt.oltp_dist_iter, 0
   for _ = 1, count do
      sum = sum + rand.uniform(1, size)
   end
   return math.floor(sum / count)
end

-- --oltp-dist-res percent of the ids are uniformly distributed over the
-- --oltp-dist-pct percent of the rows in the middle; the others are gaussian.
function draw.special(size)
   local opt = sysbench.opt
   if rand.uniform(1, 100) > opt.oltp_dist_res then
      return draw.gaussian(size)
   end
   local width = math.max(math.floor(size * opt.oltp_dist_pct / 100), 1)
   local first = math.floor(size / 2 - width / 2)
   return math.max(first + rand.uniform(1, width), 1)
end

local opt -- the settings of this user

local function draw_id()
   local size = math.max(opt.table_size, 1)
   local id = draw[opt.dist](size)
   if sysbench.opt.rand_scatter and opt.dist ~= "uniform" then
      return rand.scatter(id, 1, size)
   end
   return id
end

-- Statements -----------------------------------------------------------------

local con, d, name -- the connection, its dialect, the name of the table
local prepared = {} -- on this connection, by the name in the report
local one_query = false -- whether this event reconnects after each query
local pause = 0 -- think time before the next event, in seconds

local INT = {sysbench.sql.type.INT}
local C = {sysbench.sql.type.CHAR, 120}
local PAD = {sysbench.sql.type.CHAR, 60}

-- Name in the report = {text, types of the parameters}; %s is the table.
local statements = {
   point_selects = {"SELECT c FROM %s WHERE id=?", INT},
   row_selects = {"SELECT id, k, c, pad FROM %s WHERE id=?", INT},
   pad_selects = {"SELECT pad FROM %s WHERE id=?", INT},
   simple_ranges = {"SELECT c FROM %s WHERE id BETWEEN ? AND ?", INT, INT},
   sum_ranges = {"SELECT SUM(k) FROM %s WHERE id BETWEEN ? AND ?", INT, INT},
   order_ranges = {"SELECT c FROM %s WHERE id BETWEEN ? AND ? ORDER BY c",
      INT, INT},
   distinct_ranges = {"SELECT DISTINCT c FROM %s WHERE id BETWEEN ? AND ? " ..
      "ORDER BY c", INT, INT},
   index_updates = {"UPDATE %s SET k=k+1 WHERE id=?", INT},
   non_index_updates = {"UPDATE %s SET c=? WHERE id=?", C, INT},
   deletes = {"DELETE FROM %s WHERE id=?", INT},
   inserts = {"INSERT INTO %s (id, k, c, pad) VALUES (?, ?, ?, ?)", INT, INT,
      C, PAD},
   inserts_without_id = {"INSERT INTO %s (k, c, pad) VALUES (?, ?, ?)", INT,
      C, PAD},
}

-- Reports name the statements of both kinds of INSERT alike.
local reported_as = {inserts_without_id = "inserts"}

local function prepare_statement(key)
   local types = statements[key]
   local statement = con:prepare(types[1]:format(name), reported_as[key] or key)
   local s = {statement = statement, parameters = {}}
   for i = 2, #types do
      s.parameters[i - 1] = statement:bind_create(unpack(types[i]))
   end
   if #s.parameters > 0 then
      statement:bind_param(unpack(s.parameters))
   end
   return s
end

local function close_statements()
   for _, s in pairs(prepared) do
      s.statement:close()
   end
   prepared = {}
end

local function reconnect()
   close_statements()
   con:reconnect()
   pause = pause + sysbench.opt.oltp_connect_delay / 1e6
end

-- Executes a statement with its values. It stays prepared until the connection
-- is closed.
local function execute(key, v1, v2, v3, v4)
   local s = prepared[key]
   if not s then
      s = prepare_statement(key)
      prepared[key] = s
   end
   local p = s.parameters
   local count = #p
   if count > 0 then p[1]:set(v1) end
   if count > 1 then p[2]:set(v2) end
   if count > 2 then p[3]:set(v3) end
   if count > 3 then p[4]:set(v4) end
   s.statement:execute()
   if one_query then
      reconnect()
   end
end

local function random_c()
   return rand.string(sbtest.c_format)
end

local function random_pad()
   return rand.string(sbtest.pad_format)
end

-- HANDLER bypasses the SQL layer of MySQL. It is closed with its connection.
local function execute_point_select()
   local o = sysbench.opt
   if o.oltp_point_select_mysql_handler then
      if not prepared.point_selects then
         con:query("HANDLER " .. name .. " OPEN")
      end
      execute("point_selects", draw_id())
   elseif o.oltp_point_select_all_cols then
      execute("row_selects", draw_id())
   else
      execute("point_selects", draw_id())
   end
end

local function execute_ranges(key)
   for _ = 1, opt[key] do
      local id = math.min(draw_id(), opt.table_size - opt.range_size)
      id = math.max(id, 1)
      execute(key, id, id + opt.range_size - 1)
   end
end

-- Modes (--oltp-test-mode) ----------------------------------------------------

local count = 0 -- events of this user

-- Returns a number that no other event of any user has.
local function event_number()
   return count * sysbench.opt.threads + sysbench.tid
end

local function read_rows()
   for _ = 1, opt.point_selects do
      execute_point_select()
   end
   if opt.range_selects then
      execute_ranges("simple_ranges")
      execute_ranges("sum_ranges")
      execute_ranges("order_ranges")
      execute_ranges("distinct_ranges")
   end
end

local function update_key()
   execute("index_updates", draw_id())
end

local function update_nokey()
   local c = random_c()
   execute("non_index_updates", c, draw_id())
end

local function write_rows()
   for _ = 1, opt.index_updates do
      update_key()
   end
   for _ = 1, opt.non_index_updates do
      update_nokey()
   end
   for _ = 1, opt.delete_inserts do
      -- 0.4 updates the row before it deletes it.
      local id = draw_id()
      execute("index_updates", id)
      local k, c, pad = draw_id(), random_c(), random_pad()
      execute("deletes", id)
      execute("inserts", id, k, c, pad)
   end
end

-- A connection that is closed after each query cannot keep a transaction open.
local function complex()
   local in_transaction = not opt.skip_trx and not one_query
   if in_transaction then
      execute("begin")
   end
   if not opt.write_only then
      read_rows()
   end
   if not opt.read_only then
      write_rows()
   end
   if in_transaction then
      execute("commit")
   end
end

-- Returns the number of queries of an event, for the think time.
local function complex_queries()
   local n = 0
   if not opt.write_only then
      n = opt.point_selects
      if opt.range_selects then
         n = n + opt.simple_ranges + opt.sum_ranges + opt.order_ranges
            + opt.distinct_ranges
      end
   end
   if not opt.read_only then
      n = n + opt.index_updates + opt.non_index_updates
         + 3 * opt.delete_inserts
   end
   return n
end

local function call_procedure()
   execute("call", sysbench.tid, sysbench.opt.threads)
end

local nontrx = {update_key = update_key, update_nokey = update_nokey}

function nontrx.select()
   execute("pad_selects", draw_id())
end

-- Deletes a different row each time, until all are deleted. The prime is larger
-- than most tables, so its multiples visit each row once.
function nontrx.delete()
   local size = math.max(opt.table_size, 1)
   local n = event_number() % size * 2147483647LL % size
   execute("deletes", tonumber(n) + 1)
end

function nontrx.insert()
   local k, c, pad = draw_id(), random_c(), random_pad()
   if sbtest.server_ids(d, opt) then
      execute("inserts_without_id", k, c, pad)
   else
      execute("inserts", event_number() + 1, k, c, pad)
   end
end

-- Returns the function that executes an event.
local function event_of_mode()
   if opt.mode == "nontrx" then
      return nontrx[opt.nontrx]
   elseif opt.mode == "sp" then
      if not d.call then
         error(string.format("--oltp-test-mode=sp: %s has no stored " ..
            "procedures", d.name or "this database"), 0)
      end
      statements.call = {d.call:format(sysbench.opt.oltp_sp_name), INT, INT}
      return call_procedure
   end
   if sysbench.opt.oltp_point_select_mysql_handler then
      if not d.handlers then
         error("--oltp-point-select-mysql-handler needs MySQL", 0)
      end
      statements.point_selects[1] = "HANDLER %s READ `" ..
         (opt.secondary and "xid" or "PRIMARY") .. "` = (?)"
   end
   return opt.mode == "simple" and execute_point_select or complex
end

-- Users ----------------------------------------------------------------------

local run -- executes an event

-- Think time: 0.4 slept before each query, inside the transaction. Here the sum
-- is slept before the event, so that no latency includes it.
local function think()
   local min = sysbench.opt.oltp_user_delay_min
   local max = math.max(sysbench.opt.oltp_user_delay_max, min)
   if max > 0 then
      for _ = 1, opt.mode == "complex" and complex_queries() or 1 do
         pause = pause + rand.uniform(min, max) / 1e6
      end
   end
   if pause > 0 then
      sysbench.user.think(pause)
      pause = 0
   end
end

function thread_init()
   local drv = sysbench.sql.driver()
   opt, con, d = settings(), drv:connect(), dialect.of(drv)
   name = sbtest.name(opt, 1)
   local begin, commit = legacy.transaction(d, opt, opt.read_only)
   statements.begin, statements.commit = {begin}, {commit}
   run = event_of_mode()
   pause = sysbench.opt.oltp_connect_delay / 1e6
   think()
end

function thread_done()
   close_statements()
   con:disconnect()
end

local at_random = {"session", "transaction", "query"}

function event()
   local used_for = opt.reconnect_mode
   if used_for == "random" then
      used_for = at_random[rand.uniform(1, 3)]
   end
   one_query = used_for == "query"
   if opt.pipeline then
      con:pipeline_begin()
      run()
      con:pipeline_run()
   else
      run()
   end
   if used_for == "transaction" then
      reconnect()
   end
   count = count + 1
   think()
end

function help()
   print("The test of sysbench 0.4; oltp.lua is the workload of 0.5.\n")
   sysbench.cmdline.print_test_options()
end
