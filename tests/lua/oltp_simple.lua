#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT of c by primary key per event, with the options of 0.5.

local legacy = require("sb.legacy")

legacy.declare{
   event = function(user, name)
      user.con:query(("SELECT c FROM %s WHERE id=%d"):format(name,
         legacy.draw_id(user.opt)))
   end,
}
