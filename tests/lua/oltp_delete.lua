#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One DELETE by primary key per event.

require("oltp_common")
if not check_reconnect then require("sb.older_common") end

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

if sysbench.cmdline.main_state then require("sb.check_tables").before_run() end
