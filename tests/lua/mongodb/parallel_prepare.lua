#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Prepares collections with the run command, as old scripts did:
--
--    sysbench --test=mongodb/parallel_prepare.lua --num-threads=N
--        --max-requests=N --oltp-tables-count=T run
--
-- Thread t creates collections t + 1, t + 1 + N and so on. The prepare command,
-- here and in all other scripts, distributes the work better.

require("sb.mongodb.commands").declare{
   options = function() return {} end,
}

function init()
end

require("sb.once").declare(function()
   local opt = require("sb.mongodb.options").normalize(sysbench.opt)
   require("sb.mongodb.commands").build(
      require("sb.mongodb.collections").derive{}, opt, sysbench.tid + 1,
      opt.threads)
end)
