#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The test of sysbench 0.4, which 'sysbench oltp' and --test=oltp run: one
-- table, prepared statements, and several modes. docs/workloads.md lists the
-- differences from sysbench 0.4.

local dialect = require("sb.dialect")
local makers = require("sb.mix_makers")
local mix = require("sb.mix")
local old_names = require("sb.old_names")
local options = require("sb.options")
local schema = require("sb.schema")

options.need_command("check, ")
sysbench.cmdline.options = options.declarations("v04")

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
   opt.clamp_ranges = true
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

local function connect()
   local drv = sysbench.sql.driver()
   return drv:connect(), dialect.of(drv)
end

-- Commands -----------------------------------------------------------------

local function cmd_prepare()
   local opt = settings()
   require("sb.databases").each(function(con, d, _, name)
      return require("sb.prepare").prepare(con, d, opt, nil, nil, nil, name)
   end)
end

local function cmd_warmup()
   local opt = settings()
   require("sb.databases").each(function(con, d)
      require("sb.prepare").warmup(con, d, opt)
   end)
end

local function cmd_check()
   local opt = settings()
   if opt.mode == "nontrx" and opt.nontrx == "insert" then
      opt.table_size = 0 -- the run starts with an empty table
   end
   require("sb.oltp_check").check(opt)
end

local parallel_command = sysbench.cmdline.PARALLEL_COMMAND

sysbench.cmdline.commands = {
   prepare = {cmd_prepare, parallel_command},
   warmup = {cmd_warmup, parallel_command},
   prewarm = {cmd_warmup, parallel_command},
   check = {cmd_check, parallel_command},
}

function cleanup()
   local opt = settings()
   require("sb.databases").each(function(con)
      require("sb.build").drop_all(con, opt)
   end)
end

-- The tables are not checked in the sp mode: which tables the procedure uses is
-- unknown.
if sysbench.cmdline.main_state then
   function sysbench.hooks.check_tables()
      local opt = settings()
      if opt.mode == "complex" or opt.mode == "simple"
         or opt.mode == "nontrx" and opt.nontrx ~= "insert"
      then
         local check = require("sb.check_tables")
         check.check(opt, check.ROWS)
      end
   end
end

-- The insert mode starts with an empty table.
function init()
   local opt = settings()
   if opt.mode == "nontrx" and opt.nontrx == "insert" then
      local check = require("sb.check_tables")
      check.check(opt, check.TABLES)
      require("sb.databases").each(function(con, d)
         con:query(d.truncate:format(schema.name(opt, 1)))
      end)
   end
end

-- Random ids ---------------------------------------------------------------

local draw = {}

function draw.uniform(size)
   return sysbench.rand.uniform(1, size)
end

function draw.gaussian(size)
   local count, sum = sysbench.opt.oltp_dist_iter, 0
   for _ = 1, count do
      sum = sum + sysbench.rand.uniform(1, size)
   end
   return math.floor(sum / count)
end

-- --oltp-dist-res percent of the ids are uniformly distributed over the
-- --oltp-dist-pct percent of the rows in the middle; the others are gaussian.
function draw.special(size)
   local opt = sysbench.opt
   if sysbench.rand.uniform(1, 100) > opt.oltp_dist_res then
      return draw.gaussian(size)
   end
   local width = math.max(math.floor(size * opt.oltp_dist_pct / 100), 1)
   local first = math.floor(size / 2 - width / 2)
   return math.max(first + sysbench.rand.uniform(1, width), 1)
end

local function draw_id(opt)
   local size = math.max(opt.table_size, 1)
   local id = draw[opt.dist](size)
   if sysbench.opt.rand_scatter and opt.dist ~= "uniform" then
      return sysbench.rand.scatter(id, 1, size)
   end
   return id
end

-- Threads --------------------------------------------------------------------

local opt, d, mode
local pause = 0 -- think time before the next event, in seconds
local count = 0 -- events of this thread

-- Two sets of statements on one connection: those that stay prepared, and
-- those that reconnect after each query.
local kept, one_shot = {}, {}
local kept_mix, one_shot_mix
local stale = false -- the kept statements were closed with their connection

local function prepare_set(set, m)
   m:open(opt)
   mode.statements(set, m)
end

local function reconnect()
   if not stale then
      kept_mix:close()
      stale = true
   end
   kept.con:reconnect()
   pause = pause + sysbench.opt.oltp_connect_delay / 1e6
end

-- Think time: 0.4 slept before each query, inside the transaction. Here the sum
-- is slept before the event, so that no latency includes it.
local function think(queries)
   local min = sysbench.opt.oltp_user_delay_min
   local max = sysbench.opt.oltp_user_delay_max
   if max > min or min > 0 then
      for _ = 1, queries do
         pause = pause + sysbench.rand.uniform(min, math.max(min, max)) / 1e6
      end
   end
   if pause > 0 then
      sysbench.user.think(pause)
      pause = 0
   end
end

-- Returns a number that no other event of any thread has.
local function event_number()
   return count * sysbench.opt.threads + sysbench.tid
end

-- Modes ----------------------------------------------------------------------
--
-- queries(): number of queries per event, for the think time.

local point_key -- key of the point selects in the complex and simple modes

