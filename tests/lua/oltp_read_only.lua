#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The SELECTs of the classic OLTP mix, in a read-only transaction.

require("oltp_common")
-- An oltp_common.lua in the current folder, of sysbench before 1.0.20, does not
-- have it.
check_reconnect = check_reconnect or function() end

function prepare_statements()
   if not sysbench.opt.skip_trx then
      prepare_begin(true)
      prepare_commit(true)
   end
   prepare_point_selects()
   if sysbench.opt.range_selects then
      prepare_simple_ranges()
      prepare_sum_ranges()
      prepare_order_ranges()
      prepare_distinct_ranges()
   end
end

function event()
   if not sysbench.opt.skip_trx then
      begin()
   end
   execute_point_selects()
   if sysbench.opt.range_selects then
      execute_simple_ranges()
      execute_sum_ranges()
      execute_order_ranges()
      execute_distinct_ranges()
   end
   if not sysbench.opt.skip_trx then
      commit()
   end
   check_reconnect()
end
