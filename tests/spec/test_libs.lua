-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The program's own print() and ffi.load().

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local is, ok, like = tap.is, tap.ok, tap.like

local function lines()
   local out, err, rc = tap.with([[
function event(id)
   print("line", id, ("x"):rep(60), nil, 1.5, true, "end")
end]], "run --threads=8 --events=20000 --time=0")
   local whole, broken = 0, {}
   for line in out:gmatch("[^\n]*") do
      if line:find("^line\t[0-7]\tx+\tnil\t1%.5\ttrue\tend$") and #line == 84
      then
         whole = whole + 1
      elseif line:find("line") or line:find("xx") or line:find("end$") then
         broken[#broken + 1] = line
      end
   end
   is(rc, 0, "eight users print at the same time", err)
   is(whole, 20000, "each line is whole")
   is(#broken, 0, "and no line is broken")
end

local function values()
   local out = tap.with([[
print()
print(nil)
print("a\0b", "")
print(setmetatable({}, {__tostring = function() return "own" end}), 0/0, 2^53)
print(select("#", print("result")))
print(pcall(print, setmetatable({}, {__tostring = function() error("e1") end})))
print(pcall(print, setmetatable({}, {__tostring = function() return {} end})))
print(#("y"):rep(100000) == 100000, ("y"):rep(100000))
local plain = tostring
tostring = function(x) return "<" .. plain(x) .. ">" end
print("mine", 1)
tostring = nil
io.write(plain(pcall(print, 1)), "\n")]])
   like(out, "^\nnil\na%z?b\t\nown\tnan?\t9.007199254741e%+15\nresult\n0\n" ..
      "false\t[^\n]*e1\nfalse\t'tostring' must return a string to 'print'\n" ..
      "true\t(y+)\n<mine>\t<1>\n", "print() writes the same as Lua's")
   ok(out:find("\n<false>\t?") == nil and #out > 100000, "and long lines")
   like(out, "false\n$", "it needs tostring(), as Lua's does")
end

local LOAD = [[
ffi.cdef("int template_answer(int);")
local name = os.getenv("SB_BUILDDIR") ..
   "/src/drivers/template/.libs/template.so"
%s
function thread_init()
   collectgarbage()
   collectgarbage()
end
function event()
   for i = 1, 100 do
      %s
      collectgarbage()
   end
   print("answer", ffi.C.template_answer(4))
   return true
end]]

local function loading()
   local _
   local out, err, rc = tap.with(LOAD:format("ffi.load(name, true)", ""),
      "run --threads=3")
   is(select(2, out:gsub("answer\t8\n", "")), 3,
      "a globally loaded library stays loaded: " .. err)
   is(rc, 0, "in each user")
   out, err = tap.with(LOAD:format("", "ffi.load(name, true)"), "run")
   like(out, "answer\t8\n", "also if it is loaded many times: " .. err)
   _, err = tap.with(LOAD:format("ffi.load(name)", ""), "run")
   like(err, "[Ss]ymbol", "its symbols are not global without `true`")
   out = tap.with(LOAD:format(
      "print('own', ffi.load(name).template_answer(21))", ""), "run")
   like(out, "own\t42\n", "but are in the object that load() returns")
   out, err, rc = tap.with([[
print(pcall(function() ffi.load("no_such_library") end))
print(pcall(function() ffi.load("no_such_library", true) end))
print(pcall(function() ffi.load(nil) end))]])
   local where = "false\tscript%d+%.lua:%d: "
   like(out, where .. "[^\n]*no_such_library[^\n]*\n" .. where ..
      "[^\n]*no_such_library[^\n]*\n" .. where .. "bad argument #1 to " ..
      "'load' %(string expected, got nil%)\n", "errors have the script's line")
   is(rc, 0, "and pcall() catches them", err)
end

function event()
   tap.run(function()
      lines()
      values()
      loading()
   end)
   return true
end
