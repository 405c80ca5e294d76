#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Create, read, update and delete: each event is one statement on one of many
-- tables, chosen by --weights. Rows are found by the primary key, a secondary
-- index, a range, an IN list or the exact match of a text.
--
--    CREATE TABLE crud1 (id BIGINT NOT NULL, owner INTEGER NOT NULL,
--       code CHAR(19) NOT NULL, price INTEGER NOT NULL,
--       quantity INTEGER NOT NULL, total BIGINT NOT NULL,
--       data VARCHAR(100) NOT NULL, PRIMARY KEY (id))
--    CREATE INDEX crud1_owner ON crud1 (owner)
--    CREATE UNIQUE INDEX crud1_code ON crud1 (code)
--
-- New rows get the next ids, and the oldest rows are deleted.

local check = require("sb.check")
local options = require("sb.options")
local retry = require("sb.retry")
local tables = require("sb.tables")
local weights = require("sb.weights")

local rand, types = sysbench.rand, sysbench.sql.type

local opt -- the settings

-- Options --------------------------------------------------------------------

-- In the order of their explanation.
local operations = {
   "insert", "insert_batch",
   "read_pk", "read_index", "read_range", "read_in", "read_match",
   "update_pk", "update_index", "update_range", "update_in", "update_match",
   "delete_pk", "delete_range", "delete_in", "delete_match",
}

-- As many rows are inserted as deleted, with the default sizes.
local WEIGHTS = "insert:10,insert_batch:0.4,read_pk:40,read_index:8," ..
   "read_range:6,read_in:6,read_match:8,update_pk:10,update_index:1," ..
   "update_range:0.5,update_in:0.5,update_match:3,delete_pk:10," ..
   "delete_range:0.5,delete_in:0.5,delete_match:5"

local int = sysbench.cmdline.ARG_INT

sysbench.cmdline.options = options.with_table_options{
   tables = {"Number of tables", 8, int, min = 1, max = 1e6},
   table_size = {"Rows per table that prepare inserts", 10000, int, min = 1,
      max = 1e12},
   table_name = {"Prefix of the names of the tables; their numbers are " ..
      "appended", "crud", nil, options.validate_table_name},
   batch_size = {"Rows per INSERT of insert_batch", 50, int, min = 1,
      max = 1000},
   range_size = {"Ids that a range covers", 20, int, min = 1, max = 1e6},
   in_size = {"Ids in an IN list", 10, int, min = 1, max = 1000},
   data_length = {"Length of the column data, in characters", 100, int,
      min = 0, max = 16000},
   weights = {"Operations and their weights; those that are not named are " ..
      "not executed. " .. table.concat(operations, ", "), WEIGHTS},
}

local weight_of -- by operation

local function normalize(given)
   opt = given
   weight_of = weights.parse("weights", opt.weights, operations)
end

-- Rows -----------------------------------------------------------------------

local COLUMNS = "id, owner, code, price, quantity, total, data"
local ROWS_PER_OWNER = 10 -- on average, in the tables of prepare
local MAX_PRICE, MAX_QUANTITY = 1000, 1000

local function table_name(n)
   return opt.table_name .. n
end

-- The names of indexes are unique, because some databases require that.
local function index_name(n, column)
   return table_name(n):gsub("%.", "_") .. "_" .. column
end

-- Owner, code and price depend on the id alone, so that check can verify them.

local function owner_of(id)
   local owners = math.ceil(opt.table_size / ROWS_PER_OWNER)
   return rand.scatter((id - 1) % opt.table_size + 1, 1, opt.table_size) %
      owners + 1
end

local function code_of(id)
   return ("%019d"):format(rand.fnv(id))
end

local function price_of(id)
   return id % MAX_PRICE + 1
end

local function draw_quantity()
   return rand.uniform(1, MAX_QUANTITY)
end

-- The rows of table n have the ids after `oldest`:last() up to
-- `newest`:finished(). The arguments are minimum values of the two sequences.
local function id_sequences(n, newest, oldest)
   return sysbench.sequence("crud newest " .. table_name(n), newest),
      sysbench.sequence("crud oldest " .. table_name(n), oldest)
