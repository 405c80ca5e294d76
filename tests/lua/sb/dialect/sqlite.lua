-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- SQLite.

local generic = require("sb.dialect.generic")

return setmetatable({
   name = "sqlite",
   -- A deferred transaction that writes after it has read can fail at once,
   -- without waiting. Taking the write lock first waits for it.
   begin_write = "BEGIN IMMEDIATE",
   for_update = "", -- begin_write locks the whole database
   foreign_keys_inline = true,
   use_foreign_keys = "PRAGMA foreign_keys = ON",
   numbers_rows = true,
   -- The only type of a key that is the rowid and is assigned automatically.
   big_id = "INTEGER NOT NULL",
   big_id_auto = "INTEGER NOT NULL",
   -- The time is the same in the whole statement. It is a number of days, of
   -- which a double stores milliseconds.
   times = "SELECT t, t FROM (SELECT CAST(ROUND((julianday('now') - " ..
      "2440587.5) * 86400000) AS INTEGER) * 1000 AS t)",
   times_step = 1000,
   times_local = true,
   datetime = "DATETIME",
   find_table =
      "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND " ..
      "name = '%s'",
   schemas = false,
   list_tables = "SELECT SUBSTR(name, INSTR(name, '_t') + 1) FROM " ..
      "sqlite_master WHERE type = 'table' AND name GLOB '%s_t*' ORDER BY name",
   list_columns = "SELECT m.name, c.name, c.type, c.pk > 0 " ..
      "FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE " ..
      "m.type = 'table' AND m.name NOT LIKE 'sqlite_%' " ..
      "ORDER BY m.name, c.cid",
   verify_table = function(con, name)
      local text = con:query_row("PRAGMA integrity_check(" .. name .. ")")
      return text ~= "ok" and text or nil
   end,
   key_is_index = false, -- it is the rowid
   index_of = "SELECT MIN(l.name) FROM pragma_index_list('%s') AS l, " ..
      "pragma_index_info(l.name) AS c WHERE c.seqno = 0 AND c.name = '%s'",
   find_index = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' " ..
      "AND tbl_name = '%s' AND name = '%s'",
   find_column = "SELECT COUNT(*) FROM pragma_table_info('%s') WHERE " ..
      "name = '%s'",
   -- No entry `analyze`: the table sqlite_stat1 would remain after cleanup.
   through = function(name, index)
      return name .. " INDEXED BY " .. index
   end,
}, {__index = generic})
