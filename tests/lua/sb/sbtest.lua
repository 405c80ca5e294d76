-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The tables of the OLTP workloads, sbtest1, sbtest2 and so on: names, columns
-- and rows. sb/sbtest_check.lua checks them. `opt` is sysbench.opt with the
-- options of oltp_common.lua, `d` an entry of sb/dialect.lua.

local rand = sysbench.rand

local M = {}

-- Only commands use this module. The users of a run, who may have a thread and
-- a Lua state each, do not load it.
local function tables()
   return require("sb.tables")
end

local ROWS_MAX = 2147483647 -- the ids of a table are INTEGER
local PARTITIONS_MAX = 8192 -- of MySQL; PostgreSQL is slow with far fewer

-- Groups of eleven digits: 10 groups are 119 characters, 5 groups 59.
local group = "###########"
M.c_format = group .. ("-" .. group):rep(9)
M.pad_format = group .. ("-" .. group):rep(4)

-- Changes the settings for what the server lacks, and returns them: Redshift
-- has no secondary indexes.
function M.settings(opt)
   if opt.pgsql_variant == "redshift" then
      opt.create_secondary = false
      opt.delete_inserts = 0
   end
   return opt
end

-- Returns the name of table n.
function M.name(opt, n)
   local name = opt.table_name or "sbtest"
   return opt.table_name and opt.tables == 1 and name or name .. n
end

-- Returns the suffix of the names of table n's indexes.
local function suffix(opt, n)
   return opt.table_name or tostring(n)
end

-- Returns whether the server assigns the ids of new rows.
function M.server_ids(d, opt)
   if not opt.auto_inc then
      return false
   end
   return opt.secondary and d.numbers_rows_secondary
      or not opt.secondary and d.numbers_rows
end

-- Returns an INSERT of one new row into the table `name`. The server assigns
-- the id if it can; otherwise it is a unique random one.
function M.insert_text(d, opt, name)
   local k = rand.default(1, math.max(opt.table_size, 1))
   local c, pad = rand.string(M.c_format), rand.string(M.pad_format)
   if not M.server_ids(d, opt) then
      -- unsigned to signed 32 bits, for the INTEGER column
      return string.format("INSERT INTO %s (id, k, c, pad) VALUES " ..
         "(%d, %d, '%s', '%s')", name, rand.unique() - 2147483648, k, c, pad)
   elseif d.auto_value then
      return string.format("INSERT INTO %s (id, k, c, pad) VALUES " ..
         "(%s, %d, '%s', '%s')", name, d.auto_value, k, c, pad)
   end
   return string.format("INSERT INTO %s (k, c, pad) VALUES (%d, '%s', '%s')",
      name, k, c, pad)
end

-- Creating -------------------------------------------------------------------

-- Returns the definitions of the columns c and pad.
function M.texts(con, d)
   local default = "DEFAULT '' "
   if d.empty_is_null and con:query_row(d.empty_is_null) == "1" then
      default = "" -- it would be NULL, which NOT NULL does not allow
   end
   return string.format("c CHAR(120) %sNOT NULL, pad CHAR(60) %sNOT NULL",
      default, default)
end

local function create_table(con, d, opt, n, table_options)
   local key = not d.key_after_rows and "PRIMARY KEY (id)"
   if opt.secondary then
      key = d.secondary_key
   end
   con:query(string.format("CREATE TABLE %s(" ..
      "id %s, " ..
      "k INTEGER DEFAULT '0' NOT NULL, " ..
      "%s%s) %s",
      M.name(opt, n),
      M.server_ids(d, opt) and d.id_auto or d.id,
      M.texts(con, d),
      key and ", " .. key or "",
      table_options))
end

local function drop(con, name)
   con:query("DROP TABLE IF EXISTS " .. name)
end

