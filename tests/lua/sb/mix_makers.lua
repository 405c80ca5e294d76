-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Makers of statements for sb/mix.lua, in addition to its own.

local prepared = require("sb.mix").prepared

local M = {}

-- A parameter that holds its value until its statement is executed.
local Value = {}
Value.__index = Value

function Value:set(value)
   self.value = value
end

function Value:set_rand_str(format)
   self.value = sysbench.rand.string(format)
end

local function values(count)
   local list = {}
   for i = 1, count do
      list[i] = setmetatable({}, Value)
   end
   return list
end

-- A statement that is sent as text, like those of the 0.5 scripts. At most four
-- parameters; strings must not need quoting.
local Text = {}
Text.__index = Text

function Text:execute()
   if not self.a then
      return self.con:query(self.format)
   end
   return self.con:query(string.format(self.format, self.a.value,
      self.b.value, self.c.value, self.d.value))
end

function Text.close()
end

function M.text(con, sql, types)
   local n = 0
   local format = sql:gsub("%?", function()
      n = n + 1
      return types[n].len and "'%s'" or "%d"
   end)
   local p = values(#types)
   local none = {value = 0}
   return setmetatable({con = con, format = format, a = p[1] and p[1],
      b = p[2] or none, c = p[3] or none, d = p[4] or none}, Text), p
end

-- Returns a maker of statements that are prepared, executed and closed each
-- time; then after() is called. For connections that are used for one query.
function M.once(after)
   local Once = {}
   Once.__index = Once

   function Once:execute()
      local stmt, params = prepared(self.con, self.sql, self.types, self.op)
      for i, p in ipairs(self.params) do
         params[i]:set(p.value)
      end
      stmt:execute()
      stmt:close()
      after()
   end

   Once.close = Text.close

   return function(con, sql, types, op)
      local params = values(#types)
      return setmetatable({con = con, sql = sql, types = types, op = op,
         params = params}, Once), params
   end
end

return M
