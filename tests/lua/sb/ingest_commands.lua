-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- ingest: creates, fills, checks and drops its tables. The users of a run never
-- load this.

local build = require("sb.build")
local ingest = require("sb.ingest")
local own_tables = require("sb.own_tables")

local print_line = build.print_line

local tables = {name = ingest.name, key = "id"}

function tables.columns()
   return ingest.columns
end

function tables.define(d, opt)
   return string.format("id %s, batch BIGINT NOT NULL, " ..
      "batch_rows INTEGER NOT NULL, source INTEGER NOT NULL, " ..
      "reading INTEGER NOT NULL, control INTEGER NOT NULL, " ..
      "data VARCHAR(%d) NOT NULL", d.big_id, math.max(opt.data_length, 1))
end

local function index_name(opt, n)
   return ingest.name(opt, n):gsub("%.", "_") .. "_source"
end

-- The rows of prepare are batches of --batch-size, too; the last one of a table
-- may be smaller.
function tables.fill(loader, opt, n, first, last)
   local rand, size = sysbench.rand, opt.batch_size
   local format = ("@"):rep(opt.data_length)
   for id = first, last do
      rand.row(n, id)
      local source = rand.uniform(1, opt.sources)
      local reading = rand.uniform(0, ingest.MAX_READING - 1)
      local batch = id - (id - 1) % size
      loader:int(id)
      loader:int(batch)
      loader:int(math.min(size, opt.table_size - batch + 1))
      loader:int(source)
      loader:int(reading)
      loader:int(ingest.control(id, source, reading))
      loader:random_text(format)
   end
   rand.resume()
end

function tables.indexes(con, opt, n)
   local name = ingest.name(opt, n)
   if opt.create_secondary then
      print_line("Creating a secondary index on '%s'...", name)
      con:query(string.format("CREATE INDEX %s ON %s (source, reading)",
         index_name(opt, n), name))
   end
end

function tables.index_names(opt, n)
   return opt.create_secondary and {index_name(opt, n)} or {}
end

own_tables.derive(tables)

-- Checking -------------------------------------------------------------------

-- Returns the condition for rows that ingest never writes with these options.
local function impossible(d, opt)
   local sum = string.format("(%s * 31 + source * 17 + reading)",
      d.remainder:format("id", 1000003))
   return string.format("control <> %s OR source < 1 OR source > %d OR " ..
      "reading < 0 OR reading >= %d OR LENGTH(data) <> %d OR id < batch OR " ..
      "id >= batch + batch_rows", d.remainder:format(sum, 1000003),
      opt.sources, ingest.MAX_READING, opt.data_length)
end

local function check_values(con, d, opt, name)
   local count, id = con:query_row(string.format(
      "SELECT COUNT(*), MIN(id) FROM %s WHERE %s", name, impossible(d, opt)))
   if tonumber(count) > 0 then
      error(string.format("%s: %s %s values that ingest does not write with " ..
         "these options, the first is id %s", name, count,
         count == "1" and "row has" or "rows have", id), 0)
   end
end

-- Checks that each batch is complete: it is one transaction.
local function check_batches(con, name)
   local count, batch = con:query_row(string.format("SELECT COUNT(*), " ..
      "MIN(batch) FROM (SELECT batch FROM %s GROUP BY batch HAVING " ..
      "COUNT(*) <> MAX(batch_rows) OR MIN(batch_rows) <> MAX(batch_rows)) " ..
      "AS w", name))
   if tonumber(count) > 0 then
      error(string.format("%s: %s %s incomplete, the first begins with id %s",
         name, count, count == "1" and "batch is" or "batches are", batch), 0)
   end
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check(con, d, opt, n)
   local name = ingest.name(opt, n)
   con:query(d.begin_snapshot)
   -- The length of data is in no index, so the server must read the table.
   local rows, sum, batches = con:query_row(string.format("SELECT COUNT(*), " ..
      "SUM(reading), COUNT(DISTINCT batch), SUM(LENGTH(data)) FROM %s", name))
   check_values(con, d, opt, name)
   check_batches(con, name)
   for _, statement in ipairs(opt.create_secondary and d.before_index or {}) do
      con:query(statement)
   end
   if opt.create_secondary then
      own_tables.check_index(con, d, name, {name = index_name(opt, n),
         columns = "source, reading"}, "source >= 0", "reading", rows, sum)
   end
   con:query("ROLLBACK") -- also undoes d.before_index for the next table
   return string.format("%s: %s rows in %s batches, all correct and " ..
      "complete", name, rows, batches)
end

-- Commands -------------------------------------------------------------------

local function warm(con, _, opt, n)
   con:query("SELECT SUM(LENGTH(data)) FROM " .. ingest.name(opt, n))
end

local M = own_tables.commands("ingest", tables, check, warm)

-- Sets the sequences of new ids to the highest existing id of each table.
function M.continue_ids(opt)
   local con, d = own_tables.connect("ingest", opt)
   own_tables.require_all(con, d, opt, tables)
   for n = 1, opt.tables do
      local last = con:query_row("SELECT MAX(id) FROM " .. ingest.name(opt, n))
      ingest.ids(opt, n, tonumber(last))
   end
   con:disconnect()
end

return M
