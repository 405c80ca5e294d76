#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT by primary key per event.

require("oltp_common")
-- An oltp_common.lua in the current folder, of sysbench before 1.0.20, does not
-- have it.
check_reconnect = check_reconnect or function() end

function prepare_statements()
   -- --point-selects is per transaction; here each event is one query.
   sysbench.opt.point_selects = 1
   prepare_point_selects()
end

function event()
   execute_point_selects()
   check_reconnect()
end
