#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The insert benchmark on documents: batches of documents into a collection
-- with up to three secondary indexes. An event inserts --rows-per-commit
-- documents or, in the --query-threads, executes one query. A row of iibench is
-- the document
--
--    {_id, dateandtime, cashregisterid, customerid, productid, price, data}
--
-- Values, sizes and options, which iibench.lua has, too, are in sb/iibench.lua.

local collections = require("sb.mongodb.collections")
local iibench = require("sb.iibench")
local tables = require("sb.tables")

local rand = sysbench.rand

-- Options --------------------------------------------------------------------

local function declare_options()
   local list = collections.with_common(iibench.options())
   list.table_name[1] = "Name of the collection; with --tables above 1, the " ..
      "number of the collection is appended"
   list.tables[1] = "Number of collections"
   list.table_size[1] = "Documents per collection that prepare loads"
   list.table_size.max = 2147483647
   list.rows_per_commit[1] = "Documents inserted per event"
   list.rows_per_insert[1] = "Maximum number of documents per insert " ..
      "command, at most 1,000"
   list.rows_per_insert.max = 1000
   list.create_secondary = nil -- --num-secondary-indexes replaces it
   list.query_pk_only[1] = "Use _id for all queries"
   list.transactions = {"Execute inserts and deletes of an event in a " ..
      "transaction", false}
   return list
end

sysbench.cmdline.options = declare_options()

-- Collections ----------------------------------------------------------------

local documents = {deletes = true, new_rows = true}

-- Returns a document with placeholders, for a loader or a bulk.
local function purchase()
   local arg = sysbench.mongodb.arg
   return sysbench.mongodb.doc("_id", arg(1), "dateandtime", arg(2, "date"),
      "cashregisterid", arg(3), "customerid", arg(4), "productid", arg(5),
      "price", arg(6, "double"), "data", arg(7))
end

