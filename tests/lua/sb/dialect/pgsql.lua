-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- PostgreSQL. The differences of compatible databases are in
-- pgsql_variants.lua.

local generic = require("sb.dialect.generic")

return {
   pipelines = true,
   rollback_after_error = true,
   begin_snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ",
   for_update = "FOR NO KEY UPDATE",
   drop_schema = "DROP SCHEMA IF EXISTS %s CASCADE",
   drop_referenced = {"DROP TABLE IF EXISTS %s CASCADE"},
   id_auto = "SERIAL",
   big_id_auto = "BIGSERIAL",
   numbers_rows = true,
   numbers_rows_secondary = true,
   set_sequence = "SELECT setval(pg_get_serial_sequence('%s', '%s'), " ..
      "(SELECT MAX(%s) FROM %s))",
   key_after_rows = true,
   find_table = "SELECT COUNT(to_regclass('%s'))",
   list_columns = "SELECT c.relname, a.attname, " ..
      "format_type(a.atttypid, NULL), CASE WHEN a.attnum = ANY(i.indkey) " ..
      "THEN 1 ELSE 0 END FROM pg_class c JOIN pg_attribute a ON " ..
      "a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped " ..
      "LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary " ..
      "WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE " ..
      "nspname = current_schema()) AND " ..
      "c.relkind IN ('r', 'p') AND NOT c.relispartition " ..
      "ORDER BY c.relname COLLATE \"C\", a.attnum",
   -- If the user may use the extension amcheck, each row must be in the
   -- indexes; otherwise all rows are read.
   verify_table = function(con, name)
      local check = "SELECT SUM(LENGTH(t::text)) FROM " .. name .. " t"
      if con:query_row("SELECT 1 FROM pg_proc WHERE proname = " ..
         "'bt_index_check' AND pronargs = 2 AND pg_function_is_visible(oid) " ..
         "AND has_function_privilege(oid, 'EXECUTE')")
      then
         check = "SELECT bt_index_check(i.indexrelid, true) FROM pg_index i " ..
            "JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON " ..
            "a.oid = c.relam WHERE a.amname = 'btree' AND i.indisvalid AND " ..
            "i.indrelid = '" .. name .. "'::regclass"
      end
      local ok, err = pcall(con.query_row, con, check)
      return not ok and (ffi.string(con.sql_errmsg) or tostring(err)) or nil
   end,
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
   index_of = "SELECT MIN(i.indexrelid::regclass::text) FROM pg_index i " ..
      "JOIN pg_attribute a ON a.attrelid = i.indrelid AND " ..
      "a.attnum = i.indkey[0] WHERE i.indisvalid AND " ..
      "i.indrelid = to_regclass('%s') AND a.attname = '%s'",
   find_index = "SELECT COUNT(*) FROM pg_index i JOIN pg_class c ON " ..
      "c.oid = i.indexrelid WHERE i.indisvalid AND " ..
      "i.indrelid = to_regclass('%s') AND c.relname = lower('%s')",
   find_any_index = "SELECT COUNT(*) FROM pg_index i JOIN pg_class c ON " ..
      "c.oid = i.indexrelid WHERE i.indrelid = to_regclass('%s') AND " ..
      "c.relname = lower('%s')",
   find_column = "SELECT COUNT(*) FROM pg_attribute WHERE " ..
      "attrelid = to_regclass('%s') AND attname = lower('%s') AND " ..
      "NOT attisdropped",
   stop_statements = function(con, list)
      local rs = con:query("SELECT pg_cancel_backend(pid) FROM " ..
         "pg_stat_activity WHERE datname = current_database() AND " ..
         "pid <> pg_backend_pid() AND state = 'active' AND query IN ('" ..
         table.concat(list, "', '") .. "')")
      return rs.nrows
   end,
   analyze = "ANALYZE %s",
   -- Servers before 13 have no enable_incremental_sort.
   before_index = {"SET enable_seqscan = off", "SET enable_bitmapscan = off",
      "SELECT set_config(name, 'off', false) FROM pg_settings " ..
      "WHERE name IN ('enable_sort', 'enable_incremental_sort')"},
   times = "SELECT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 " ..
      "AS BIGINT), CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS " ..
      "BIGINT)",
   call = "CALL %s(?, ?)",
   -- The same text from two connections means the same server.
   server_identity = "SELECT CONCAT_WS(' ', EXTRACT(EPOCH FROM " ..
      "pg_postmaster_start_time()), current_setting('port'))",
   -- The lag in seconds that a standby computes; nil if it has no figure. A
   -- standby that has applied all it has received counts as up to date, even if
   -- its last transaction is old.
   server_lag = function(con)
      return tonumber((con:query_row("SELECT CASE " ..
         "WHEN NOT pg_is_in_recovery() THEN NULL " ..
         "WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0 " ..
         "ELSE GREATEST(EXTRACT(EPOCH FROM clock_timestamp() - " ..
         "pg_last_xact_replay_timestamp()), 0) END")))
   end,
   variants = "sb.dialect.pgsql_variants",

   -- There are no hints. But only this index has this order, and with
   -- before_index the server avoids sorting.
   sum_through = function(_, name, _, columns, sum, condition)
      return string.format("SELECT COUNT(*), SUM(value) FROM (SELECT %s AS " ..
         "value FROM %s WHERE %s ORDER BY %s OFFSET 0) AS ordered", sum, name,
         condition, columns)
   end,

   changes = function(name, index, column, indexed, online)
      local list = generic.changes(name, index, column, indexed)
      if online then
         list.add_index = list.add_index:gsub("INDEX", "%0 CONCURRENTLY", 1)
         list.drop_index = list.drop_index:gsub("INDEX", "%0 CONCURRENTLY", 1)
      end
      return list
   end,
   -- Users that delete at the same time delete different rows.
   delete_first = function(name, key)
      return string.format("DELETE FROM %s WHERE %s IN (SELECT %s FROM %s " ..
         "ORDER BY %s LIMIT ? FOR UPDATE SKIP LOCKED)", name, key, key, name,
         key)
   end,
}
