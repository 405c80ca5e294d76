-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Methods of drivers, except connect().

local sb = ...
local ffi, C = sb.ffi, sb.C
local driver, own, open = sb.sql.driver, sb.sql.own, sb.sql.open

sb.cdef("sql", "sb_db_dialect sb_db_name sb_db_databases " ..
        "sb_db_databases_option sb_db_error sb_db_errno sb_db_state " ..
        "sb_con_free")

-- Key of the SQL dialect: "mysql", "pgsql", "sqlite" ...
function driver:dialect()
   own(self, "driver", "dialect")
   return ffi.string(C.sb_db_dialect(self))
end

function driver:name()
   own(self, "driver", "name")
   return ffi.string(C.sb_db_name(self))
end

-- Returns the databases that connections use in turn, each once; empty if the
-- driver has no option for them.
function driver:databases()
   own(self, "driver", "databases")
   local list = C.sb_db_databases(self)
   local names, seen = {}, {}
   for item in (list ~= nil and ffi.string(list) or ""):gmatch("[^,]+") do
      local name = item:match("^%s*(.-)%s*$")
      if name ~= "" and not seen[name] then
         names[#names + 1] = name
         seen[name] = true
      end
   end
   return names
end

-- Calls f(con, name) for each of the databases, one after the other, with a
-- connection that is closed after the call. Ends if f returns false.
function driver:each_database(f)
   own(self, "driver", "each_database")
   local names = self:databases()
   if #names <= 1 then
      names = {names[1] or false}
   end
   for _, name in ipairs(names) do
      local options
      if #names > 1 then
         options = {[ffi.string(C.sb_db_databases_option(self))] = name}
      end
      local con = self:connect(options)
      local ok, more = pcall(f, con, name or nil)
      pcall(con.disconnect, con)
      if not ok then
         error(more, 0)
      elseif more == false then
         return
      end
   end
end

-- As connect(), but if the server refuses the connection, returns nil and a
-- table with sql_errno, sql_state and sql_errmsg.
function driver:try_connect(options)
   own(self, "driver", "try_connect")
   local con = open(self, options, true)
   if con ~= nil then
      return ffi.gc(con, C.sb_con_free)
   end
   local ctx = sb.sql.ctx
   return nil, {
      sql_errno = C.sb_db_errno(ctx),
      sql_state = ffi.string(C.sb_db_state(ctx)),
      sql_errmsg = ffi.string(C.sb_db_error(ctx))
   }
end
