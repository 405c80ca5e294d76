#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The classic OLTP mix with the options of sysbench 0.5 ('sysbench oltp',
-- without .lua, runs oltp_0_4). An event is a transaction on one table.

local legacy = require("sb.legacy")
local sbtest = require("sb.sbtest")

local rand = sysbench.rand
local draw_id = legacy.draw_id

-- Executes a query with a random range of ids `times` times.
local function read_ranges(user, text, name, times)
   for _ = 1, times do
      local id = draw_id(user.opt)
      user.con:query(text:format(name, id, id + user.opt.range_size - 1))
   end
end

local function reads(user, name)
   local con, opt = user.con, user.opt
   for _ = 1, opt.point_selects do
      con:query(("SELECT c FROM %s WHERE id=%d"):format(name, draw_id(opt)))
   end
   if opt.range_selects then
      read_ranges(user, "SELECT c FROM %s WHERE id BETWEEN %d AND %d", name,
         opt.simple_ranges)
      read_ranges(user, "SELECT SUM(k) FROM %s WHERE id BETWEEN %d AND %d",
         name, opt.sum_ranges)
      read_ranges(user, "SELECT c FROM %s WHERE id BETWEEN %d AND %d " ..
         "ORDER BY c", name, opt.order_ranges)
      read_ranges(user, "SELECT DISTINCT c FROM %s WHERE id BETWEEN %d AND " ..
         "%d ORDER BY c", name, opt.distinct_ranges)
   end
end

local function writes(user, name)
   local con, opt = user.con, user.opt
   for _ = 1, opt.index_updates do
      con:query(("UPDATE %s SET k=k+1 WHERE id=%d"):format(name, draw_id(opt)))
   end
   for _ = 1, opt.non_index_updates do
      local c = rand.string(sbtest.c_format)
      con:query(("UPDATE %s SET c='%s' WHERE id=%d"):format(name, c,
         draw_id(opt)))
   end
   for _ = 1, opt.delete_inserts do
      local id, k = draw_id(opt), draw_id(opt)
      local c, pad = rand.string(sbtest.c_format),
         rand.string(sbtest.pad_format)
      con:query(("DELETE FROM %s WHERE id=%d"):format(name, id))
      con:query(("INSERT INTO %s (id, k, c, pad) VALUES (%d, %d, '%s', " ..
         "'%s')"):format(name, id, k, c, pad))
   end
end

legacy.declare{
   event = function(user, name)
      local opt = user.opt
      if not opt.skip_trx then
         user.con:query(user.begin)
      end
      if not opt.write_only then
         reads(user, name)
      end
      if not opt.read_only then
         writes(user, name)
      end
      if not opt.skip_trx then
         user.con:query(user.commit)
      end
   end,
}

function help()
   print("The workload of sysbench 0.5; 'sysbench oltp', without .lua, is " ..
      "the test of 0.4.\n")
   sysbench.cmdline.print_test_options()
end
