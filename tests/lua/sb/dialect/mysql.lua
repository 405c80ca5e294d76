-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- MySQL and MariaDB.

local generic = require("sb.dialect.generic")

-- Aliases of engines, and the names that the server shows.
local shown = {
   heap = "memory",
   merge = "mrg_myisam",
   ndb = "ndbcluster",
   innobase = "innodb",
}

local no_transactions = {
   archive = true, aria = true, blackhole = true, csv = true, memory = true,
   mrg_myisam = true, myisam = true,
}

-- Returns the engine that the options name; "" for the server's default.
local function engine(opt)
   local name = (opt.mysql_storage_engine or ""):lower()
   return shown[name] or name
end

-- Returns the text after the closing parenthesis of CREATE TABLE.
local function table_options(opt)
   local name = opt.mysql_storage_engine or ""
   local parts = {}
   if name ~= "" then
      parts[1] = "/*! ENGINE = " .. name .. " */"
   end
   if engine(opt) == "myisam" and opt.myisam_max_rows then
      parts[#parts + 1] = string.format("/*! MAX_ROWS = %d */",
         opt.myisam_max_rows)
   end
   parts[#parts + 1] = opt.create_table_options
   return table.concat(parts, " ")
end

-- Returns how many characters a key column may have, at most `length`:
-- before MySQL 5.7 and MariaDB 10.2, the keys of InnoDB have at most 767 bytes.
local function key_length(con, length)
   local bytes = con:query_row("SELECT MAX(maxlen) FROM " ..
      "information_schema.character_sets WHERE character_set_name = " ..
      "@@character_set_database AND VERSION() REGEXP " ..
      "'^(5[.][0-6]|10[.][01])[.]'")
   return bytes and math.min(length, math.floor(767 / bytes)) or length
end

-- Checks that the server has the engine that the options name.
local function check_engine(con, opt)
   local name = opt.mysql_storage_engine
   if name:match("^[%w_]+$") and con:query_row(string.format(
      "SELECT COUNT(*) FROM information_schema.engines WHERE " ..
      "LOWER(engine) = '%s' AND support <> 'NO'", name:lower())) == "0"
   then
      error(string.format("The server has no storage engine '%s'. " ..
         "SHOW ENGINES lists those it has.", name), 0)
   end
end

-- Checks the engine of a new table: some servers use another engine if they do
-- not have the requested one.
local function check_table(con, opt, name)
   local requested = engine(opt)
   if requested == "" then
      return
   end
   local used = con:query_row("SELECT engine FROM information_schema.tables " ..
      "WHERE table_schema = DATABASE() AND table_name = '" .. name .. "'")
   if used and used:lower() ~= requested then
      con:query("DROP TABLE " .. name)
      error(string.format("The server has no storage engine '%s': it " ..
         "created table '%s' with %s. SHOW ENGINES lists those it has.",
         opt.mysql_storage_engine, name, used), 0)
   end
end

-- Returns whether the engine has no transactions, for the 0.4 and 0.5
-- workloads.
local function lacks_transactions(opt)
   local word = opt.mysql_engine_trx:lower()
   if word == "yes" or word == "no" then
      return word == "no"
   elseif word ~= "auto" then
      error("Invalid value for the 'mysql-engine-trx' option: '" ..
         opt.mysql_engine_trx .. "' (one of yes, no, auto)", 0)
   end
   return no_transactions[engine(opt)] == true
end

-- Cancels statements of other connections. A server continues a statement whose
-- client is gone.
local function stop_statements(con, list)
   local rs = con:query("SELECT id FROM information_schema.processlist " ..
      "WHERE db = DATABASE() AND id <> CONNECTION_ID() AND info IN ('" ..
      table.concat(list, "', '") .. "')")
   local ids = {}
   for i = 1, rs and rs.nrows or 0 do
      ids[i] = rs:fetch_row()[1]
   end
   for _, id in ipairs(ids) do
      pcall(con.query, con, "KILL " .. id) -- it may have ended
   end
   return #ids
end

-- Returns what is wrong with a table according to CHECK TABLE, or nil. name: in
-- quotes.
local function verify_table(con, name)
   local rs = con:query("CHECK TABLE " .. name .. " EXTENDED")
   local why
   for _ = 1, rs and rs.nrows or 0 do
      local row = rs:fetch_row()
      local kind, text = row[3], row[4]
      if kind == "error" or kind == "status" and text ~= "OK" then
         why = why or text
      end
   end
   if rs then
      rs:free()
   end
   return why
end

-- SHOW SLAVE STATUS has other names in MySQL 8.4. With ALL, MariaDB shows every
-- source of the replica.
local function status_statement(con)
   local version = con:query_row("SELECT VERSION()")
   local major, minor, patch = version:match("^(%d+)%.(%d+)%.(%d+)")
   if version:find("MariaDB", 1, true) then
      return "SHOW ALL SLAVES STATUS"
   end
   local number = major and major * 10000 + minor * 100 + patch or 0
   return number >= 80022 and "SHOW REPLICA STATUS" or "SHOW SLAVE STATUS"
end

local status -- the statement, for servers of one version

-- Returns the column with the lag.
local function lag_column(rs)
   for i = 1, rs.nfields do
      if rs:column(i):match("^Seconds_Behind_") then
         return i
      end
   end
end

-- Returns the greatest lag in seconds behind a source by the server's own
-- figures; nil if it has none, because it does not replicate.
local function server_lag(con)
   status = status or status_statement(con)
   local rs, greatest = con:query(status), nil
   local column = rs and lag_column(rs)
   for _ = 1, column and rs.nrows or 0 do
      local lag = tonumber(rs:fetch_row()[column])
      if not lag then
         return nil
      end
      greatest = math.max(greatest or 0, lag)
   end
   return greatest
end

return setmetatable({
   name = "mysql",
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
   partitions = "clause",
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
   verify_table = verify_table,
   truncate = "TRUNCATE TABLE %s",
   index_of = "SELECT MIN(index_name) FROM information_schema.statistics " ..
      "WHERE table_schema = DATABASE() AND table_name = '%s' AND " ..
      "seq_in_index = 1 AND column_name = '%s'",
   find_index = "SELECT COUNT(*) FROM information_schema.statistics " ..
      "WHERE table_schema = DATABASE() AND table_name = '%s' AND " ..
      "index_name = '%s' AND seq_in_index = 1",
   find_column = "SELECT COUNT(*) FROM information_schema.columns WHERE " ..
      "table_schema = DATABASE() AND table_name = '%s' AND column_name = '%s'",
   stop_statements = stop_statements,
   analyze = "ANALYZE TABLE %s",
   empty_statement = "DO 0", -- an empty text is an error
   -- SYSDATE() uses the time zone of the session.
   times = "SELECT UNIX_TIMESTAMP(NOW(6)) * 1000000, " ..
      "UNIX_TIMESTAMP(SYSDATE(6)) * 1000000",
   use_times = "SET time_zone = '+00:00'",
   call = "CALL %s(?, ?)",
   handlers = true,
   -- The same text from two connections means the same server.
   server_identity = "SELECT CONCAT_WS(' ', @@hostname, @@port, " ..
      "@@server_id, @@datadir)",
   server_lag = server_lag,

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
   lacks_transactions = lacks_transactions,
   key_length = key_length,
   table_options = table_options,
   check_engine = check_engine,
   check_table = check_table,
}, {__index = generic})
