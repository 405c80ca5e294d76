-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The options, commands and functions that the oltp_*.lua workloads and
-- third-party scripts share. The functions are global so that scripts can
-- replace them. A script that requires this file defines prepare_statements()
-- and event().

local sysbench = sysbench
local options = require("sb.options")
local mix = require("sb.mix")
local by_id = mix.by_id

options.need_command("check, ")
sysbench.cmdline.options = options.declarations("oltp")

-- Statements and parameters live in the globals con, stmt and param.
local m = mix.new(mix.globals, mix.prepared)

-- Commands. Their code is in sb/oltp_commands.lua, which the users of a run do
-- not load.

local own -- functions of this file that scripts may replace

function cmd_prepare()
   require("sb.oltp_commands").prepare(own)
end

function cmd_warmup()
   require("sb.oltp_commands").warmup()
end

cmd_prewarm = cmd_warmup

local function cmd_check()
   require("sb.oltp_commands").check(own)
end

function cleanup()
   require("sb.oltp_commands").cleanup()
end

-- Creates, fills and indexes table number table_num over `connection`.
function create_table(driver, connection, table_num)
   require("sb.oltp_commands").create_table(own, driver, connection, table_num)
end

function get_c_value()
   return sysbench.rand.string(require("sb.schema").c_format)
end

function get_pad_value()
   return sysbench.rand.string(require("sb.schema").pad_format)
end

own = {create_table = create_table, c = get_c_value, pad = get_pad_value}

sysbench.cmdline.commands = {
   prepare = {cmd_prepare, sysbench.cmdline.PARALLEL_COMMAND},
   warmup = {cmd_warmup, sysbench.cmdline.PARALLEL_COMMAND},
   prewarm = {cmd_warmup, sysbench.cmdline.PARALLEL_COMMAND},
   check = {cmd_check, sysbench.cmdline.PARALLEL_COMMAND},
}

-- Statements -----------------------------------------------------------------

local function dialect()
   return require("sb.dialect").of(drv)
end

-- read_only: the transactions do not change any rows.
function prepare_begin(read_only)
   m:prepare_begin(dialect(), sysbench.opt, read_only)
end

function prepare_commit(read_only)
   m:prepare_commit(dialect(), sysbench.opt, read_only)
end

function prepare_for_each_table(key)
   m:prepare(sysbench.opt, key)
end

-- Defines prepare_point_selects() and so on.
for _, key in ipairs{"point_selects", "simple_ranges", "sum_ranges",
   "order_ranges", "distinct_ranges", "index_updates", "non_index_updates"}
do
   mix.globals["prepare_" .. key] = function()
      prepare_for_each_table(key)
   end
end

function prepare_delete_inserts()
   prepare_for_each_table("deletes")
   prepare_for_each_table("inserts")
end

function close_statements()
   m:close()
end

function thread_init()
   local opt = options.normalize(sysbench.opt)
   drv = sysbench.sql.driver()
   con = drv:connect()
   m:open(opt)
   prepare_statements()
   if opt.pipeline then
      require("sb.pipelined").wrap()
   end
end

function thread_done()
   close_statements()
   con:disconnect()
end

-- Events ---------------------------------------------------------------------

local function pick()
   local tables = sysbench.opt.tables
   return tables == 1 and 1 or sysbench.rand.uniform(1, tables)
end

function begin()
   stmt.begin:execute()
end

function commit()
   stmt.commit:execute()
end

function execute_point_selects()
   local opt = sysbench.opt
   return by_id(m, opt, pick(), "point_selects", opt.point_selects)
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

-- To be called at the end of event(): reconnects every --reconnect events.
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
