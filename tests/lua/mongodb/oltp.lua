#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The classic OLTP mix on documents: reads by id, ranges and writes.

local oltp = require("sb.mongodb.oltp")
local collections = require("sb.mongodb.collections")

sysbench.cmdline.options = oltp.options("reads", "ranges", "writes")
collections.declare_commands(collections.describe{})
init = oltp.check

local mix

function thread_init()
   mix = oltp.open()
end

function event()
   mix:begin()
   mix:point_selects()
   mix:ranges()
   mix:writes()
   mix:commit()
end

function thread_done()
   mix:close()
end
