#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Documents with arrays: pushes, pops and adds elements to sets, updates
-- elements in place and searches for them. Each document counts its updates, so
-- check finds updates that were lost or only partly applied.

local workload = require("sb.doc_workload")
local arrays = require("sb.doc_arrays")

workload.declare{
   commands = "sb.doc_arrays_commands",
   fields = {"tags", "items", "pushed"},
   options = arrays.options,
   bounds = arrays.bounds,
   needs = arrays.needs,

   open = function(db, opt)
      return {opt = opt, ops = workload.per_collection(db, opt,
         arrays.compile)}
   end,

   event = function(self, n)
      local opt, ops, rand = self.opt, self.ops[n], sysbench.rand
      local id, size = workload.id, opt.array_size
      for _ = 1, opt.contains do
         ops.contains:execute(rand.uniform(1, arrays.TAGS))
      end
      for _ = 1, opt.elem_matches do
         ops.elem_matches:execute(rand.uniform(1, arrays.SKUS), 0)
      end
      for _ = 1, opt.pushes do
         ops.pushes:execute(id(opt), rand.uniform(1, arrays.TAGS))
      end
      for _ = 1, opt.pops do
         ops.pops:execute(id(opt))
      end
      for _ = 1, opt.set_adds do
         ops.set_adds:execute(id(opt), rand.uniform(1, arrays.SET))
      end
      for _ = 1, opt.positional_updates do
         ops.positional_updates:execute(id(opt), rand.uniform(1, size))
      end
      for _ = 1, opt.filtered_updates do
         ops.filtered_updates:execute(id(opt), rand.uniform(1, size))
      end
   end,
}