local function open_point(set, m)
   if sysbench.opt.oltp_point_select_mysql_handler then
      if not d.handler then
         error("--oltp-point-select-mysql-handler needs MySQL", 0)
      end
      point_key = "point_selects"
      d.handler(set, opt, m)
      return
   end
   point_key = sysbench.opt.oltp_point_select_all_cols and "row_selects"
      or "point_selects"
   m:prepare(opt, point_key)
end

local modes = {}

modes.simple = {
   statements = open_point,

   queries = function()
      return 1
   end,

   event = function(_, m)
      m:by_id(opt, 1, point_key, 1)
   end,
}

modes.complex = {
   statements = function(set, m)
      -- A connection that is closed after each query cannot keep a transaction
      -- open.
      set.trx = not opt.skip_trx and set ~= one_shot
      if set.trx then
         m:prepare_begin(d, opt, opt.read_only)
         m:prepare_commit(d, opt, opt.read_only)
      end
      if not opt.write_only then
         open_point(set, m)
         m:prepare_ranges(opt)
      end
      if not opt.read_only then
         m:prepare_writes(opt)
      end
   end,

   queries = function()
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
   end,

   event = function(set, m)
      if set.trx then
         set.stmt.begin:execute()
      end
      if not opt.write_only then
         m:by_id(opt, 1, point_key, opt.point_selects)
         m:read_ranges(opt, 1)
      end
      if not opt.read_only then
         m:index_updates(opt, 1)
         m:non_index_updates(opt, 1)
         for _ = 1, opt.delete_inserts do
            -- 0.4 updates the row before it deletes it.
            local id = draw_id(opt)
            set.param[1].index_updates[1]:set(id)
            set.stmt[1].index_updates:execute()
            m:delete_insert(opt, 1, id)
         end
      end
      if set.trx then
         set.stmt.commit:execute()
      end
   end,
}

local nontrx = {}

function nontrx.select(_, m)
   m:by_id(opt, 1, "pad_selects", 1)
end

function nontrx.update_key(_, m)
   m:by_id(opt, 1, "index_updates", 1)
end

function nontrx.update_nokey(_, m)
   m:non_index_updates(opt, 1)
end

-- Deletes a different row each time, until all are deleted. The prime is larger
-- than most tables, so its multiples visit each row once.
function nontrx.delete(set)
   local size = math.max(opt.table_size, 1)
   local n = event_number() % size * 2147483647LL % size
   set.param[1].deletes[1]:set(tonumber(n) + 1)
   set.stmt[1].deletes:execute()
end

function nontrx.insert(set)
   local insert = set.param[1].new_rows
   local first = 1
   if not set.server_ids then
      insert[1]:set(event_number() + 1)
      first = 2
   end
   insert[first]:set(draw_id(opt))
   insert[first + 1]:set_rand_str(schema.c_format)
   insert[first + 2]:set_rand_str(schema.pad_format)
   set.stmt[1].new_rows:execute()
end

local nontrx_keys = {select = "pad_selects", update_key = "index_updates",
   update_nokey = "non_index_updates", delete = "deletes"}

modes.nontrx = {
   statements = function(set, m)
      if opt.nontrx == "insert" then
         set.server_ids = schema.server_ids(d, opt)
         m:prepare_new_rows(d, opt)
      else
         opt.non_index_updates = 1
         m:prepare(opt, nontrx_keys[opt.nontrx])
      end
   end,

   queries = modes.simple.queries,

   event = function(set, m)
      nontrx[opt.nontrx](set, m)
   end,
}

modes.sp = {
   statements = function(set, m)
      if not d.call then
         error(string.format("--oltp-test-mode=sp: %s has no stored " ..
            "procedures", d.name or "this database"), 0)
      end
      m:prepare_call(d, sysbench.opt.oltp_sp_name)
      set.param[1].call[1]:set(sysbench.tid)
      set.param[1].call[2]:set(sysbench.opt.threads)
   end,

   queries = modes.simple.queries,

   event = function(set)
      set.stmt[1].call:execute()
   end,
}

-- Hooks ----------------------------------------------------------------------

function thread_init()
   opt = settings()
   mode = modes[opt.mode]
   local con
   con, d = connect()
   kept.con, one_shot.con = con, con
   kept_mix = mix.new(kept, mix.prepared, draw_id)
   one_shot_mix = mix.new(one_shot, makers.once(reconnect), draw_id)
   one_shot_mix.one_shot = true
   prepare_set(kept, kept_mix)
   prepare_set(one_shot, one_shot_mix)
   pause = sysbench.opt.oltp_connect_delay / 1e6
   think(mode.queries())
end

function thread_done()
   if not stale then
      kept_mix:close()
   end
   kept.con:disconnect()
end

-- Executes an event with the statements that stay prepared.
local function execute()
   if stale then
      prepare_set(kept, kept_mix)
      stale = false
   end
   if not opt.pipeline then
      mode.event(kept, kept_mix)
      return
   end
   kept.con:pipeline_begin()
   mode.event(kept, kept_mix)
   kept.con:pipeline_run()
end

local at_random = {"session", "transaction", "query"}

function event()
   local how = opt.reconnect_mode
   if how == "random" then
      how = at_random[sysbench.rand.uniform(1, 3)]
   end
   if how == "query" then
      mode.event(one_shot, one_shot_mix)
   else
      execute()
   end
   if how == "transaction" then
      reconnect()
   end
   count = count + 1
   think(mode.queries())
end

function help()
   print("The test of sysbench 0.4; oltp.lua is the workload of 0.5.\n")
   sysbench.cmdline.print_test_options()
end
