-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The parts of the MySQL dialect that depend on storage engines (table options,
-- checks, LOCK TABLES, HANDLER), and the lag of replicas. The others are in
-- mysql.lua.

local schema = require("sb.schema")

local M = {}

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
function M.table_options(opt)
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
function M.key_length(con, length)
   local bytes = con:query_row("SELECT MAX(maxlen) FROM " ..
      "information_schema.character_sets WHERE character_set_name = " ..
      "@@character_set_database AND VERSION() REGEXP " ..
      "'^(5[.][0-6]|10[.][01])[.]'")
   return bytes and math.min(length, math.floor(767 / bytes)) or length
end

-- Checks that the server has the engine that the options name.
function M.check_engine(con, opt)
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
function M.check_table(con, opt, name)
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

local function transactional(opt)
   local word = opt.mysql_engine_trx:lower()
   if word == "yes" or word == "no" then
      return word == "yes"
   elseif word ~= "auto" then
      error("Invalid value for the 'mysql-engine-trx' option: '" ..
         opt.mysql_engine_trx .. "' (one of yes, no, auto)", 0)
   end
   return not no_transactions[engine(opt)]
end

-- Returns the first and the last statement of a transaction on all tables.
function M.transaction(d, opt, read_only)
   if transactional(opt) then
      return d.begin, d.commit
   end
   local list = {}
   for n = 1, opt.tables do
      list[n] = schema.name(opt, n) .. (read_only and " READ" or " WRITE")
   end
   return "LOCK TABLES " .. table.concat(list, ", "), "UNLOCK TABLES"
end

-- Prepares point selects with HANDLER, which bypasses the SQL layer. A handler
-- is closed with its connection. So it is opened before the first use, or
-- before each use if connections are used for one query.
function M.handler(set, opt, m)
   local name = schema.name(opt, 1)
   local read, params = m.make(set.con, string.format(
      "HANDLER %s READ `%s` = (?)", name, opt.secondary and "xid" or
      "PRIMARY"), {{type = sysbench.sql.type.INT}}, "point_selects")
   local open = "HANDLER " .. name .. " OPEN"
   local opened = false
   set.param[1].point_selects = params
   set.stmt[1].point_selects = {
      execute = function()
         if not opened then
            set.con:query(open)
            opened = not m.one_shot
         end
         return read:execute()
      end,
      close = function()
         read:close()
      end,
   }
end

-- Cancels statements of other connections. A server continues a statement whose
-- client is gone.
function M.stop_statements(con, list)
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
function M.verify_table(con, name)
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
function M.server_lag(con)
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

return M
