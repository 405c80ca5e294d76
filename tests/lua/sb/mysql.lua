-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Rarely used parts of the MySQL dialect: storage engines, LOCK TABLES,
-- HANDLER.

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

return M
