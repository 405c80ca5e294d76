-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- MySQL and MariaDB. Rarely used parts are in mysql_engines.lua.

local generic = require("sb.dialect.generic")

return {
   pipelines = true,
   -- With sql_mode ORACLE, BEGIN begins a block, and % is no operator.
   begin = "START TRANSACTION",
   begin_write = "START TRANSACTION",
   remainder = "MOD(%s, %d)",
   begin_snapshot = "START TRANSACTION WITH CONSISTENT SNAPSHOT",
   current_rows = " FOR UPDATE",
   drop_referenced = {"SET foreign_key_checks = 0",
      "DROP TABLE IF EXISTS %s", "SET foreign_key_checks = 1"},
   id_auto = "INTEGER NOT NULL AUTO_INCREMENT",
   big_id_auto = "BIGINT NOT NULL AUTO_INCREMENT",
   datetime = "DATETIME",
   numbers_rows = true,
   numbers_rows_secondary = true,
   auto_value = "NULL", -- not 0, for sql_mode NO_AUTO_VALUE_ON_ZERO
   empty_is_null = "SELECT '' IS NULL", -- sql_mode EMPTY_STRING_IS_NULL
   secondary_key = "KEY xid (id)",
   find_table =
      "SELECT COUNT(*) FROM information_schema.tables WHERE " ..
      "table_schema = DATABASE() AND table_name = '%s'",
   list_columns = "SELECT c.table_name, c.column_name, c.data_type, " ..
      "c.column_key = 'PRI' FROM information_schema.columns c " ..
      "JOIN information_schema.tables t ON t.table_schema = " ..
      "c.table_schema AND t.table_name = c.table_name WHERE " ..
      "c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' " ..
      "ORDER BY c.table_name, c.ordinal_position",
   name_quote = "`",
   verify_table = function(con, name)
      return require("sb.dialect.mysql_engines").verify_table(con, name)
   end,
   truncate = "TRUNCATE TABLE %s",
   index_of = "SELECT MIN(index_name) FROM information_schema.statistics " ..
      "WHERE table_schema = DATABASE() AND table_name = '%s' AND " ..
      "seq_in_index = 1 AND column_name = '%s'",
   find_index = "SELECT COUNT(*) FROM information_schema.statistics " ..
      "WHERE table_schema = DATABASE() AND table_name = '%s' AND " ..
      "index_name = '%s' AND seq_in_index = 1",
   find_column = "SELECT COUNT(*) FROM information_schema.columns WHERE " ..
      "table_schema = DATABASE() AND table_name = '%s' AND column_name = '%s'",
   stop_statements = function(con, list)
      return require("sb.dialect.mysql_engines").stop_statements(con, list)
   end,
   analyze = "ANALYZE TABLE %s",
   empty_statement = "DO 0", -- an empty text is an error
   -- SYSDATE() uses the time zone of the session.
   times = "SELECT UNIX_TIMESTAMP(NOW(6)) * 1000000, " ..
      "UNIX_TIMESTAMP(SYSDATE(6)) * 1000000",
   use_times = "SET time_zone = '+00:00'",
   call = "CALL %s(?, ?)",
   -- The same text from two connections means the same server.
   server_identity = "SELECT CONCAT_WS(' ', @@hostname, @@port, " ..
      "@@server_id, @@datadir)",
   server_lag = function(con)
      return require("sb.dialect.mysql_engines").server_lag(con)
   end,

   or_add = function(_, _, column)
      return string.format("ON DUPLICATE KEY UPDATE %s = %s + VALUES(%s)",
         column, column, column)
   end,
   changes = function(name, index, column, indexed, online)
      local list = generic.changes(name, index, column, indexed)
      local suffix = online and ", LOCK=NONE" or ""
      list.add_index = string.format("ALTER TABLE %s ADD INDEX %s (%s)", name,
         index, indexed)
      list.drop_index = string.format("ALTER TABLE %s DROP INDEX %s", name,
         index)
      for what, statement in pairs(list) do
         list[what] = statement .. suffix
      end
      return list
   end,
   delete_first = function(name, key)
      return string.format("DELETE FROM %s ORDER BY %s LIMIT ?", name, key)
   end,
   through = function(name, index)
      return name .. " FORCE INDEX (" .. index .. ")"
   end,
   transaction = function(self, opt, read_only)
      -- The workloads of 0.4 and 0.5 lock tables that do not support
      -- transactions.
      if opt.mysql_engine_trx then
         return require("sb.dialect.mysql_engines").transaction(self, opt,
            read_only)
      end
      return self.begin, self.commit
   end,
   key_length = function(con, length)
      return require("sb.dialect.mysql_engines").key_length(con, length)
   end,
   table_options = function(opt)
      return require("sb.dialect.mysql_engines").table_options(opt)
   end,
   check_engine = function(con, opt)
      require("sb.dialect.mysql_engines").check_engine(con, opt)
   end,
   check_table = function(con, opt, name)
      require("sb.dialect.mysql_engines").check_table(con, opt, name)
   end,
   handler = function(set, opt, m)
      require("sb.dialect.mysql_engines").handler(set, opt, m)
   end,
}
