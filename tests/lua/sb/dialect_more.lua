-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The entries that commands, insert_roll and iibench need in addition to those
-- of sb/dialect.lua. They are separate because each user of an OLTP workload
-- holds a copy of that file in memory.

local dialect = require("sb.dialect")

local generic = {
   -- Types of a 64-bit primary key: if the client assigns ids, and if the
   -- server does.
   big_id = "BIGINT NOT NULL",
   big_id_auto = "BIGINT NOT NULL",
   -- Statement after which the server assigns ids above the highest existing
   -- one; arguments: table, column, column, table.
   set_sequence = nil,
   datetime = "TIMESTAMP",
   -- Starts a transaction whose reads all use one snapshot.
   begin_snapshot = "BEGIN",
   -- Expression for the name of an index whose first column is the given one,
   -- or NULL; arguments: table, column. nil: indexes are not checked.
   index_of = nil,
   -- False: the server has no indexes.
   indexes = true,
   -- False: finding the minimum and maximum id needs a scan of the table.
   ordered_key = true,
   -- True: the primary key is in the catalog of indexes.
   key_is_index = true,
   -- Statements to run before those that must read through an index.
   before_index = {},
   -- Function that raises an error if the server lacks the storage engine that
   -- the options name; nil: not applicable.
   check_engine = nil,
}

-- Returns the text after VALUES (...) that, if the row exists, adds the new
-- value of `column` to the existing one.
function generic.or_add(name, key, column)
   return string.format("ON CONFLICT (%s) DO UPDATE SET %s = %s.%s + " ..
      "EXCLUDED.%s", key, column, name, column, column)
end

-- Returns the statement that deletes the `?` rows with the smallest `key`.
function generic.delete_first(name, key)
   return string.format("DELETE FROM %s WHERE %s IN (SELECT %s FROM %s " ..
      "ORDER BY %s LIMIT ?)", name, key, key, name, key)
end

-- Returns the table for a FROM clause, with a hint to read through the index.
function generic.through(name)
   return name
end

local dialects = {}

dialects.sqlite = {
   -- The only type of a key that is the rowid and is assigned automatically.
   big_id = "INTEGER NOT NULL",
   big_id_auto = "INTEGER NOT NULL",
   datetime = "DATETIME",
   key_is_index = false, -- it is the rowid
   index_of = "SELECT MIN(l.name) FROM pragma_index_list('%s') AS l, " ..
      "pragma_index_info(l.name) AS c WHERE c.seqno = 0 AND c.name = '%s'",
   through = function(name, index)
      return name .. " INDEXED BY " .. index
   end,
}

dialects.mysql = {
   big_id_auto = "BIGINT NOT NULL AUTO_INCREMENT",
   begin_snapshot = "START TRANSACTION WITH CONSISTENT SNAPSHOT",
   datetime = "DATETIME",
   index_of = "SELECT MIN(index_name) FROM information_schema.statistics " ..
      "WHERE table_schema = DATABASE() AND table_name = '%s' AND " ..
      "seq_in_index = 1 AND column_name = '%s'",
   or_add = function(_, _, column)
      return string.format("ON DUPLICATE KEY UPDATE %s = %s + VALUES(%s)",
         column, column, column)
   end,
   delete_first = function(name, key)
      return string.format("DELETE FROM %s ORDER BY %s LIMIT ?", name, key)
   end,
   through = function(name, index)
      return name .. " FORCE INDEX (" .. index .. ")"
   end,
   check_engine = function(con, opt)
      local name = opt.mysql_storage_engine
      if name:match("^[%w_]+$") and con:query_row(string.format(
         "SELECT COUNT(*) FROM information_schema.engines WHERE " ..
         "LOWER(engine) = '%s' AND support <> 'NO'", name:lower())) == "0"
      then
         error(string.format("The server has no storage engine '%s'. " ..
            "SHOW ENGINES lists those it has.", name), 0)
      end
   end,
}

dialects.pgsql = {
   big_id_auto = "BIGSERIAL",
   begin_snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ",
   set_sequence = "SELECT setval(pg_get_serial_sequence('%s', '%s'), " ..
      "(SELECT MAX(%s) FROM %s))",
   index_of = "SELECT MIN(i.indexrelid::regclass::text) FROM pg_index i " ..
      "JOIN pg_attribute a ON a.attrelid = i.indrelid AND " ..
      "a.attnum = i.indkey[0] WHERE i.indisvalid AND " ..
      "i.indrelid = to_regclass('%s') AND a.attname = '%s'",
   -- Users that delete at the same time delete different rows.
   delete_first = function(name, key)
      return string.format("DELETE FROM %s WHERE %s IN (SELECT %s FROM %s " ..
         "ORDER BY %s LIMIT ? FOR UPDATE SKIP LOCKED)", name, key, key, name,
         key)
   end,
   before_index = {"SET enable_seqscan = off", "SET enable_bitmapscan = off"},
}

local M = {}

-- Returns the entry of sb/dialect.lua for a driver, extended by the above.
function M.of(drv)
   local base, own = dialect.of(drv), dialects[drv:dialect()] or {}
   return setmetatable({}, {__index = function(_, name)
      local value = own[name]
      if value == nil then
         value = base[name]
      end
      if value == nil then
         value = generic[name]
      end
      return value
   end})
end

return M
