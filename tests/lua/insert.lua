#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One INSERT per event, with the options of sysbench 0.5. With
-- --oltp-auto-inc=off, prepare leaves the tables empty; see oltp_insert.lua.

local insert = require("sb.insert")

require("sb.legacy").declare{
   adjust = function(opt)
      if not opt.auto_inc then
         opt.table_size = 0
      end
   end,

   event = function(e, n)
      e.con:query(insert.text(e.d, e.opt, n))
   end,
}
