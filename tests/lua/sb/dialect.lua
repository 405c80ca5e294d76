-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What differs between SQL databases, one table each, keyed by
-- drv:dialect(). A new database is a new entry: the workloads hold no
-- branches. What an entry leaves out is taken from `generic`.

-- Templates take the name of the table as %s.
local generic = {
   -- Transactions. begin_write is for those that will change rows.
   begin = "BEGIN",
   begin_write = "BEGIN",
   commit = "COMMIT",

   -- Types of the column id: numbered by the client, and by the server.
   id = "INTEGER NOT NULL",
   id_auto = "INTEGER NOT NULL",
   -- The server can number rows at all, with the column id as primary key,
   -- and with a plain index on it (--secondary).
   numbers_rows = false,
   numbers_rows_secondary = false,
   -- What an INSERT gives as id to have the row numbered; nil: the column is
   -- left out.
   auto_value = nil,
   -- The primary key is made after the rows are there: for servers that keep
   -- rows and key apart.
   key_after_rows = false,
   -- Clause in CREATE TABLE for a plain index on id; nil: an index of its
   -- own is made after loading.
   secondary_key = nil,

   -- Counts the tables of that name; nil: not asked.
   find_table = nil,
   truncate = "DELETE FROM %s",
   -- Run for each table when its rows and primary key are there (sequences and
   -- the like).
   after_load = {},
   -- Reads a whole table and its index into the caches.
   warmup = {
      "SELECT SUM(LENGTH(c) + LENGTH(pad)) FROM %s",
      "SELECT COUNT(*) FROM %s WHERE k >= 0",
   },

   -- A look at a new table; raises an error, and drops it, when the server
   -- made something else than was asked for. nil: not needed.
   check_table = nil,

   -- Only for the modes of oltp_0_4 that need them; nil: no such thing.
   call = nil,
   handler = nil,
}

-- What follows the closing bracket of CREATE TABLE.
function generic.table_options(opt)
   return opt.create_table_options or ""
end

-- First and last statement of a transaction on all tables of a workload.
function generic.transaction(self, _, read_only)
   return read_only and self.begin or self.begin_write, self.commit
end

local dialects = {}

dialects.sqlite = {
   -- A deferred transaction that turns writer late can fail at once, with
   -- nobody to wait for; asking for the write lock first waits in line.
   begin_write = "BEGIN IMMEDIATE",
   numbers_rows = true,
   find_table =
      "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND " ..
      "name = '%s'",
}

-- Seldom used parts are in sb/mysql.lua.
dialects.mysql = {
   id_auto = "INTEGER NOT NULL AUTO_INCREMENT",
   numbers_rows = true,
   numbers_rows_secondary = true,
   auto_value = "0",
   secondary_key = "KEY xid (id)",
   find_table =
      "SELECT COUNT(*) FROM information_schema.tables WHERE " ..
      "table_schema = DATABASE() AND table_name = '%s'",
   truncate = "TRUNCATE TABLE %s",
   call = "CALL %s(?, ?)",
   transaction = function(self, opt, read_only)
      -- Old generations lock tables that know no transactions.
      if opt.mysql_engine_trx then
         return require("sb.mysql").transaction(self, opt, read_only)
      end
      return self.begin, self.commit
   end,
   table_options = function(opt)
      return require("sb.mysql").table_options(opt)
   end,
   check_table = function(con, opt, name)
      require("sb.mysql").check_table(con, opt, name)
   end,
   handler = function(set, opt, m)
      require("sb.mysql").handler(set, opt, m)
   end,
}

dialects.pgsql = {
   id_auto = "SERIAL",
   numbers_rows = true,
   numbers_rows_secondary = true,
   key_after_rows = true,
   find_table = "SELECT COUNT(to_regclass('%s'))",
   truncate = "TRUNCATE TABLE %s",
   -- Nothing for a column without a sequence, or a table without rows.
   after_load = {
      "SELECT setval(pg_get_serial_sequence('%s', 'id'), MAX(id)) FROM %s",
   },
   -- Reading a whole large table in its own order leaves the cache alone.
   warmup = {
      "SET enable_seqscan = off",
      "SELECT SUM(LENGTH(c) + LENGTH(pad)) FROM %s WHERE id >= 0",
      "SELECT COUNT(*) FROM %s WHERE k >= 0",
      "RESET enable_seqscan",
   },
   call = "CALL %s(?, ?)",
   variants = "sb.pgsql_variants",
}

dialects.null = {
   numbers_rows = true,
   numbers_rows_secondary = true,
   call = "CALL %s(?, ?)",
}

local M = {}

-- The table for a driver, or a dialect by name.
function M.of(drv)
   local name = type(drv) == "string" and drv or drv:dialect()
   local d = M[name] or generic
   local variant = sysbench.opt and sysbench.opt.pgsql_variant
   if d.variants and variant and variant ~= "" then
      return require(d.variants).of(d, variant)
   end
   return d
end

for name, entry in pairs(dialects) do
   entry.name = name
   M[name] = setmetatable(entry, {__index = generic})
end

return M
