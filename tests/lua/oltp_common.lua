-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Options, commands and statements of the classic OLTP mix, for the oltp_*.lua
-- workloads and third-party scripts. The functions are global so that scripts
-- can replace them. A script that requires this file defines
-- prepare_statements() and event().
--
-- The tables are sbtest1, sbtest2 ... with the columns id (primary key), k
-- (indexed integer), c and pad (texts of 119 and 59 digits and dashes). Their
-- definitions and rows are in sb/sbtest.lua.

local dialect = require("sb.dialect")
local options = require("sb.options")
local sbtest = require("sb.sbtest")

local rand = sysbench.rand

-- Options --------------------------------------------------------------------

-- As in sysbench 1.0: without a command, an error names the commands.
options.require_command()

local int = sysbench.cmdline.ARG_INT
local INTEGER_MAX = 2147483647 -- of an INTEGER column

sysbench.cmdline.options = options.with_table_options{
   table_size = {"Rows per table", 10000, int, min = 0, max = 1e15},
   range_size = {"Rows per range SELECT, at least 1", 100, int, min = 1,
      max = INTEGER_MAX},
   tables = {"Number of tables, at least 1", 1, int, min = 1, max = 1e6},
   point_selects = {"Point SELECTs per transaction", 10, int, min = 0,
      max = INTEGER_MAX},
   simple_ranges = {"Range SELECTs per transaction", 1, int, min = 0,
      max = INTEGER_MAX},
   sum_ranges = {"SELECT SUM() queries per transaction", 1, int, min = 0,
      max = INTEGER_MAX},
   order_ranges = {"SELECT ORDER BY queries per transaction", 1, int, min = 0,
      max = INTEGER_MAX},
   distinct_ranges = {"SELECT DISTINCT queries per transaction", 1, int,
      min = 0, max = INTEGER_MAX},
   index_updates = {"UPDATEs of the indexed column per transaction", 1, int,
      min = 0, max = INTEGER_MAX},
   non_index_updates = {"UPDATEs of an unindexed column per transaction", 1,
      int, min = 0, max = INTEGER_MAX},
   delete_inserts = {"DELETE + INSERT pairs of the same row per transaction",
      1, int, min = 0, max = INTEGER_MAX},
   range_selects = {"Execute the four kinds of range SELECTs", true},
   auto_inc = {"Let the server assign the ids of new rows; off: the client " ..
      "chooses them", true},
   skip_trx = {"Do not send BEGIN and COMMIT: each query is its own " ..
      "transaction (but see pipeline)", false},
   secondary = {"Create a plain index on id instead of a primary key", false},
   create_secondary = {"Create a secondary index on k", true},
   partitions = {"Number of partitions per table that prepare creates, by a " ..
      "hash of id (MySQL, PostgreSQL), at most 8192; 0: none", 0, int,
      min = 0, max = 8192},
   reconnect = {"Reconnect every N events; 0: never", 0, int, min = 0,
      max = INTEGER_MAX},
   pipeline = {"Send the statements of an event together, as far as the " ..
      "client library supports it; without BEGIN, PostgreSQL executes them " ..
      "as one transaction", false},
}

-- A local, because looking up sysbench.opt for each statement costs time. A
-- script that replaces thread_init() does not set it, so functions that such a
-- script may call first use `opt or settings()`.
local opt

-- Sets opt to sysbench.opt, without the options that --pgsql-variant does not
-- support, and returns it.
local function settings()
   opt = sbtest.settings(sysbench.opt)
   return opt
end

-- Commands -------------------------------------------------------------------

-- Return the values of the columns c and pad for prepare. Scripts may replace
-- these functions and create_table().
function get_c_value()
   return rand.string(sbtest.c_format)
end

function get_pad_value()
   return rand.string(sbtest.pad_format)
end

local own_c_value, own_pad_value = get_c_value, get_pad_value

