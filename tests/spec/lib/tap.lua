-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Helpers for specs: print TAP, and run other scripts with the program under
-- test.
--
--     local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local tap = { count = 0, failed = 0 }

function tap.ok(cond, what, detail)
   tap.count = tap.count + 1
   print((cond and "ok " or "not ok ") .. tap.count .. " - " .. what)
   if not cond then
      tap.failed = tap.failed + 1
      if detail then
         print("# " .. tostring(detail):gsub("\n", "\n# "))
      end
   end
   return cond
end

function tap.is(got, want, what)
   return tap.ok(got == want, what,
                 ("got %s, want %s"):format(tostring(got), tostring(want)))
end

function tap.like(text, pattern, what)
   return tap.ok(tostring(text):find(pattern) ~= nil, what,
                 "no " .. pattern .. " in:\n" .. tostring(text))
end

function tap.unlike(text, pattern, what)
   return tap.ok(tostring(text):find(pattern) == nil, what,
                 pattern .. " in:\n" .. tostring(text))
end

-- f must raise an error that matches the pattern; returns it.
function tap.raises(f, pattern, what)
   local ok, err = pcall(f)
   local text = type(err) == "table" and (err.sql_errmsg or err.message) or err
   tap.ok(not ok and tostring(text):find(pattern) ~= nil, what,
          ok and "no error" or tostring(text))
   return err
end

-- Runs a function that contains tests. An error in it is a failed test.
function tap.run(body)
   local ok, err = pcall(body)
   if not ok then
      tap.ok(false, "no error in the tests", err)
   end
   print("1.." .. tap.count)
end

local files = 0

-- Writes a script into the current folder; returns its name.
function tap.script(text, name)
   files = files + 1
   tap.last = files
   name = name or ("script" .. files .. ".lua")
   local f = assert(io.open(name, "w"))
   f:write(text)
   f:close()
   return name
end

-- Runs the program. Returns stdout, stderr and the exit status.
function tap.sysbench(args, input)
   local command = ("'%s' %s >out.txt 2>err.txt <%s; echo $? >rc.txt"):format(
      os.getenv("SYSBENCH") or "sysbench", args, input or "/dev/null")
   os.execute(command)
   local function read(name)
      local f = assert(io.open(name))
      local text = f:read("*a")
      f:close()
      return text
   end
   return read("out.txt"), read("err.txt"), tonumber(read("rc.txt"))
end

-- Runs the text of a script. Returns its output without the first lines of the
-- program, stderr and the exit status.
function tap.with(text, args)
   local name = tap.script(text)
   local out, err, rc = tap.sysbench(name .. " " .. (args or ""))
   return (out:gsub("^sysbench [^\n]*\n\n", "")), err, rc
end

-- Returns text for a script that defines printed(): true once the output of the
-- run matches the pattern, or after 300 s. An event() that ends the run when
-- printed() returns true makes the run last until the report was printed,
-- even if it is late.
function tap.printed(pattern)
   return ([[
local printed
do
   local since = os.time()
   function printed()
      local f = assert(io.open("out.txt"))
      local text = f:read("*a")
      f:close()
      return text:find(%q) ~= nil or os.time() > since + 300
   end
end
]]):format(pattern)
end

return tap
