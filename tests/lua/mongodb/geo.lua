#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Places on the globe, around cities or anywhere: finds places near a point or
-- within a circle and areas that contain a point, and moves places. check
-- compares the server's results with distances that it computes itself.

local workload = require("sb.doc_workload")
local geo = require("sb.doc_geo")

workload.declare{
   commands = "sb.doc_geo_commands",
   fields = {"place", "area"},
   options = geo.options,
   bounds = geo.bounds,
   needs = geo.needs,

   open = function(db, opt)
      return {opt = opt, ops = workload.per_collection(db, opt, geo.compile)}
   end,

   event = function(self, n)
      local opt, ops = self.opt, self.ops[n]
      for _ = 1, opt.near do
         ops.near:execute(geo.position(opt))
      end
      for _ = 1, opt.within do
         ops.within:execute(geo.position(opt))
      end
      for _ = 1, opt.intersects do
         ops.intersects:execute(geo.position(opt))
      end
      for _ = 1, opt.moves do
         ops.moves:execute(workload.id(opt), geo.position(opt))
      end
   end,
}
