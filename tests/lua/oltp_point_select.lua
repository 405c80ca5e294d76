#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT by primary key per event.

require("oltp_common")
-- sysbench before 1.0.20 has no check_reconnect() in oltp_common.lua.
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
