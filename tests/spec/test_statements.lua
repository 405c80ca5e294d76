-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The OLTP workloads prepare each statement at its first use.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local script = [[
require("oltp_common")

function prepare_statements()
   prepare_point_selects()
   prepare_delete_inserts()
end

local function count()
   local n = 0
   for _, of in pairs(stmt) do
      for _ in pairs(of) do
         n = n + 1
      end
   end
   return n
end

function event()
   local made = { count() }
   execute_point_selects()
   made[2] = count()
   param[3].inserts[1]:set(1)
   made[3] = count()
   made[4] = stmt[51] == nil and stmt[0] == nil and stmt[1].nosuch == nil
   close_statements()
   made[5] = count()
   print("made " .. made[1] .. " " .. made[2] .. " " .. made[3] .. " " ..
      tostring(made[4]) .. " " .. made[5])
   return true
end
]]

function event()
   tap.run(function()
      local out = tap.with(script,
         "--tables=50 --db-driver=null --time=600 run")
      tap.like(out, "made 0 1 2 true 0",
         "statements are prepared at first use, and closed")
   end)
   return true
end
