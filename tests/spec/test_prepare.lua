-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sb/tables.lua: how the users of prepare distribute rows of tables of
-- different sizes.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

-- Prepares tables without a database. Each user waits at its first block until
-- the others have one.
local text = [[
local TABLES = 60
local tables = {table_word = "table", rows_word = "rows", began = false}
function tables.name(_, n) return "t" .. n end
function tables.create() end
function tables.finish() end
function tables.announce_rows() end
function tables.rows(_, n) return 100 * n end
function tables.block(_, n) return n == TABLES and 1000 or nil end
function tables.loader()
   return {close = function() end}
end
function tables.fill(_, _, n, first, last)
   io.write(("block %d %d %d\n"):format(n, first, last))
   if not tables.began then
      tables.began = true
      io.write(("first %d\n"):format(n))
      sysbench.parallel.barrier()
   end
end
sysbench.cmdline.commands = {all = {function()
   require("sb.tables").prepare({}, {}, {tables = TABLES}, tables)
end, sysbench.cmdline.PARALLEL_COMMAND}}
]]

local function distribution()
   local out, err, rc = tap.with(text, "all --threads=3")
   tap.is(rc, 0, "prepare succeeds", err)
   local first = {}
   for n in out:gmatch("first (%d+)") do
      first[#first + 1] = tonumber(n)
   end
   table.sort(first)
   tap.is(table.concat(first, " "), "58 59 60",
      "60 tables: each user begins with another one, the largest first")
   local rows, blocks = {}, {}
   for n, low, high in out:gmatch("block (%d+) (%d+) (%d+)") do
      rows[n] = (rows[n] or 0) + high - low + 1
      blocks[n] = (blocks[n] or 0) + 1
   end
   local wrong = 0
   for n = 1, 60 do
      wrong = wrong + (rows[tostring(n)] == 100 * n and 0 or 1)
   end
   tap.is(wrong, 0, "all rows are loaded once")
   tap.is(blocks["60"], 6, "the blocks of a table have their own size")
   tap.is(blocks["59"], 3, "the default is 2000 rows")
end

function event()
   tap.run(distribution)
   return true
end