-- Returns the functions with which a script replaces get_c_value() and
-- get_pad_value(); nil for those not replaced.
local function replaced_values()
   return get_c_value ~= own_c_value and get_c_value or nil,
      get_pad_value ~= own_pad_value and get_pad_value or nil
end

-- Creates, fills and indexes table number table_num over one connection.
-- Scripts may call or replace it. cmd_prepare() calls it only if a script has
-- replaced it. Otherwise tables.prepare() creates the tables: all users load
-- each table together.
function create_table(driver, connection, table_num)
   require("sb.tables").build(connection, dialect.of(driver), settings(),
      sbtest.description(replaced_values()), table_num)
end

local own_create_table = create_table

function cmd_prepare()
   settings()
   local t = sbtest.description(replaced_values())
   local tables = require("sb.tables")
   tables.command_on_each_database(function(connection, d, driver, database)
      if create_table == own_create_table then
         return tables.prepare(connection, d, opt, t, database)
      end
      tables.divide_work("create_table", opt.tables, function(n)
         create_table(driver, connection, n)
      end)
   end)
end

function cmd_warmup()
   sbtest.warmup(settings())
end

cmd_prewarm = cmd_warmup -- the older name

local function cmd_check()
   if create_table ~= own_create_table then
      error("check supports only the tables of oltp_common, but this " ..
         "script defines its own create_table()", 0)
   end
   local c, pad = replaced_values()
   require("sb.sbtest_check").check(settings(), c ~= nil or pad ~= nil)
end

function cleanup()
   sbtest.cleanup(settings())
end

sysbench.cmdline.commands = {
   prepare = {cmd_prepare, sysbench.cmdline.PARALLEL_COMMAND},
   warmup = {cmd_warmup, sysbench.cmdline.PARALLEL_COMMAND},
   prewarm = {cmd_warmup, sysbench.cmdline.PARALLEL_COMMAND},
   check = {cmd_check, sysbench.cmdline.PARALLEL_COMMAND},
}

-- Statements -----------------------------------------------------------------

-- Globals: con is the connection, stmt[n].point_selects a statement on table n,
-- param[n].point_selects[1] its first parameter; stmt.begin and stmt.commit are
-- the other statements.

local INT = {sysbench.sql.type.INT}
local C = {sysbench.sql.type.CHAR, 120}
local PAD = {sysbench.sql.type.CHAR, 60}

-- By name, which is also the name in the report: {text, types of the
-- parameters}; %s is the table.
local statements = {
   point_selects = {"SELECT c FROM %s WHERE id=?", INT},
   simple_ranges = {"SELECT c FROM %s WHERE id BETWEEN ? AND ?", INT, INT},
   sum_ranges = {"SELECT SUM(k) FROM %s WHERE id BETWEEN ? AND ?", INT, INT},
   order_ranges = {"SELECT c FROM %s WHERE id BETWEEN ? AND ? ORDER BY c",
      INT, INT},
   distinct_ranges = {"SELECT DISTINCT c FROM %s " ..
      "WHERE id BETWEEN ? AND ? ORDER BY c", INT, INT},
   index_updates = {"UPDATE %s SET k=k+1 WHERE id=?", INT},
   non_index_updates = {"UPDATE %s SET c=? WHERE id=?", C, INT},
   deletes = {"DELETE FROM %s WHERE id=?", INT},
   inserts = {"INSERT INTO %s (id, k, c, pad) VALUES (?, ?, ?, ?)", INT, INT,
      C, PAD},
}

local function prepare_one(n, key)
   local text = statements[key][1]:format(sbtest.name(sysbench.opt, n))
   local statement, parameters = con:prepare(text, key), {}
   for i = 2, #statements[key] do
      parameters[i - 1] = statement:bind_create(unpack(statements[key][i]))
   end
   statement:bind_param(unpack(parameters))
   stmt[n][key], param[n][key] = statement, parameters
end

local declared -- keys of the statements that the script uses
local own_stmt -- the table that open_statements() created

