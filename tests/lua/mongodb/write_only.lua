#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The writes of the classic OLTP mix on documents: updates and upserts.

local oltp = require("sb.mongodb.oltp")
local collections = require("sb.mongodb.collections")

sysbench.cmdline.options = oltp.options("writes")
collections.declare_commands(collections.describe{})
init = oltp.check

local mix

function thread_init()
   mix = oltp.open()
end

function event()
   mix:begin()
   mix:writes()
   mix:commit()
end

function thread_done()
   mix:close()
end
