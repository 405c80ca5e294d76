-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What insert_roll and iibench need beyond sb/dialect.lua, in the same way.
-- Apart from it, because the users of the OLTP workloads each hold that one.

local dialect = require("sb.dialect")

local generic = {
   -- Types of a primary key of 64 bits: numbered by the client, and by the
   -- server.
   big_id = "BIGINT NOT NULL",
   big_id_auto = "BIGINT NOT NULL",
   -- Makes the server number on behind the greatest value: table, column.
   number_on = nil,
   datetime = "TIMESTAMP",
   -- Begins a transaction all of whose reads see one moment.
   begin_snapshot = "BEGIN",
   -- The name of an index whose first column is the one given, or NULL, as an
   -- expression: table, column. nil: not asked.
   index_of = nil,
   -- False: the server has no indexes.
   indexes = true,
   -- False: the least and the greatest id take a scan of the table.
   ordered_key = true,
   -- The primary key is in the catalog of indexes.
   key_is_index = true,
   -- Run before statements that are to read through an index.
   before_index = {},
   -- Raises an error when the server lacks the storage engine that the options
   -- ask for; nil: there is no such thing.
   check_engine = nil,
}

-- What follows VALUES (...): a row that is there gets the value of `column`
-- added to its own.
function generic.or_add(name, key, column)
   return string.format("ON CONFLICT (%s) DO UPDATE SET %s = %s.%s + " ..
      "EXCLUDED.%s", key, column, name, column, column)
end

-- Deletes so many (?) rows, those with the smallest `key`.
function generic.delete_first(name, key)
   return string.format("DELETE FROM %s WHERE %s IN (SELECT %s FROM %s " ..
      "ORDER BY %s LIMIT ?)", name, key, key, name, key)
end

-- The table in a FROM clause, to be read through an index.
function generic.through(name)
   return name
end

local dialects = {}

dialects.sqlite = {
   -- The one type that it clusters by and numbers.
   big_id = "INTEGER NOT NULL",
   big_id_auto = "INTEGER NOT NULL",
   datetime = "DATETIME",
   key_is_index = false, -- but the table
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
            "SHOW ENGINES lists what it has.", name), 0)
      end
   end,
}

dialects.pgsql = {
   big_id_auto = "BIGSERIAL",
   begin_snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ",
   number_on = "SELECT setval(pg_get_serial_sequence('%s', '%s'), " ..
      "(SELECT MAX(%s) FROM %s))",
   index_of = "SELECT MIN(i.indexrelid::regclass::text) FROM pg_index i " ..
      "JOIN pg_attribute a ON a.attrelid = i.indrelid AND " ..
      "a.attnum = i.indkey[0] WHERE i.indisvalid AND " ..
      "i.indrelid = to_regclass('%s') AND a.attname = '%s'",
   -- Users that delete at once take different rows.
   delete_first = function(name, key)
      return string.format("DELETE FROM %s WHERE %s IN (SELECT %s FROM %s " ..
         "ORDER BY %s LIMIT ? FOR UPDATE SKIP LOCKED)", name, key, key, name,
         key)
   end,
   before_index = {"SET enable_seqscan = off", "SET enable_bitmapscan = off"},
}

local M = {}

-- The table for a driver: what sb/dialect.lua has, and the above.
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
