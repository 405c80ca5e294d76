#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One UPDATE of an unindexed column per event, with the options of 0.5.

local legacy = require("sb.legacy")
local sbtest = require("sb.sbtest")

legacy.declare{
   event = function(user, name)
      local c = sysbench.rand.string(sbtest.c_format)
      user.con:query(("UPDATE %s SET c='%s' WHERE id=%d"):format(name, c,
         legacy.draw_id(user.opt)))
   end,
}
