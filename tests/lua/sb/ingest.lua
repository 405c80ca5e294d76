-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- ingest: its options, and the text of its batches. The code of its commands is
-- in sb/ingest_commands.lua.

local out = require("sb.row_text")
local rand = sysbench.rand

local M = {
   columns = "id, batch, batch_rows, source, reading, control, data",
   MAX_READING = 1000000,
   methods = {"multi-row", "multi-statement", "pipeline", "single", "load"},
}

-- name = {help, default, min, max}
local numbers = {
   tables = {"Number of tables", 16, 1, 1e6},
   table_size = {"Rows per table that prepare inserts", 0, 0, 1e12},
   batch_size = {"Rows per batch", 50, 1, 100000},
   sources = {"Number of different sources", 1000, 1, 1000000},
   data_length = {"Length of the column data, in characters", 100, 0, 16000},
}

local function declare()
   local cmdline = sysbench.cmdline
   local options = {
      table_name = {"Prefix of the names of the tables; their numbers are " ..
         "appended", "ingest", cmdline.ARG_STRING},
      method = {"How a batch is sent: multi-row (one INSERT), " ..
         "multi-statement (one text with an INSERT per row), pipeline " ..
         "(prepared INSERTs sent together), single (prepared INSERTs one by " ..
         "one) or load (the driver's bulk load)", "multi-row",
         cmdline.ARG_STRING},
      create_secondary = {"Create an index on source and reading", true,
         cmdline.ARG_BOOL},
   }
   return require("sb.settings").declare(options, numbers)
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

function M.normalize(opt)
   require("sb.settings").check(opt, numbers)
   require("sb.bounds").one_of(opt, "method", M.methods)
   return opt
end

-- Returns the name of table n.
function M.name(opt, n)
   return opt.table_name .. n
end

-- Returns the shared sequence of the ids of table n.
function M.ids(opt, n, after)
   return sysbench.sequence("ingest " .. M.name(opt, n), after)
end

-- Returns the shared sequence that counts the rows inserted by this run.
function M.inserted()
   return sysbench.local_sequence("ingest rows")
end

-- Returns a number that check computes, too, from the other columns of a row.
function M.control(id, source, reading)
   return (id % 1000003 * 31 + source * 17 + reading) % 1000003
end

-- Text -----------------------------------------------------------------------

-- Maximum number of bytes of the numbers in a row, with their separators.
local ROW = 100

local COMMA, OPEN, CLOSE = 44, 40, 41

-- Writes the values of a row: "(1,1,50,7,8,9,'abc')".
local function put_row(opt, at, id, first, rows, format)
   local source = rand.uniform(1, opt.sources)
   local reading = rand.uniform(0, M.MAX_READING - 1)
   at = out.char(at, OPEN)
   at = out.integer(at, id, COMMA)
   at = out.integer(at, first, COMMA)
   at = out.integer(at, rows, COMMA)
   at = out.integer(at, source, COMMA)
   at = out.integer(at, reading, COMMA)
   at = out.integer(at, M.control(id, source, reading), COMMA)
   return out.char(out.random(at, format), CLOSE)
end

-- Returns a function (first, rows, before, between, after) that returns the
-- statements that insert a batch of `rows` rows from id `first` on. between:
-- the text between two rows, such as ",". before, after: the text around all
-- rows.
function M.text(opt)
   local format = ("@"):rep(opt.data_length)
   return function(first, rows, before, between, after)
      out.reserve(#before + #after +
         rows * (ROW + opt.data_length + #between))
      local at = out.text(0, before)
      for id = first, first + rows - 1 do
         if id > first then
            at = out.text(at, between)
         end
         at = put_row(opt, at, id, first, rows, format)
      end
      return out.get(out.text(at, after))
   end
end

-- Returns the beginning of an INSERT into table n.
function M.head(opt, n)
   return "INSERT INTO " .. M.name(opt, n) .. " (" .. M.columns .. ") VALUES "
end

return M
