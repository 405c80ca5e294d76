-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Prints the statements of a run of ingest with --method=multi-row, or of
-- iibench, one per line, for the bare loops. Options: those of the workload.
--
--     sysbench batches.lua --workload=ingest --batches=1000 ... run

local workload
for i = 1, #sysbench.cmdline.argv do
   workload = workload or sysbench.cmdline.argv[i]:match("^--workload=(%w+)$")
end
local iibench = workload == "iibench"
local model = require(iibench and "sb.iibench" or "sb.ingest")
local commands = iibench and require("sb.iibench_commands") or model

if sysbench.cmdline.main_state then
   local options = commands.declarations()
   options.workload = {"ingest or iibench", "ingest"}
   options.batches = {"Number of statements", 1000}
   sysbench.cmdline.options = options
end

-- Returns a function that returns the next statement for table n.
local function writer(opt)
   if iibench then
      local text = require("sb.iibench_text").new(opt)
      return function(n)
         return text(model.name(opt, n), opt.rows_per_insert)
      end
   end
   local text = model.text(opt)
   return function(n)
      return text(model.ids(opt, n):next(opt.batch_size),
         opt.batch_size, model.head(opt, n), ",", "")
   end
end

function init()
   local opt = commands.normalize(sysbench.opt)
   local write = writer(opt)
   local out = assert(io.open("batches.sql", "w"))
   for _ = 1, opt.batches do
      out:write(write(sysbench.rand.uniform(1, opt.tables)), "\n")
   end
   assert(out:close())
end

function event()
   return true
end
