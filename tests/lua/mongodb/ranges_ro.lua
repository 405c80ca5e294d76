#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Reads, sums, sorts and finds distinct values of ranges of documents.

local oltp = require("sb.mongodb.oltp")
local collections = require("sb.mongodb.collections")

sysbench.cmdline.options = oltp.options("ranges")
collections.declare_commands(collections.describe{})
init = oltp.check

local mix

function thread_init()
   mix = oltp.open()
end

function event()
   mix:begin()
   mix:ranges()
end

function thread_done()
   mix:close()
end
