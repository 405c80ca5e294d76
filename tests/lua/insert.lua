#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One INSERT per event, with the options of sysbench 0.5. With
-- --oltp-auto-inc=off, prepare leaves the tables empty; see oltp_insert.lua.

local legacy = require("sb.legacy")
local sbtest = require("sb.sbtest")

legacy.declare{
   adjust = function(opt)
      if not opt.auto_inc then
         opt.table_size = 0
      end
   end,

   event = function(user, name)
      user.con:query(sbtest.insert_text(user.d, user.opt, name))
   end,
}