-- The partitions of a table on PostgreSQL are tables, and only they accept the
-- table options.
local function create_with_partitions(con, d, opt, n)
   local name, count = M.name(opt, n), opt.partitions
   create_table(con, d, opt, n, "PARTITION BY HASH (id)")
   for i = 0, count - 1 do
      local ok, err = pcall(con.query, con, string.format("CREATE TABLE " ..
         "%s_p%d PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER " ..
         "%d) %s", name, i, name, count, i, d.table_options(opt)))
      if not ok then
         pcall(con.reset, con)
         pcall(drop, con, name)
         error(err, 0)
      end
   end
end

local function check_partitions(d, opt)
   if opt.partitions < 0 or opt.partitions > PARTITIONS_MAX then
      error(string.format("--partitions must be from 0 to %d, not %d",
         PARTITIONS_MAX, opt.partitions), 0)
   elseif not d.partitions then
      error(string.format("--partitions=%d: %s does not support tables " ..
         "partitioned by hash", opt.partitions, d.variant or d.name or
         "this database"), 0)
   end
end

-- Creates table n without rows. Raises an error if it exists already.
local function create(con, d, opt, n)
   local name = M.name(opt, n)
   local partitioned = (tonumber(opt.partitions) or 0) ~= 0
   if opt.table_size > ROWS_MAX then
      error(string.format("--table-size must be at most %d, the largest " ..
         "id that fits into an INTEGER column", ROWS_MAX), 0)
   elseif partitioned then
      check_partitions(d, opt)
   end
   tables().refuse_existing(con, d, name)
   tables().print("Creating table '%s'...", name)
   if partitioned and d.partitions == "tables" then
      create_with_partitions(con, d, opt, n)
   elseif partitioned then
      create_table(con, d, opt, n, string.format("%s PARTITION BY HASH (id) " ..
         "PARTITIONS %d", d.table_options(opt), opt.partitions))
   else
      create_table(con, d, opt, n, d.table_options(opt))
   end
   if d.check_table then
      d.check_table(con, opt, name)
   end
end

-- Completes table n after its rows are loaded: key, sequences and indexes.
local function finish(con, d, opt, n)
   local name, mark = M.name(opt, n), suffix(opt, n)
   if d.key_after_rows and not opt.secondary then
      con:query(string.format("ALTER TABLE %s ADD PRIMARY KEY (id)", name))
   end
   for _, statement in ipairs(d.after_load) do
      con:query(statement:format(name, name))
   end
   if opt.secondary and not d.secondary_key then
      con:query(string.format("CREATE INDEX xid_%s ON %s(id)", mark, name))
   end
   if opt.create_secondary then
      tables().print("Creating a secondary index on '%s'...", name)
      con:query(string.format("CREATE INDEX k_%s ON %s(k)", mark, name))
   end
end

-- Returns the description of the tables for sb/tables.lua. c, pad: functions
-- that return the values of these columns; nil: random text. The values depend
-- only on the table and the id; the user's own random stream is not used.
function M.description(c, pad)
   local t = {name = M.name, create = create, finish = finish}

   function t.columns()
      return "id,k,c,pad"
   end

   function t.fill(loader, opt, n, first, last)
      for id = first, last do
         rand.row(n, id)
         loader:int(id)
         loader:int(rand.default(1, opt.table_size))
         if c then
            loader:text(c())
         else
            loader:random_text(M.c_format)
         end
         if pad then
            loader:text(pad())
         else
            loader:random_text(M.pad_format)
         end
      end
      rand.resume()
   end

   return tables().describe(t)
end

-- Commands -------------------------------------------------------------------

-- Reads table n into the caches of the server.
function M.warm(con, d, opt, n)
   local name = M.name(opt, n)
   tables().print("Preloading table %s", name)
   for _, statement in ipairs(d.warmup) do
      con:query(statement:format(name))
   end
end

-- The commands warmup and cleanup.
function M.warmup(opt)
   tables().command_on_each_database(function(con, d)
      tables().divide_work("warmup", opt.tables, function(n)
         M.warm(con, d, opt, n)
      end)
   end)
end

function M.cleanup(opt)
   tables().command_on_each_database(function(con)
      for n = 1, opt.tables do
         tables().print("Dropping table '%s'...", M.name(opt, n))
         drop(con, M.name(opt, n))
      end
   end)
end

return M
