-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- crud: creates, fills, checks and drops its tables. The users of a run never
-- load this.

local build = require("sb.build")
local crud = require("sb.crud")
local own_tables = require("sb.own_tables")

local print_line = build.print_line

local PAGE = 5000 -- rows that check reads at a time

local tables = {name = crud.name, key = "id"}

function tables.columns()
   return crud.columns
end

function tables.define(d, opt)
   return string.format("id %s, owner INTEGER NOT NULL, " ..
      "code CHAR(%d) NOT NULL, price INTEGER NOT NULL, " ..
      "quantity INTEGER NOT NULL, total BIGINT NOT NULL, " ..
      "data VARCHAR(%d) NOT NULL", d.big_id, crud.CODE_LENGTH,
      math.max(opt.data_length, 1))
end

function tables.fill(loader, opt, n, first, last)
   local rand = sysbench.rand
   local format = ("@"):rep(opt.data_length)
   for id = first, last do
      rand.row(n, id)
      local price, quantity = crud.price(id), crud.quantity()
      loader:int(id)
      loader:int(crud.owner(opt, id))
      loader:text(crud.code(id))
      loader:int(price)
      loader:int(quantity)
      loader:int(price * quantity)
      loader:random_text(format)
   end
   rand.resume()
end

function tables.indexes(con, opt, n)
   local name = crud.name(opt, n)
   print_line("Creating secondary indexes on '%s'...", name)
   con:query(string.format("CREATE INDEX %s ON %s (owner)",
      crud.index_name(opt, n, "owner"), name))
   con:query(string.format("CREATE UNIQUE INDEX %s ON %s (code)",
      crud.index_name(opt, n, "code"), name))
end

function tables.index_names(opt, n)
   return {crud.index_name(opt, n, "owner"), crud.index_name(opt, n, "code")}
end

own_tables.derive(tables)

-- Checking -------------------------------------------------------------------

-- Returns what is wrong with a row; nil if it is correct.
local function wrong(opt, row)
   local id, owner, code, price, quantity, total, length = unpack(row, 1, 7)
   id, quantity = tonumber(id), tonumber(quantity)
   if tonumber(owner) ~= crud.owner(opt, id) then
      return string.format("its owner is %s, expected %d", owner,
         crud.owner(opt, id))
   elseif code ~= crud.code(id) then
      return string.format("its code is '%s', expected '%s'", code,
         crud.code(id))
   elseif tonumber(price) ~= crud.price(id) then
      return string.format("its price is %s, expected %d", price,
         crud.price(id))
   elseif quantity < 1 or quantity > crud.MAX_QUANTITY then
      return string.format("its quantity is %d, expected 1 to %d", quantity,
         crud.MAX_QUANTITY)
   elseif tonumber(total) ~= quantity * crud.price(id) then
      return string.format("its total is %s, expected %s * %d", total, price,
         quantity)
   elseif tonumber(length) ~= opt.data_length then
      return string.format("its data has %s characters, expected %d", length,
         opt.data_length)
   end
end

-- Checks all rows of a table; returns their number and the sum of the prices.
local function check_rows(con, opt, name)
   local rows, sum, last = 0, 0, 0
   local read
   repeat
      local rs = con:query(string.format("SELECT id, owner, code, price, " ..
         "quantity, total, LENGTH(data) FROM %s WHERE id > %.0f ORDER BY id " ..
         "LIMIT %d", name, last, PAGE))
      read = rs and rs.nrows or 0
      for _ = 1, read do
         local row = rs:fetch_row()
         local why = wrong(opt, row)
         if why then
            error(string.format("%s: row %s: %s", name, row[1], why), 0)
         end
         last, sum = tonumber(row[1]), sum + tonumber(row[4])
      end
      rows = rows + read
   until read < PAGE
   return rows, sum
end

-- Checks an index; condition: one that is true for all rows.
local function check_index(con, d, opt, n, column, condition, rows, sum)
   own_tables.check_index(con, d, crud.name(opt, n),
      {name = crud.index_name(opt, n, column), columns = column},
      column .. condition, "price", rows, sum)
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check(con, d, opt, n)
   local name = crud.name(opt, n)
   con:query(d.begin_snapshot)
   local rows, sum = check_rows(con, opt, name)
   for _, statement in ipairs(d.before_index) do
      con:query(statement)
   end
   check_index(con, d, opt, n, "owner", " > 0", rows, sum)
   check_index(con, d, opt, n, "code", " >= '0'", rows, sum)
   con:query("ROLLBACK") -- also undoes d.before_index for the next table
   return string.format("%s: %.0f rows, all correct, and 2 indexes agree " ..
      "with them", name, rows)
end

-- Commands -------------------------------------------------------------------

local function warm(con, d, opt, n)
   local name = crud.name(opt, n)
   for _, statement in ipairs(d.before_index) do
      con:query(statement)
   end
   con:query("SELECT SUM(LENGTH(data)) FROM " .. name)
   con:query(string.format("SELECT COUNT(*) FROM %s WHERE owner > 0",
      d.through(name, crud.index_name(opt, n, "owner"))))
   con:query(string.format("SELECT COUNT(*) FROM %s WHERE code >= '0'",
      d.through(name, crud.index_name(opt, n, "code"))))
end

local M = own_tables.commands("crud", tables, check, warm)

-- Sets the sequences of ids to the lowest and the highest existing id.
function M.measure(opt)
   local con, d = own_tables.connect("crud", opt)
   own_tables.require_all(con, d, opt, tables)
   for n = 1, opt.tables do
      local name = crud.name(opt, n)
      local first, last = con:query_row(string.format(
         "SELECT (SELECT MIN(id) FROM %s), (SELECT MAX(id) FROM %s)", name,
         name))
      first, last = tonumber(first), tonumber(last)
      if d.find_table and not last and opt.check_tables then
         require("sb.check_tables").empty(name)
      end
      crud.ids(opt, n, last or opt.table_size, (first or 1) - 1)
   end
   con:disconnect()
end

return M