end

-- prepare --------------------------------------------------------------------

local crud_tables = tables.describe{ -- for sb/tables.lua
   key = "id",
   name = function(_, n) return table_name(n) end,
   columns = function() return COLUMNS end,
   index_names = function(_, n)
      return {index_name(n, "owner"), index_name(n, "code")}
   end,
}

function crud_tables.define(d)
   return string.format("id %s, owner INTEGER NOT NULL, " ..
      "code CHAR(19) NOT NULL, price INTEGER NOT NULL, " ..
      "quantity INTEGER NOT NULL, total BIGINT NOT NULL, " ..
      "data VARCHAR(%d) NOT NULL", d.big_id, math.max(opt.data_length, 1))
end

function crud_tables.fill(loader, _, n, first, last)
   local data_format = ("@"):rep(opt.data_length)
   for id = first, last do
      rand.row(n, id) -- quantity and data depend only on this
      local price, quantity = price_of(id), draw_quantity()
      loader:int(id)
      loader:int(owner_of(id))
      loader:text(code_of(id))
      loader:int(price)
      loader:int(quantity)
      loader:int(price * quantity)
      loader:random_text(data_format)
   end
   rand.resume()
end

function crud_tables.indexes(con, _, n)
   local name = table_name(n)
   tables.print("Creating secondary indexes on '%s'...", name)
   con:query(string.format("CREATE INDEX %s ON %s (owner)",
      index_name(n, "owner"), name))
   con:query(string.format("CREATE UNIQUE INDEX %s ON %s (code)",
      index_name(n, "code"), name))
end

-- warmup ---------------------------------------------------------------------

local function warm(con, d, _, n)
   local name = table_name(n)
   for _, statement in ipairs(d.before_index) do
      con:query(statement)
   end
   con:query("SELECT SUM(LENGTH(data)) FROM " .. name)
   con:query(string.format("SELECT COUNT(*) FROM %s WHERE owner > 0",
      d.through(name, index_name(n, "owner"))))
   con:query(string.format("SELECT COUNT(*) FROM %s WHERE code >= '0'",
      d.through(name, index_name(n, "code"))))
end

-- Events ---------------------------------------------------------------------

-- New ids continue after the highest existing id.
function init()
   normalize(sysbench.opt)
   local con, d = tables.connect("crud", opt)
   tables.require_all(con, d, opt, crud_tables)
   for n = 1, opt.tables do
      local name = table_name(n)
      local first, last = con:query_row(string.format(
         "SELECT (SELECT MIN(id) FROM %s), (SELECT MAX(id) FROM %s)", name,
         name))
      first, last = tonumber(first), tonumber(last)
      if d.find_table and not last and opt.check_tables then
         check.empty(name)
      end
      id_sequences(n, last or opt.table_size, (first or 1) - 1)
   end
   con:disconnect()
end

local con
local data_format -- of random values of data
local used = {}   -- tables in use, by number

-- Returns table n: the sequences of its ids, its statements by operation, and
-- the first ids of deletes by this user that failed, by operation.
local function table_of(n)
   local t = used[n]
   if not t then
      t = {name = table_name(n), statements = {}, owed = {}}
      t.newest, t.oldest = id_sequences(n)
      used[n] = t
   end
   return t
end

-- Returns a random id of a row of table t. --rand-type prefers new rows.
local function draw_id(t)
   local first, last = t.oldest:last() + 1, t.newest:finished()
   return last - rand.default(0, math.max(last - first, 0))
end

