-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- --db-debug logs a line for each execution, with the bound values.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local script = [[
function event()
   local t = sysbench.sql.type
   local con = sysbench.sql.driver():connect()
   local st = con:prepare("SELECT ?, ?, ?, ?")
   local p = { st:bind_create(t.BIGINT), st:bind_create(t.DOUBLE),
               st:bind_create(t.VARCHAR, 300), st:bind_create(t.BLOB, 300) }
   st:bind_param(unpack(p))
   p[1]:set(-42) p[2]:set(0.5) p[3]:set("it's\na\0b") p[4]:set("\1\255")
   st:execute()
   p[1]:set(nil) p[3]:set(("x"):rep(300)) p[4]:set(("\7"):rep(300))
   st:execute()
   for i = 1, 3 do
      con:query("SELECT 7")
   end
   con:pipeline(function()
      st:execute()
   end)
   local many = {}
   for i = 1, 900 do
      many[i] = st:bind_create(t.INT)
      many[i]:set(i)
   end
   st = con:prepare("SELECT 1 IN (?" .. (", ?"):rep(899) .. ")")
   st:bind_param(unpack(many))
   st:execute()
   return true
end
]]

-- Returns the lines, with times replaced, since these differ between runs.
local function lines(options)
   local name = tap.script(script)
   local _, err = tap.sysbench(name .. " run --db-driver=sqlite " ..
      "--sqlite-db=debug --events=1 --time=0 --db-debug " .. options)
   return (err:gsub("%d+%.%d+ ms", "N ms"))
end

function event()
   tap.run(function()
      local text = lines("")
      local first = "sqlite: user 0: N ms: SELECT ?, ?, ?, ? "
      tap.ok(text:find(first ..
         "[-42, 0.5, 'it''s\\x0aa\\x00b', X'01ff']\n", 1, true),
         "values of all types, in one line", text)
      local second = first .. "[NULL, 0.5, '" .. ("x"):rep(64) .. "...', X'" ..
         ("07"):rep(32) .. "...']\n"
      local from, to = text:find(second, 1, true)
      tap.ok(from, "NULL, and the beginning of long values", text)
      tap.ok(text:find(second, to, true),
         "values of a statement in a pipeline", text)
      local _, n = text:gsub("sqlite: user 0: N ms: SELECT 7\n", "")
      tap.is(n, 3, "equal lines are all printed")
      tap.unlike(text, "repeated", "and not collapsed")
      tap.like(text, "%[1, 2, 3, [%d, ]+, %.%.%.%]\n",
         "the first of many values")
      text = lines("--db-ps-mode=disable")
      tap.ok(text:find("SELECT (-42), 0.5e0, CAST(X'69", 1, true),
         "--db-ps-mode=disable: values are part of the statement", text)
      tap.unlike(text, "%[%(?-42", "and are not listed as bound values")
   end)
   return true
end
