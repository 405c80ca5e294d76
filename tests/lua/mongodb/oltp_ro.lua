#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The reads of the classic OLTP mix on documents: by id and by range.

local oltp = require("sb.mongodb.oltp")
local collections = require("sb.mongodb.collections")

sysbench.cmdline.options = oltp.options("reads", "ranges")
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
end

function thread_done()
   mix:close()
end
