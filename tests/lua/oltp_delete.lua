#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One DELETE by primary key per event.

require("oltp_common")
-- An oltp_common.lua in the current folder, of sysbench before 1.0.20, does not
-- have it.
check_reconnect = check_reconnect or function() end

function prepare_statements()
   prepare_for_each_table("deletes")
end

function event()
   local n = sysbench.rand.uniform(1, sysbench.opt.tables)
   local id = sysbench.rand.default(1, math.max(sysbench.opt.table_size, 1))
   param[n].deletes[1]:set(id)
   stmt[n].deletes:execute()
   check_reconnect()
end
