-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Writes the statements of ingest with --method=multi-row, or of iibench, to
-- the file batches.sql, one per line, for the bare loops. Options: those of the
-- workload.
--
--     sysbench batches.lua --workload=ingest --batches=1000 --events=1 ... run

local workload = "ingest"
for i = 1, #sysbench.cmdline.argv do
   workload = sysbench.cmdline.argv[i]:match("^--workload=(%w+)$") or workload
end
dofile(sysbench.cmdline.script_path:match("(.*/)") .. "../tests/lua/" ..
   workload .. ".lua")

local int = sysbench.cmdline.ARG_INT
sysbench.cmdline.options.workload = {"ingest or iibench", "ingest"}
sysbench.cmdline.options.batches = {"Number of statements", 1000, int}

-- A connection that writes what it should execute.
local file
local parameter = {set = function() end}
local statement = {
   bind_create = function() return parameter end,
   bind_param = function() end,
   execute = function() end,
   close = function() end,
}
local con = {
   query = function(_, text) file:write(text, "\n") end,
   prepare = function() return statement end,
   disconnect = function() end,
}

local sql = sysbench.sql
local driver = {connect = function() return con end}

function driver.dialect()
   return sql.driver():dialect()
end

sysbench.sql = setmetatable({driver = function() return driver end},
   {__index = sql})

local insert_batch = event

function init()
end

function event(tid)
   file = assert(io.open("batches.sql", "w"))
   for _ = 1, sysbench.opt.batches do
      insert_batch(tid)
   end
   assert(file:close())
   return true
end

sysbench.hooks.report_line = nil
