#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- UPDATEs of the indexed column, --index-updates per event.

require("oltp_common")
-- An oltp_common.lua in the current folder, of sysbench before 1.0.20, does not
-- have it.
check_reconnect = check_reconnect or function() end

function prepare_statements()
   prepare_index_updates()
end

function event()
   execute_index_updates()
   check_reconnect()
end
