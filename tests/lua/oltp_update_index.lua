#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- UPDATEs of the indexed column, --index-updates per event.

require("oltp_common")
if not check_reconnect then require("sb.older_common") end

function prepare_statements()
   prepare_index_updates()
end

function event()
   execute_index_updates()
   check_reconnect()
end

if sysbench.cmdline.main_state then require("sb.check_tables").before_run() end
