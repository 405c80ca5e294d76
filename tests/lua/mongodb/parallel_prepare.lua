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

require("sb.doc_workload").declare{
   commands = "sb.doc_oltp_commands",
   options = function() return {} end,
}

function init()
end

require("sb.once").declare(function()
   local opt = require("sb.doc_options").normalize(sysbench.opt)
   require("sb.doc_commands").build(require("sb.doc_tables").derive{}, opt,
      sysbench.tid + 1, opt.threads)
end)