-- Sets stmt and param. The first access to stmt[n][key] or param[n][key]
-- prepares the statement and sets both: preparing all statements of a thousand
-- users on hundreds of tables would take too long.
local function open_statements()
   local of_table = {}
   declared, stmt, param = {}, {}, {}

   local function prepare_on_access(n)
      return {__index = function(list, key)
         if declared[key] then
            prepare_one(n, key)
            return rawget(list, key)
         end
      end}
   end

   function of_table.__index(list, n)
      if type(n) == "number" and n >= 1 and n <= sysbench.opt.tables then
         stmt[n] = setmetatable({}, prepare_on_access(n))
         param[n] = setmetatable({}, prepare_on_access(n))
         return rawget(list, n)
      end
   end

   setmetatable(stmt, of_table)
   setmetatable(param, of_table)
   own_stmt = stmt
end

-- Declares or prepares a statement; key: its name in `statements`.
function prepare_for_each_table(key)
   if stmt == own_stmt then
      declared[key] = true
      return
   end
   -- The script has set stmt and param itself, as scripts for 1.0 do.
   for n = 1, sysbench.opt.tables do
      prepare_one(n, key)
   end
end

function prepare_point_selects()
   prepare_for_each_table("point_selects")
end

function prepare_simple_ranges()
   prepare_for_each_table("simple_ranges")
end

function prepare_sum_ranges()
   prepare_for_each_table("sum_ranges")
end

function prepare_order_ranges()
   prepare_for_each_table("order_ranges")
end

function prepare_distinct_ranges()
   prepare_for_each_table("distinct_ranges")
end

function prepare_index_updates()
   prepare_for_each_table("index_updates")
end

function prepare_non_index_updates()
   prepare_for_each_table("non_index_updates")
end

function prepare_delete_inserts()
   prepare_for_each_table("deletes")
   prepare_for_each_table("inserts")
end

-- read_only: the transactions do not change any rows.
function prepare_begin(read_only)
   local d = dialect.of(drv)
   stmt.begin = con:prepare(read_only and d.begin or d.begin_write, "begin")
end

function prepare_commit()
   stmt.commit = con:prepare(dialect.of(drv).commit, "commit")
end

function close_statements()
   for n, list in pairs(stmt) do
      if type(n) == "number" then
         for key, statement in pairs(list) do
            statement:close()
            list[key], param[n][key] = nil, nil
         end
      end
   end
   for _, key in ipairs{"begin", "commit"} do
      if stmt[key] then
         stmt[key]:close()
      end
   end
end

-- Users ----------------------------------------------------------------------

-- For --pipeline: collects the statements that event() executes and sends them
-- together at its end.
local function pipeline_events()
   local plain_event, plain_reconnect = event, check_reconnect
   function event(tid)
      con:pipeline_begin()
      local stop = plain_event(tid)
      con:pipeline_run()
      return stop
   end
   function check_reconnect()
      con:pipeline_run()
      plain_reconnect()
      con:pipeline_begin()
   end
end

function thread_init()
   settings()
   drv = sysbench.sql.driver()
   con = drv:connect()
   open_statements()
   prepare_statements()
   if sysbench.opt.pipeline then
      pipeline_events()
   end
end

function thread_done()
   close_statements()
   con:disconnect()
end

-- Events ---------------------------------------------------------------------

-- Returns the number of a table.
local function draw_table()
   local count = (opt or settings()).tables
   return count == 1 and 1 or rand.uniform(1, count)
end

-- Returns an id, with the distribution --rand-type.
local function draw_id()
   local size = opt.table_size
   return rand.default(1, size < 1 and 1 or size)
end

function begin()
   stmt.begin:execute()
end

function commit()
   stmt.commit:execute()
end

function execute_point_selects()
   local n = draw_table()
   local select, id = stmt[n].point_selects, param[n].point_selects[1]
   for _ = 1, opt.point_selects do
      id:set(draw_id())
      select:execute()
   end
end

