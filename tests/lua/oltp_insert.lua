#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One INSERT per event. With --auto-inc=off, prepare leaves the tables empty,
-- because its rows could have ids that the run chooses at random.

require("oltp_common")
-- An oltp_common.lua in the current folder, of sysbench before 1.0.20, does not
-- have it.
check_reconnect = check_reconnect or function() end

local dialect = require("sb.dialect")
local sbtest = require("sb.sbtest")
local d

sysbench.cmdline.commands.prepare = {
   function()
      if not sysbench.opt.auto_inc then
         sysbench.opt.table_size = 0
      end
      cmd_prepare()
   end,
   sysbench.cmdline.PARALLEL_COMMAND
}

function prepare_statements()
   d = dialect.of(drv)
end

function event()
   local opt = sysbench.opt
   local n = sysbench.rand.uniform(1, opt.tables)
   con:query(sbtest.insert_text(d, opt, sbtest.name(opt, n)))
   check_reconnect()
end
