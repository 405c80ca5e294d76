#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Create, read, update and delete: each event is one statement on one of many
-- tables, chosen by --weights. Rows are found by the primary key, a secondary
-- index, a range, an IN list or the exact match of a text.

local crud = require("sb.crud")

local rand, kind = sysbench.rand, sysbench.sql.type
local retry = require("sb.retry")
require("sb.ranks").refuse("crud")
local opt -- the settings
local con, choose

-- Statements -----------------------------------------------------------------

-- How rows are selected: a condition, and the types of its parameters.
local selectors = {
   pk = function() return "id=?", {kind.BIGINT} end,
   index = function() return "owner=?", {kind.INT} end,
   range = function()
      return "id BETWEEN ? AND ?", {kind.BIGINT, kind.BIGINT}
   end,
   ["in"] = function()
      local types = {}
      for i = 1, opt.in_size do
         types[i] = kind.BIGINT
      end
      return "id IN (?" .. (",?"):rep(opt.in_size - 1) .. ")", types
   end,
   match = function() return "code=?", {kind.CHAR} end,
}

local row_types = {kind.BIGINT, kind.INT, kind.CHAR, kind.INT, kind.INT,
   kind.BIGINT, kind.VARCHAR}

-- Returns the text of an operation with %s for the table, the types of its
-- parameters, and how many of them come before those of the condition.
local function definition(operation)
   if operation:match("^insert") then
      local rows = operation == "insert" and 1 or opt.batch_size
      local types = {}
      for i = 1, rows * #row_types do
         types[i] = row_types[(i - 1) % #row_types + 1]
      end
      local row = "(?" .. (",?"):rep(#row_types - 1) .. ")"
      return "INSERT INTO %s (" .. crud.columns .. ") VALUES " .. row ..
         ("," .. row):rep(rows - 1), types, 0
   end
   local verb, selector = operation:match("^(%a+)_(%a+)$")
   local condition, types = selectors[selector]()
   if verb == "read" then
      return "SELECT " .. crud.columns .. " FROM %s WHERE " .. condition,
         types, 0
   elseif verb == "delete" then
      return "DELETE FROM %s WHERE " .. condition, types, 0
   end
   return "UPDATE %s SET quantity=?, total=price*?, data=? WHERE " ..
      condition, {kind.INT, kind.INT, kind.VARCHAR, unpack(types)}, 3
end

local to_close = {} -- statements

local function prepare(n, operation)
   local text, types, before = definition(operation)
   local s = {stmt = con:prepare(text:format(crud.name(opt, n)), operation),
      params = {}, before = before}
   for i, type_of in ipairs(types) do
      s.params[i] = s.stmt:bind_create(type_of, type_of == kind.VARCHAR and
         math.max(opt.data_length, 1) or nil)
   end
   s.stmt:bind_param(unpack(s.params))
   to_close[#to_close + 1] = s.stmt
   return s
end

-- Returns a statement on table t, which is prepared at first use.
local function statement(t, operation)
   local s = t.statements[operation]
   if not s then
      s = prepare(t.n, operation)
      t.statements[operation] = s
   end
   return s
end

local tables = {} -- in use, by number

-- Returns table n: newest and oldest are the sequences of its ids, and owed has
-- the first id of a delete by this user that failed, by operation.
local function table_of(n)
   local t = tables[n]
   if not t then
      local newest, oldest = crud.ids(opt, n)
      t = {n = n, statements = {}, newest = newest, oldest = oldest, owed = {}}
      tables[n] = t
   end
   return t
end

-- Operations -----------------------------------------------------------------

-- Each executes its statement on table t. again: it is another try, with the
-- same parameters, except new rows.

local data_format

-- Returns a random id of a row of table t. --rand-type prefers new rows.
local function draw(t)
   local first, last = t.oldest:last() + 1, t.newest:finished()
   return last - rand.default(0, math.max(last - first, 0))
end

-- Sets the parameters of the condition so that it selects rows from `id` on, or
-- for an IN list, random rows.
local set = {
   pk = function(params, at, id)
      params[at]:set(id)
   end,
   index = function(params, at, id)
      params[at]:set(crud.owner(opt, id))
   end,
   range = function(params, at, id)
      params[at]:set(id)
      params[at + 1]:set(id + opt.range_size - 1)
   end,
   ["in"] = function(params, at, id, t)
      for i = at, #params do
         params[i]:set(t and draw(t) or id + i - at)
      end
   end,
   match = function(params, at, id)
      params[at]:set(crud.code(id))
   end,
}

-- How many of the oldest rows a delete removes.
local function deleted_rows(selector)
   return selector == "range" and opt.range_size or
      selector == "in" and opt.in_size or 1
end

local function insert(t, operation)
   local s = statement(t, operation)
   local params, rows = s.params, #s.params / #row_types
   local first = t.newest:next(rows)
   for i = 0, rows - 1 do
      local id, at = first + i, i * #row_types
      local quantity = crud.quantity()
      params[at + 1]:set(id)
      params[at + 2]:set(crud.owner(opt, id))
      params[at + 3]:set(crud.code(id))
      params[at + 4]:set(crud.price(id))
      params[at + 5]:set(quantity)
      params[at + 6]:set(quantity * crud.price(id))
      params[at + 7]:set_rand_str(data_format)
   end
   local ok, err = pcall(s.stmt.execute, s.stmt)
   -- If it failed, a retry uses new ids, and readers must not wait for these.
   for i = first, first + rows - 1 do
      t.newest:finish(i)
   end
   if not ok then
      error(err, 0)
   end
end

local function read(t, operation, selector, again)
   local s = statement(t, operation)
   if not again then
      set[selector](s.params, 1, draw(t), t)
   end
   s.stmt:execute()
end

local function update(t, operation, selector, again)
   local s = statement(t, operation)
   if not again then
      local params, quantity = s.params, crud.quantity()
      params[1]:set(quantity)
      params[2]:set(quantity)
      params[3]:set_rand_str(data_format)
      set[selector](params, 4, draw(t), t)
   end
   s.stmt:execute()
end

-- Deletes the oldest rows, each of them once. As many must be left, even if
-- several users delete at the same time.
local function delete(t, operation, selector)
   local rows = deleted_rows(selector)
   local id = t.owed[operation] or
      t.oldest:next(rows, t.newest:finished() - rows)
   if not id then
      return insert(t, "insert") -- the table is nearly empty
   end
   local s = statement(t, operation)
   t.owed[operation] = id
   set[selector](s.params, 1, id)
   s.stmt:execute()
   t.owed[operation] = nil
end

local verbs = {insert = insert, read = read, update = update, delete = delete}
local list = {} -- {verb, operation, selector}

function thread_init()
   opt = crud.normalize(sysbench.opt)
   con = sysbench.sql.driver():connect()
   data_format = ("@"):rep(opt.data_length)
   local by_name, weights = crud.weights(opt), {}
   for _, operation in ipairs(crud.operations) do
      local verb, selector = operation:match("^(%a+)_?(%a*)$")
      if (by_name[operation] or 0) > 0 then
         list[#list + 1] = {verbs[verb], operation, selector}
         weights[#list] = by_name[operation]
      end
   end
   choose = require("sb.weights").chooser(weights)
end

function thread_done()
   for _, stmt in ipairs(to_close) do
      stmt:close()
   end
   con:disconnect()
end

local o, t -- the operation and the table of the event

function event()
   local again = retry.again()
   if not again then
      o, t = list[choose()], table_of(rand.uniform(1, opt.tables))
   end
   o[1](t, o[2], o[3], again)
end

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

sysbench.cmdline.options = crud.declarations()

require("sb.own_commands").declare("sb.crud_commands", crud.normalize)

-- New ids continue after the highest existing id.
function init()
   require("sb.crud_commands").measure(crud.normalize(sysbench.opt))
end