local function execute_range(key)
   local n, size = draw_table(), opt.range_size
   local select, ids = stmt[n][key], param[n][key]
   for _ = 1, opt[key] do
      local id = draw_id()
      ids[1]:set(id)
      ids[2]:set(id + size - 1)
      select:execute()
   end
end

function execute_simple_ranges()
   execute_range("simple_ranges")
end

function execute_sum_ranges()
   execute_range("sum_ranges")
end

function execute_order_ranges()
   execute_range("order_ranges")
end

function execute_distinct_ranges()
   execute_range("distinct_ranges")
end

function execute_index_updates()
   local n = draw_table()
   local update, id = stmt[n].index_updates, param[n].index_updates[1]
   for _ = 1, opt.index_updates do
      id:set(draw_id())
      update:execute()
   end
end

function execute_non_index_updates()
   local n = draw_table()
   local update = stmt[n].non_index_updates
   local new = param[n].non_index_updates -- c, id
   for _ = 1, opt.non_index_updates do
      new[1]:set_rand_str(sbtest.c_format)
      new[2]:set(draw_id())
      update:execute()
   end
end

-- Deletes a row and inserts it again with other values.
function execute_delete_inserts()
   local n = draw_table()
   local delete, insert = stmt[n].deletes, stmt[n].inserts
   local deleted = param[n].deletes[1]
   local new = param[n].inserts -- id, k, c, pad
   for _ = 1, opt.delete_inserts do
      local id = draw_id()
      deleted:set(id)
      new[1]:set(id)
      new[2]:set(draw_id())
      new[3]:set_rand_str(sbtest.c_format)
      new[4]:set_rand_str(sbtest.pad_format)
      delete:execute()
      insert:execute()
   end
end

local events = 0

-- To be called at the end of event(): reconnects every --reconnect events.
function check_reconnect()
   if (opt or settings()).reconnect > 0 then
      events = events + 1
      if events % opt.reconnect == 0 then
         close_statements()
         con:reconnect()
         prepare_statements()
      end
   end
end

-- Checks before a run --------------------------------------------------------

local RANGES = {"simple_ranges", "sum_ranges", "order_ranges",
   "distinct_ranges"}

local has_transactions = {oltp_read_only = true, oltp_read_write = true,
   oltp_write_only = true}

-- Returns a number that is 0 if a transaction of the workload has no statements
-- besides BEGIN and COMMIT.
local function count_statements(workload)
   local count = 0
   if workload ~= "oltp_write_only" then
      count = opt.point_selects
      for _, range in ipairs(opt.range_selects and RANGES or {}) do
         count = count + opt[range]
      end
   end
   if workload ~= "oltp_read_only" then
      count = count + opt.index_updates + opt.non_index_updates +
         opt.delete_inserts
   end
   return count
end

-- Warns of options that have no effect, or make events do nothing.
local function warn_of_options()
   local workload = require("sb.sbtest_check").script_name()
   if workload == "oltp_point_select" then
      if opt.point_selects ~= 10 then -- the default of the other scripts
         sysbench.warning("--point-selects has no effect: an event of " ..
            "oltp_point_select is one query")
      end
   elseif not has_transactions[workload] then
      return
   elseif count_statements(workload) == 0 then
      sysbench.warning("all numbers of statements are 0: " .. (opt.skip_trx and
         "events do nothing" or "transactions are only BEGIN and COMMIT"))
   elseif workload ~= "oltp_write_only" and not opt.range_selects then
      for _, range in ipairs(RANGES) do
         if opt[range] > 1 then -- the default is 1
            sysbench.warning(string.format("--%s=%d has no effect: " ..
               "--range-selects=off turns off all ranges",
               range:gsub("_", "-"), opt[range]))
         end
      end
   end
end

-- Called in the main state after init(), before the users start.
function sysbench.hooks.check_tables()
   settings()
   warn_of_options()
   require("sb.sbtest_check").check_before_run(opt)
end
