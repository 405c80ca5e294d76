-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What MySQL and its relatives need and few users of a run: storage engines,
-- locked tables, HANDLER.

local schema = require("sb.schema")

local M = {}

-- Engines by their other names, as the server shows them.
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

-- The engine that the options ask for, "" for the server's own choice.
local function engine(opt)
   local name = (opt.mysql_storage_engine or ""):lower()
   return shown[name] or name
end

-- What follows the closing bracket of CREATE TABLE.
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

-- Some servers take another engine when they lack the one they were told to.
function M.check_table(con, opt, name)
   local wanted = engine(opt)
   if wanted == "" then
      return
   end
   local got = con:query_row("SELECT engine FROM information_schema.tables " ..
      "WHERE table_schema = DATABASE() AND table_name = '" .. name .. "'")
   if got and got:lower() ~= wanted then
      con:query("DROP TABLE " .. name)
      error(string.format("The server has no storage engine '%s': it made " ..
         "table '%s' with %s. SHOW ENGINES lists what it has.",
         opt.mysql_storage_engine, name, got), 0)
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

-- First and last statement of a transaction on all tables.
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

-- Point selects that go past the SQL layer. A handler is open as long as its
-- connection, so it is opened before the first use and, where connections do
-- not last, before each.
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
            opened = not m.brief
         end
         return read:execute()
      end,
      close = function()
         read:close()
      end,
   }
end

return M
