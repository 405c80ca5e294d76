-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What the oltp_*.lua workloads have in common, and what scripts of others
-- build upon: options, commands, and the functions below, all of them global
-- on purpose. A script that requires this file defines prepare_statements()
-- and event().

local options = require("sb.options")
local dialect = require("sb.dialect")
local schema = require("sb.schema")
local parallel = require("sb.prepare")
local mix = require("sb.mix")

if sysbench.cmdline.command == nil then
   error("Command is required. Supported commands: prepare, warmup, run, " ..
      "cleanup, help", 0)
end

sysbench.cmdline.options = options.oltp()

-- Statements and parameters live in the globals con, stmt and param.
local m = mix.new(_G, mix.prepared)

local function settings()
   return options.settle(sysbench.opt)
end

local function connect()
   local driver = sysbench.sql.driver()
   return driver:connect(), dialect.of(driver), driver
end

function get_c_value()
   return sysbench.rand.string(schema.c_format)
end

function get_pad_value()
   return sysbench.rand.string(schema.pad_format)
end

local own_c_value, own_pad_value = get_c_value, get_pad_value

-- What a script put in place of the two, or nil twice.
local function values()
   return get_c_value ~= own_c_value and get_c_value or nil,
      get_pad_value ~= own_pad_value and get_pad_value or nil
end

-- Creates, fills and indexes table number table_num through `connection`.
function create_table(driver, connection, table_num)
   schema.build(connection, dialect.of(driver), settings(), table_num,
      values())
end

local own_create_table = create_table

function cmd_prepare()
   local opt = settings()
   local connection, d, driver = connect()
   if create_table ~= own_create_table then
      parallel.each_table(opt, function(n)
         create_table(driver, connection, n)
      end)
   else
      parallel.prepare(connection, d, opt, values())
   end
   connection:disconnect()
end

function cmd_warmup()
   local opt = settings()
   local connection, d = connect()
   parallel.warmup(connection, d, opt)
   connection:disconnect()
end

cmd_prewarm = cmd_warmup

sysbench.cmdline.commands = {
   prepare = {cmd_prepare, sysbench.cmdline.PARALLEL_COMMAND},
   warmup = {cmd_warmup, sysbench.cmdline.PARALLEL_COMMAND},
   prewarm = {cmd_warmup, sysbench.cmdline.PARALLEL_COMMAND},
}

function cleanup()
   local opt = settings()
   local connection = connect()
   schema.drop_all(connection, opt)
   connection:disconnect()
end

-- read_only: the transactions change nothing.
function prepare_begin(read_only)
   m:prepare_begin(dialect.of(drv), sysbench.opt, read_only)
end

function prepare_commit(read_only)
   m:prepare_commit(dialect.of(drv), sysbench.opt, read_only)
end

function prepare_for_each_table(key)
   m:prepare(sysbench.opt, key)
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

function thread_init()
   local opt = settings()
   drv = sysbench.sql.driver()
   con = drv:connect()
   m:open(opt)
   prepare_statements()
end

function close_statements()
   m:close(sysbench.opt)
end

function thread_done()
   close_statements()
   con:disconnect()
end

local function pick()
   return sysbench.rand.uniform(1, sysbench.opt.tables)
end

function begin()
   stmt.begin:execute()
end

function commit()
   stmt.commit:execute()
end

function execute_point_selects()
   m:points(sysbench.opt, pick())
end

function execute_simple_ranges()
   m:range(sysbench.opt, pick(), "simple_ranges")
end

function execute_sum_ranges()
   m:range(sysbench.opt, pick(), "sum_ranges")
end

function execute_order_ranges()
   m:range(sysbench.opt, pick(), "order_ranges")
end

function execute_distinct_ranges()
   m:range(sysbench.opt, pick(), "distinct_ranges")
end

function execute_index_updates()
   m:index_updates(sysbench.opt, pick())
end

function execute_non_index_updates()
   m:non_index_updates(sysbench.opt, pick())
end

function execute_delete_inserts()
   m:delete_inserts(sysbench.opt, pick())
end

local events = 0

-- To be called at the end of event(): connects anew every --reconnect events.
function check_reconnect()
   if sysbench.opt.reconnect > 0 then
      events = events + 1
      if events % sysbench.opt.reconnect == 0 then
         close_statements()
         con:reconnect()
         prepare_statements()
      end
   end
end
