#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One INSERT per event. With --auto-inc=off, prepare leaves the tables empty,
-- because its rows could have ids that the run chooses at random.

require("oltp_common")
if not check_reconnect then require("sb.older_common") end

local dialect = require("sb.dialect")
local insert = require("sb.insert")
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
   con:query(insert.text(d, opt, sysbench.rand.uniform(1, opt.tables)))
   check_reconnect()
end

if sysbench.cmdline.main_state then require("sb.check_tables").before_run() end
