#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT by primary key per event.

require("oltp_common")
if not check_reconnect then require("sb.older_common") end

function prepare_statements()
   -- --point-selects is per transaction; here each event is one query.
   sysbench.opt.point_selects = 1
   prepare_point_selects()
end

function event()
   execute_point_selects()
   check_reconnect()
end

if sysbench.cmdline.main_state then require("sb.check_tables").before_run() end
