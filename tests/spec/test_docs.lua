-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Runs every Lua example of the user documentation.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

-- Returns the Lua blocks of a page, with the line that each begins at.
local function examples(path)
   local list, block, line = {}, nil, 0
   for text in assert(io.open(path)):lines() do
      line = line + 1
      if text == "```lua" then
         block = { line = line }
      elseif text == "```" and block then
         list[#list + 1] = block
         block = nil
      elseif block then
         block[#block + 1] = text
      end
   end
   return list
end

-- The first example of the API is the file that --new-workload writes, which
-- tests/db/test_new_workload executes.
local function is_new_workload(text, dir)
   if not text:find("\n-- bank: ", 1, true) then
      return false
   end
   local file = assert(io.open(dir .. "/tests/lua/examples/bank.lua"))
   tap.is(text, file:read("*a"), "the example is the new workload")
   file:close()
   return true
end

local function try(page, block, dir)
   local text = table.concat(block, "\n") .. "\n"
   if is_new_workload(text, dir) then
      return
   end
   -- A first line like `-- sysbench this.lua fill` gives the arguments.
   local args = text:match("^%-%- sysbench this%.lua ([^\n]*)")
   if not args then
      args = (text:find("function event") or text:find("commands =")) and
         "run" or ""
   end
   if args:find("^run") then
      args = args .. " --events=5 --threads=2"
   end
   local _, err, rc = tap.with(text, args)
   tap.is(rc, 0, ("%s: the example at line %d"):format(page, block.line), err)
   tap.unlike(err, "FATAL", "no error is printed")
end

function event()
   tap.run(function()
      local dir = os.getenv("SB_SRCDIR") or test:match("(.*/)") .. "../.."
      local pages = { ["docs/lua-api.md"] = 14, ["README.md"] = 1 }
      for _, page in ipairs{"docs/driver-api.md", "docs/workloads.md",
                            "docs/measurement.md"} do
         pages[page] = 0
      end
      for page, minimum in pairs(pages) do
         local list = examples(dir .. "/" .. page)
         tap.ok(#list >= minimum, page .. ": examples are found")
         for _, block in ipairs(list) do
            try(page, block, dir)
         end
      end
   end)
   return true
end
