#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The classic OLTP mix with the options of sysbench 0.5 ('sysbench oltp',
-- without .lua, runs oltp_0_4).

local legacy = require("sb.legacy")

legacy.declare{
   statements = function(e)
      local opt, m = e.opt, e.m
      if not opt.skip_trx then
         m:prepare_begin(e.d, opt, opt.read_only)
         m:prepare_commit(e.d, opt, opt.read_only)
      end
      if not opt.write_only then
         m:prepare(opt, "point_selects")
         m:prepare_ranges(opt)
      end
      if not opt.read_only then
         m:prepare_writes(opt)
      end
   end,

   event = function(e, n)
      local opt, m = e.opt, e.m
      if not opt.skip_trx then
         e.stmt.begin:execute()
      end
      if not opt.write_only then
         m:points(opt, n)
         m:read_ranges(opt, n)
      end
      if not opt.read_only then
         m:writes(opt, n)
      end
      if not opt.skip_trx then
         e.stmt.commit:execute()
      end
   end,
}

function help()
   print("The workload of sysbench 0.5; 'sysbench oltp', without .lua, is " ..
      "the test of 0.4.\n")
   sysbench.cmdline.print_test_options()
end