-- Returns the keys of an index, a projection on its fields, and the first of
-- its fields.
local function keys(index)
   local list, projection = {}, {_id = 0}
   for field in index.columns:gmatch("%w+") do
      list[#list + 1] = field
      list[#list + 1] = 1
      projection[field] = 1
   end
   return sysbench.mongodb.doc(unpack(list)), projection, list[1]
end

local function create_indexes(con, opt, n)
   for i = 1, opt.num_secondary_indexes do
      local index = iibench.indexes[i]
      local name = iibench.index_name(opt, n, index)
      tables.print("Creating index '%s' on '%s'...", name,
         iibench.name(opt, n))
      collections.create_index(con, opt, n, keys(index), {name = name})
   end
end

function documents.create(con, d, opt, n)
   collections.create(con, d, opt, n)
   if opt.secondary_at_end then
      return
   end
   local ok, err = pcall(create_indexes, con, opt, n)
   if not ok then
      documents.discard(con, opt, n)
      error(err, 0)
   end
end

function documents.finish(con, _, opt, n)
   if opt.secondary_at_end then
      create_indexes(con, opt, n)
   end
end

function documents.loader(con, opt, n)
   return collections.loader(con, opt, n, purchase())
end

-- Returns the values of a new document: cashregisterid, customerid, productid,
-- price and data.
local function draw_values(opt, next_format)
   local customer, cents = iibench.customer_and_price(opt)
   local register = rand.uniform(0, opt.cashregisters - 1)
   local product = rand.uniform(0, opt.products - 1)
   return register, customer, product, cents / 100, rand.string(next_format())
end

-- The values are those of the rows in iibench.
function documents.fill(loader, opt, n, first, last)
   local next_format = iibench.data_formats(opt)
   for id = first, last do
      rand.row(n, id)
      loader:put(id, iibench.time_of(id) * 1000, draw_values(opt, next_format))
   end
   rand.resume()
end

collections.describe(documents)

-- Before a run ---------------------------------------------------------------

local fields = {"dateandtime", "cashregisterid", "customerid", "productid",
   "price", "data"}

-- Returns the sequences of the ids of collection n: those of new documents, and
-- those whose documents were deleted.
local function ids(opt, n, first, last)
   local name = iibench.name(opt, n)
   return sysbench.sequence("iibench ids " .. name, last),
      sysbench.sequence("iibench oldest " .. name, first and first - 1)
end

-- Publishes the size of collection n to all users.
local function publish_size(opt, coll, n)
   local function at(order)
      local doc = coll:find_one({}, {sort = {_id = order}})
      if doc then
         collections.require_fields(coll, doc, fields)
      end
      return doc and doc._id
   end
   local first, last = at(1), at(-1)
   ids(opt, n, first, last)
   iibench.publish_size(opt, n, first, last, function()
      return coll:count()
   end)
end

function init()
   local db, opt = collections.open()
   iibench.check_options(opt)
   collections.require_all(db, opt, {})
   collections.require_transactions(db, opt)
   for n = 1, opt.tables do
      publish_size(opt, db:collection(iibench.name(opt, n)), n)
   end
   db:disconnect()
end

-- Queries --------------------------------------------------------------------

local db, opt -- the database and the settings
local sequence

local function draw_price()
   local _, price = iibench.customer_and_price(opt)
   return price / 100
end

local function draw_register()
   return rand.uniform(0, opt.cashregisters - 1)
end

local function draw_id(t)
   return rand.uniform(t.oldest:last(), t.ids:last())
end

-- Returns a list of {find =, a compiled command, draw = function(t) that
-- returns a value for it}.
local function compile_queries(coll, n)
   local arg, list = sysbench.mongodb.arg, {}
   for i = 1, opt.query_pk_only and 0 or opt.num_secondary_indexes do
      local index = iibench.indexes[i]
      local sort, projection, first = keys(index)
      local by_register = first == "cashregisterid"
      list[i] = {draw = by_register and draw_register or draw_price,
         find = coll:compile("find", {[first] = {["$gte"] =
            arg(1, by_register and "int64" or "double")}},
            {sort = sort, projection = projection, limit = opt.rows_per_query,
            hint = iibench.index_name(opt, n, index),
            op = index.name .. "_queries"})}
   end
   if #list == 0 then
      list[1] = {draw = draw_id, find = coll:compile("find",
         {_id = {["$gte"] = arg(1)}}, {sort = {_id = 1},
         projection = {_id = 1}, limit = opt.rows_per_query,
         op = "pk_queries"})}
   end
   return list
end

-- Reads documents in the order of an index, starting at a random value.
local function query(t)
   local q = t.queries[rand.uniform(1, #t.queries)]
   q.find:execute(q.draw(t))
end

-- Users ----------------------------------------------------------------------

local opened       -- the collections, by number
local next_format  -- returns the format of the next text
local queries_only -- true for the --query-threads

-- Returns the state of collection n in a user: table_state() of sb/iibench.lua
-- and
--   ids, oldest  see ids()
--   ranges       ids that this transaction deletes: first, last, first, last...
--   bulk, row    for inserts
--   delete, next compiled commands
--   queries      see compile_queries()
local function open(coll, n)
   local arg = sysbench.mongodb.arg
   local t = iibench.table_state(opt, n)
   t.ids, t.oldest = ids(opt, n)
   t.ranges = {}
   t.bulk = coll:bulk{ordered = false}
   t.row = sysbench.mongodb.compile_document(db, purchase())
   t.delete = coll:compile("delete_many",
      {_id = {["$gte"] = arg(1), ["$lte"] = arg(2)}}, {op = "deletes"})
   t.next = coll:compile("find", {_id = {["$gte"] = arg(1)}},
      {sort = {_id = 1}, limit = 1, projection = {_id = 1}, op = ""})
   t.queries = compile_queries(coll, n)
   return t
end

function thread_init(id)
   db, opt = collections.open()
   sequence = iibench.sequences()
   queries_only = id >= opt.threads - opt.query_threads
   next_format = iibench.data_formats(opt)
   opened = collections.per_collection(db, opt, open)
end

function thread_done()
   db:disconnect()
end

local function insert(t, rows)
   local now = os.time() * 1000
   local id = t.ids:next(rows)
   for i = 1, rows do
      t.bulk:insert(t.row, id, now, draw_values(opt, next_format))
      id = id + 1
      if i % opt.rows_per_insert == 0 or i == rows then
         t.bulk:execute()
      end
   end
end

-- Takes the next `count` ids to delete. If the last range had no documents,
-- skips the ids that no document has. Returns false at the end.
local function take_range(t, n, count, empty)
   if empty then
      local doc = t.next:execute(t.oldest:last() + 1):next()
      if not doc then
         return false
      end
      ids(opt, n, doc._id)
   end
   local first = t.oldest:next(count)
   t.ranges[#t.ranges + 1] = first
   t.ranges[#t.ranges + 1] = first + count - 1
   return true
end

-- Deletes the `old` oldest documents. Returns how many were deleted. Users take
-- ranges of ids, so they delete different documents; a transaction that is
-- retried deletes the same ones.
local function delete(t, n, old)
   local deleted, done, i = 0, 1, 1
   while deleted < old do
      if not t.ranges[i] and not take_range(t, n, old - deleted, done == 0) then
         break
      end
      done = t.delete:execute(t.ranges[i], t.ranges[i + 1]).deleted
      deleted, i = deleted + done, i + 2
   end
   return deleted
end

local function transaction(t, n, rows)
   local old = iibench.rows_to_delete(opt, t, rows)
   for _ = 1, opt.queries_per_commit do
      query(t)
   end
   -- A single command is a transaction by itself.
   local several = opt.transactions and
      (old > 0 or rows > opt.rows_per_insert)
   if several then
      db:start_transaction()
   end
   insert(t, rows)
   local deleted = delete(t, n, old)
   if several then
      db:commit()
   end
   t.ranges = {}
   iibench.done(sequence, t, rows, deleted)
end

function event()
   local n = rand.uniform(1, opt.tables)
   if queries_only then
      if iibench.all_inserted(opt, sequence) then
         return true
      end
      query(opened[n])
      return
   end
   local rows = iibench.reserve(opt, sequence)
   if rows == 0 then
      return true
   end
   transaction(opened[n], n, rows)
end

-- Check ----------------------------------------------------------------------

-- What the check has read of the collection.
local rows, customers = 0, 0

-- Returns what is wrong with a number that must be from 0 to count - 1.
local function wrong_number(doc, field, count)
   local value = doc[field]
   if type(value) ~= "number" or value < 0 or value >= count then
      return string.format("%s is %s, not a number from 0 to %.0f", field,
         tostring(value), count - 1)
   end
end

function documents.wrong(doc, opt)
   local wrong = wrong_number(doc, "cashregisterid", opt.cashregisters) or
      wrong_number(doc, "customerid", opt.customers) or
      wrong_number(doc, "productid", opt.products)
   if wrong then
      return wrong
   end
   local cents = doc.price * 100
   if cents < doc.customerid - 1 or
      cents > doc.customerid + opt.max_price + 1
   then
      return string.format("price is %s, which is not possible for customer " ..
         "%d", tostring(doc.price), doc.customerid)
   elseif #doc.data < opt.data_length_min or #doc.data > opt.data_length_max
   then
      return string.format("data has %d characters, not %d to %d", #doc.data,
         opt.data_length_min, opt.data_length_max)
   elseif not doc.dateandtime.ms then
      return "dateandtime is not a date"
   end
   rows, customers = rows + 1, customers + doc.customerid
end

-- Returns the sum of an expression over the documents that the index finds.
-- There is one command per sum: FerretDB 1 returns 0 for the second one.
local function sum_by(coll, name, first, expression)
   local found = coll:aggregate({
      {["$match"] = {[first] = {["$gte"] = 0}}},
      {["$group"] = {_id = sysbench.mongodb.null,
         sum = {["$sum"] = expression}}},
   }, {hint = name}):next()
   return found and found.sum or 0
end

-- Checks that the index finds exactly the documents of the collection.
local function check_index(coll, name, first)
   local index_rows = sum_by(coll, name, first, 1)
   local index_sum = sum_by(coll, name, first, "$customerid")
   if index_rows ~= rows or index_sum ~= customers then
      error(string.format("%s: the index %s finds %.0f documents and a sum " ..
         "of %.0f of customerid; the collection has %.0f documents and a " ..
         "sum of %.0f", coll.name, name, index_rows, index_sum, rows,
         customers), 0)
   end
end

function documents.check_more(coll, opt, n)
   local exists = {}
   for _, index in ipairs(coll:list_indexes()) do
      exists[index.name] = true
   end
   for i = 1, opt.num_secondary_indexes do
      local index = iibench.indexes[i]
      local name = iibench.index_name(opt, n, index)
      if not exists[name] then
         error(string.format("%s: there is no index %s", coll.name, name), 0)
      end
      check_index(coll, name, index.columns:match("^%w+"))
   end
   rows, customers = 0, 0
end

collections.declare_commands(documents, iibench.check_options)

-- Reports --------------------------------------------------------------------

sysbench.hooks.report_line = iibench.report_lines()
sysbench.hooks.ends_by_itself = iibench.ends_by_itself
