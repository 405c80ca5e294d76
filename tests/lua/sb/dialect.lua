-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The differences between SQL databases: one table per database, keyed by
-- drv:dialect(). The workloads do not branch on the database; a new one only
-- needs a new entry here. `generic` has the defaults.

-- In templates, %s is the name of the table.
local generic = {
   -- Transactions; begin_write starts one that changes rows.
   begin = "BEGIN",
   begin_write = "BEGIN",
   commit = "COMMIT",

   -- Types of the column id: if the client assigns ids, and if the server does.
   id = "INTEGER NOT NULL",
   id_auto = "INTEGER NOT NULL",
   -- Whether the server can assign ids: if id is the primary key, and if it
   -- has only a plain index (--secondary).
   numbers_rows = false,
   numbers_rows_secondary = false,
   -- The value of id in an INSERT that lets the server assign it; nil: the
   -- column is omitted.
   auto_value = nil,
   -- Whether to create the primary key after loading the rows: for servers that
   -- store rows and key separately.
   key_after_rows = false,
   -- Clause in CREATE TABLE for a plain index on id; nil: the index is created
   -- after loading.
   secondary_key = nil,

   -- Query for the number of tables of that name; nil: existing tables are not
   -- checked.
   find_table = nil,
   truncate = "DELETE FROM %s",
   -- Statements to run for each table after its rows are loaded and its primary
   -- key is created, for example to set sequences.
   after_load = {},
   -- Statements that read a whole table and its index into the caches.
   warmup = {
      "SELECT SUM(LENGTH(c) + LENGTH(pad)) FROM %s",
      "SELECT COUNT(*) FROM %s WHERE k >= 0",
   },

   -- Function that drops a new table and raises an error if the server did not
   -- create it as requested; nil: not needed.
   check_table = nil,

   -- For some modes of oltp_0_4; nil: not supported.
   call = nil,
   handler = nil,
}

-- Returns the text after the closing parenthesis of CREATE TABLE.
function generic.table_options(opt)
   return opt.create_table_options or ""
end

-- Returns the first and the last statement of a transaction on all tables of a
-- workload.
function generic.transaction(self, _, read_only)
   return read_only and self.begin or self.begin_write, self.commit
end

local dialects = {}

dialects.sqlite = {
   -- A deferred transaction that writes after it has read can fail at once,
   -- without waiting. Taking the write lock first waits for it.
   begin_write = "BEGIN IMMEDIATE",
   numbers_rows = true,
   find_table =
      "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND " ..
      "name = '%s'",
}

-- Rarely used parts are in sb/mysql.lua.
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
      -- The workloads of 0.4 and 0.5 lock tables that do not support
      -- transactions.
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
   -- Has no effect on a column without a sequence or a table without rows.
   after_load = {
      "SELECT setval(pg_get_serial_sequence('%s', 'id'), MAX(id)) FROM %s",
   },
   -- A sequential scan of a large table does not fill the buffer cache.
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

-- Returns the entry for a driver, or for a dialect by name.
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
