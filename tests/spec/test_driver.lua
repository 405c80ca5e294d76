-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.driver: the Lua module that a driver brings.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

function event()
   tap.run(function()
      local template = sysbench.driver.template
      tap.is(template.answer(21), 42, "a function of the driver's file")
      tap.is(template.driver:name(), "template", "the driver object")
      tap.ok(sysbench.driver.template == template, "it is loaded once")
      local err = tap.raises(function() return sysbench.driver.null end,
                             "the null driver has no Lua module", "no module")
      tap.like(err, "test_driver.lua:%d+: ", "at the line of the script")
      tap.raises(function() return sysbench.driver.nosuch end,
                 "failed to initialize the DB driver: .*'nosuch'", "no driver")
      local out, _, rc = tap.with([[
function event()
   io.write("answer ", sysbench.driver.template.answer(sysbench.tid), "\n")
   return true
end]], "run --threads=3")
      tap.ok(out:find("answer 0\n") and out:find("answer 2\n") and
             out:find("answer 4\n"), "in every user", out)
      tap.is(rc, 0, "and no error")
   end)
   return true
end
