#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One UPDATE of an unindexed column per event, with the options of 0.5.

require("sb.legacy").declare{
   statements = function(e)
      e.opt.non_index_updates = 1
      e.m:prepare(e.opt, "non_index_updates")
   end,

   event = function(e, n)
      e.m:non_index_updates(e.opt, n)
   end,
}
