#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One UPDATE of the indexed column per event, with the options of 0.5.

local legacy = require("sb.legacy")

legacy.declare{
   event = function(user, name)
      user.con:query(("UPDATE %s SET k=k+1 WHERE id=%d"):format(name,
         legacy.draw_id(user.opt)))
   end,
}