-- Returns how operations select rows: the condition, the type of its
-- parameters, how many of the oldest rows a delete removes, and a function that
-- sets params[at] and the following ones, so that rows from `id` on are
-- selected.
local function selectors()
   return {
      pk = {
         condition = "id=?", type = types.BIGINT, rows = 1,
         set = function(params, at, id) params[at]:set(id) end,
      },
      index = {
         condition = "owner=?", type = types.INT,
         set = function(params, at, id) params[at]:set(owner_of(id)) end,
      },
      range = {
         condition = "id BETWEEN ? AND ?", type = types.BIGINT,
         rows = opt.range_size,
         set = function(params, at, id)
            params[at]:set(id)
            params[at + 1]:set(id + opt.range_size - 1)
         end,
      },
      ["in"] = {
         condition = "id IN (?" .. (",?"):rep(opt.in_size - 1) .. ")",
         type = types.BIGINT, rows = opt.in_size,
         set = function(params, at, id, t) -- with t: random rows
            for i = at, #params do
               params[i]:set(t and draw_id(t) or id + i - at)
            end
         end,
      },
      match = {
         condition = "code=?", type = types.CHAR, rows = 1,
         set = function(params, at, id) params[at]:set(code_of(id)) end,
      },
   }
end

-- Prepares the statement of an operation on table t. The types of its
-- parameters are those of `first`, and then those of `others`, repeatedly.
local function prepare(t, operation, text, first, others)
   local stmt = con:prepare(text:format(t.name), operation)
   local params = {}
   for i = 1, select(2, text:gsub("%?", "")) do
      local type_of = first[i] or others[(i - #first - 1) % #others + 1]
      params[i] = stmt:bind_create(type_of, type_of == types.VARCHAR and
         math.max(opt.data_length, 1) or nil)
   end
   stmt:bind_param(unpack(params))
   t.statements[operation] = {stmt = stmt, params = params}
   return t.statements[operation]
end

local row_types = {types.BIGINT, types.INT, types.CHAR, types.INT, types.INT,
   types.BIGINT, types.VARCHAR}

-- The verbs execute an operation on table t. again: the event is a retry, which
-- uses the same parameters, except for new rows.
local verbs = {}

function verbs.insert(t, operation)
   local rows = operation == "insert" and 1 or opt.batch_size
   local s = t.statements[operation] or prepare(t, operation, "INSERT INTO " ..
      "%s (" .. COLUMNS .. ") VALUES (?,?,?,?,?,?,?)" ..
      (",(?,?,?,?,?,?,?)"):rep(rows - 1), {}, row_types)
   local params, first = s.params, t.newest:next(rows)
   for i = 0, rows - 1 do
      local id, at = first + i, i * #row_types
      local price, quantity = price_of(id), draw_quantity()
      params[at + 1]:set(id)
      params[at + 2]:set(owner_of(id))
      params[at + 3]:set(code_of(id))
      params[at + 4]:set(price)
      params[at + 5]:set(quantity)
      params[at + 6]:set(quantity * price)
      params[at + 7]:set_rand_str(data_format)
   end
   local ok, err = pcall(s.stmt.execute, s.stmt)
   -- If it failed, a retry uses new ids, and readers must not wait for these.
   for id = first, first + rows - 1 do
      t.newest:finish(id)
   end
   if not ok then
      error(err, 0)
   end
end

function verbs.read(t, operation, selector, again)
   local s = t.statements[operation] or prepare(t, operation, "SELECT " ..
      COLUMNS .. " FROM %s WHERE " .. selector.condition, {},
      {selector.type})
   if not again then
      selector.set(s.params, 1, draw_id(t), t)
   end
   s.stmt:execute()
end

function verbs.update(t, operation, selector, again)
   local s = t.statements[operation] or prepare(t, operation, "UPDATE %s " ..
      "SET quantity=?, total=price*?, data=? WHERE " .. selector.condition,
      {types.INT, types.INT, types.VARCHAR}, {selector.type})
   if not again then
      local params, quantity = s.params, draw_quantity()
      params[1]:set(quantity)
      params[2]:set(quantity)
      params[3]:set_rand_str(data_format)
      selector.set(params, 4, draw_id(t), t)
   end
   s.stmt:execute()
end

-- Deletes the oldest rows, each of them once. As many must be left, even if
-- several users delete at the same time.
function verbs.delete(t, operation, selector)
   local rows = selector.rows
   local id = t.owed[operation] or
      t.oldest:next(rows, t.newest:finished() - rows)
   if not id then
      return verbs.insert(t, "insert") -- the table is nearly empty
   end
   local s = t.statements[operation] or prepare(t, operation, "DELETE FROM " ..
      "%s WHERE " .. selector.condition, {}, {selector.type})
   t.owed[operation] = id
   selector.set(s.params, 1, id)
   s.stmt:execute()
   t.owed[operation] = nil
end

local choices = {} -- the operations that have a weight
local draw_choice

function thread_init()
   normalize(sysbench.opt)
   options.refuse_ranks("crud")
   con = sysbench.sql.driver():connect()
   data_format = ("@"):rep(opt.data_length)
   local by_name, list = selectors(), {}
   for _, operation in ipairs(operations) do
      local verb, selector = operation:match("^(%a+)_?(%a*)$")
      if (weight_of[operation] or 0) > 0 then
         choices[#choices + 1] = {operation = operation,
            execute = verbs[verb], selector = by_name[selector]}
         list[#list + 1] = weight_of[operation]
      end
   end
   draw_choice = weights.chooser(list)
end

local choice, t -- of the event
local is_retry = retry.watch()

function event()
   local again = is_retry()
   if not again then
      choice = choices[draw_choice()]
      t = table_of(rand.uniform(1, opt.tables))
   end
   choice.execute(t, choice.operation, choice.selector, again)
end

function thread_done()
   con:disconnect()
end

-- check ----------------------------------------------------------------------

local PAGE = 5000 -- rows that check reads at a time

-- Returns what is wrong with a row; nil if it is correct.
local function wrong(row)
   local id, owner, code, price, quantity, total, length = unpack(row, 1, 7)
   id, quantity = tonumber(id), tonumber(quantity)
   if tonumber(owner) ~= owner_of(id) then
      return string.format("its owner is %s, expected %d", owner, owner_of(id))
   elseif code ~= code_of(id) then
      return string.format("its code is '%s', expected '%s'", code,
         code_of(id))
   elseif tonumber(price) ~= price_of(id) then
      return string.format("its price is %s, expected %d", price, price_of(id))
   elseif quantity < 1 or quantity > MAX_QUANTITY then
      return string.format("its quantity is %d, expected 1 to %d", quantity,
         MAX_QUANTITY)
   elseif tonumber(total) ~= quantity * price_of(id) then
      return string.format("its total is %s, expected %s * %d", total, price,
         quantity)
   elseif tonumber(length) ~= opt.data_length then
      return string.format("its data has %s characters, expected %d", length,
         opt.data_length)
   end
end

-- Checks all rows of a table; returns their number and the sum of the prices.
local function check_rows(db, name)
   local rows, sum, last = 0, 0, 0
   local read
   repeat
      local rs = db:query(string.format("SELECT id, owner, code, price, " ..
         "quantity, total, LENGTH(data) FROM %s WHERE id > %.0f ORDER BY id " ..
         "LIMIT %d", name, last, PAGE))
      read = rs and rs.nrows or 0
      for _ = 1, read do
         local row = rs:fetch_row()
         local why = wrong(row)
         if why then
            error(string.format("%s: row %s: %s", name, row[1], why), 0)
         end
         last, sum = tonumber(row[1]), sum + tonumber(row[4])
      end
      rows = rows + read
   until read < PAGE
   return rows, sum
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check_table(db, d, _, n)
   local name = table_name(n)
   db:query(d.begin_snapshot)
   local rows, sum = check_rows(db, name)
   for _, statement in ipairs(d.before_index) do
      db:query(statement)
   end
   -- The conditions are true for all rows.
   check.index(db, d, name, {name = index_name(n, "owner"),
      columns = "owner"}, "owner > 0", "price", rows, sum)
   check.index(db, d, name, {name = index_name(n, "code"),
      columns = "code"}, "code >= '0'", "price", rows, sum)
   db:query("ROLLBACK") -- also undoes d.before_index for the next table
   return string.format("%s: %.0f rows, all correct, and 2 indexes agree " ..
      "with them", name, rows)
end

tables.declare_commands(tables.standard_commands("crud", crud_tables,
   check_table, warm), normalize)
