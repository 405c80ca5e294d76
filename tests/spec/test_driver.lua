-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.driver: the Lua module of a driver.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

ffi.cdef("int setenv(const char *, const char *, int);")

-- Uses the template driver, which is found in the build tree.
local function template()
   local drivers = os.getenv("SB_BUILDDIR") .. "/src/drivers/template/.libs"
   ffi.C.setenv("SYSBENCH_DRIVER_DIR", drivers, 1)
   local out, err, rc = tap.with([[
local template = sysbench.driver.template
function event()
   print("answer", template.answer(21), template.driver:name(),
         sysbench.driver.template == template)
   return true
end]], "run --time=600")
   tap.like(out, "answer\t42\t", "a function of the driver's library")
   tap.like(out, "\ttemplate\t", "the driver object")
   tap.like(out, "\ttrue\n", "the module is loaded once")
   tap.is(rc, 0, "the run succeeds", err)
   out, err, rc = tap.with([[
function event()
   io.write("answer " .. sysbench.driver.template.answer(sysbench.tid) .. "\n")
   return true
end]], "run --time=600 --threads=3")
   tap.ok(out:find("answer 0\n") and out:find("answer 2\n") and
          out:find("answer 4\n"), "the module works in every user", out .. err)
   tap.is(rc, 0, "and the run succeeds")
end

function event()
   tap.run(function()
      local err = tap.raises(function() return sysbench.driver.null end,
                             "the null driver has no Lua module",
                             "a driver without a module")
      tap.like(err, "test_driver.lua:%d+: ", "the error has the script's line")
      tap.raises(function() return sysbench.driver.nosuch end,
                 "failed to initialize the DB driver: .*'nosuch'",
                 "a driver that does not exist")
      template()
   end)
   return true
end
