#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Updates in place by operators: $inc, $set, $push with $slice, $min and $max,
-- arrayFilters. Each document counts its updates, so check finds updates that
-- were lost or only partly applied.

local workload = require("sb.doc_workload")
local schema = require("sb.schema")
local inplace = require("sb.doc_inplace")

workload.declare{
   commands = "sb.doc_inplace_commands",
   fields = {"items", "list", "n_log"},
   options = inplace.options,
   bounds = inplace.bounds,
   needs = inplace.needs,

   open = function(db, opt)
      return {opt = opt, ops = workload.per_collection(db, opt,
         inplace.compile)}
   end,

   event = function(self, n)
      local opt, ops, rand = self.opt, self.ops[n], sysbench.rand
      local id = workload.id
      for _ = 1, opt.incs do
         local by = rand.uniform(1, 10)
         ops.incs:execute(id(opt), by, by)
      end
      for _ = 1, opt.sets do
         ops.sets:execute(id(opt), rand.string(schema.c_format))
      end
      for _ = 1, opt.pushes do
         ops.pushes:execute(id(opt), rand.uniform(1, inplace.VALUES))
      end
      for _ = 1, opt.bounds do
         local v = rand.uniform(1, inplace.VALUES)
         ops.bounds:execute(id(opt), v, v)
      end
      for _ = 1, opt.filtered_updates do
         ops.filtered_updates:execute(id(opt),
            rand.uniform(1, opt.array_size))
      end
   end,
}
