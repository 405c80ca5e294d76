#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Documents in a column of type JSON: each event is one statement on one table,
-- chosen by --weights. It inserts a document, reads one by its id, finds
-- documents by a path or by what they contain, aggregates over the elements of
-- their arrays, changes one in place or replaces it.
--
-- The tables json1, json2 and so on have the columns id and doc. A document:
--
--    {"sku": "5465015992139406178", "category": "c13", "price": 8,
--     "stock": {"count": 980, "value": 7840}, "tags": ["t58", "t1", "t24"],
--     "items": [{"seller": "s1", "price": 9, "quantity": 9}, ...],
--     "total": 745, "note": "kdjfhg..."}

local check = require("sb.check")
local dialect = require("sb.dialect")
local options = require("sb.options")
local retry = require("sb.retry")
local tables = require("sb.tables")
local weights = require("sb.weights")

local rand, types = sysbench.rand, sysbench.sql.type

local opt -- the settings
local sql -- the SQL of documents in this database: an entry of `databases`

-- Options --------------------------------------------------------------------

-- In the order of their explanation.
local operations = {"insert", "read", "lookup", "contains", "aggregate",
   "update", "replace"}

local int = sysbench.cmdline.ARG_INT

sysbench.cmdline.options = options.with_table_options{
   tables = {"Number of tables", 1, int, min = 1, max = 1e6},
   table_size = {"Documents per table that prepare inserts", 10000, int,
      min = 1, max = 1e12},
   table_name = {"Prefix of the names of the tables; their numbers are " ..
      "appended", "json", nil, options.validate_table_name},
   items = {"Elements of the array items of a document", 10, int, min = 0,
      max = 1000},
   note_length = {"Length of the member note, in characters", 100, int,
      min = 0, max = 16000},
   containment_index = {"Index for contains that prepare creates: auto: GIN " ..
      "with jsonb_path_ops on PostgreSQL, a multi-valued index on MySQL " ..
      "from 8.0.17; jsonb_path_ops, jsonb_ops: GIN with that operator " ..
      "class; none", "auto",
      values = {"auto", "jsonb_path_ops", "jsonb_ops", "none"}},
   weights = {"Operations and their weights; those that are not named are " ..
      "not executed. " .. table.concat(operations, ", "),
      "insert:10,read:30,lookup:25,contains:5,aggregate:5,update:20,replace:5"},
}

-- SQL of documents -----------------------------------------------------------

-- By database:
--   columns      the definitions of doc and of generated columns
--   member(path) expression of a member as text, for example of "stock.count"
--   key(member)  what sku and category are selected by and indexed by
--   document     a document as parameter
--   update       doc with other members of stock; parameters: count, value
--   contains     the condition for documents of a category that have a tag
--   contained(category, tag)  its parameters
--   aggregate    number and value of the items of a category; %s: table
--   create_contents_index(con, index, name)  the statement that creates the
--                index for `contains`, or nil; optional
--   operator_classes  whether --containment-index may name one
--   loader(con, name) a loader for a table, or nil: con:load(); optional
--   before_contains   a statement for reading through the index for `contains`
--                after those of d.before_index; optional
local databases = {}

databases.sqlite = {
   columns = "doc TEXT NOT NULL CHECK (json_valid(doc))",
   member = function(path) return "json_extract(doc, '$." .. path .. "')" end,
   key = function(member) return "json_extract(doc, '$." .. member .. "')" end,
   document = "?",
   update = "json_replace(doc, '$.stock.count', ?, '$.stock.value', ?)",
   contains = "json_extract(doc, '$.category')=? AND EXISTS (" ..
      "SELECT 1 FROM json_each(doc, '$.tags') WHERE value=?)",
   contained = function(category, tag) return category, tag end,
   aggregate = [[SELECT COUNT(*), SUM(json_extract(value, '$.price') *
      json_extract(value, '$.quantity')) FROM %s, json_each(doc, '$.items')
      WHERE json_extract(doc, '$.category')=?]],
}

-- MariaDB has no shorter form of JSON_UNQUOTE(JSON_EXTRACT()).
databases.mysql = {
   columns = [[doc JSON NOT NULL,
      sku VARCHAR(19) GENERATED ALWAYS AS
         (JSON_UNQUOTE(JSON_EXTRACT(doc, '$.sku'))) VIRTUAL,
      category VARCHAR(19) GENERATED ALWAYS AS
         (JSON_UNQUOTE(JSON_EXTRACT(doc, '$.category'))) VIRTUAL]],
   member = function(path)
      return "JSON_UNQUOTE(JSON_EXTRACT(doc, '$." .. path .. "'))"
   end,
   key = function(member) return member end,
   document = "?",
   update = "JSON_REPLACE(doc, '$.stock.count', ?, '$.stock.value', ?)",
   contains = "category=? AND JSON_CONTAINS(JSON_EXTRACT(doc, '$.tags'), ?)",
   contained = function(category, tag) return category, '"' .. tag .. '"' end,
   aggregate = [[SELECT COUNT(*), SUM(i.price * i.quantity) FROM %s AS t,
      JSON_TABLE(t.doc, '$.items[*]' COLUMNS (price INT PATH '$.price',
         quantity INT PATH '$.quantity')) AS i
      WHERE t.category=?]],
}

databases.pgsql = {
   columns = "doc JSONB NOT NULL",
   member = function(path)
      return "(doc #>> '{" .. path:gsub("%.", ",") .. "}')"
   end,
   key = function(member) return "(doc #>> '{" .. member .. "}')" end,
   document = "CAST(? AS JSONB)",
   update = "jsonb_set(doc, '{stock}', jsonb_build_object(" ..
      "'count', CAST(? AS INTEGER), 'value', CAST(? AS INTEGER)))",
   contains = "doc @> CAST(? AS JSONB)",
   contained = function(category, tag)
      return string.format('{"category": "%s", "tags": ["%s"]}', category, tag)
   end,
   aggregate = [[SELECT COUNT(*), SUM(i.price * i.quantity) FROM %s,
      jsonb_to_recordset(doc -> 'items') AS i(price INTEGER, quantity INTEGER)
      WHERE (doc #>> '{category}')=?]],
   operator_classes = true,
   before_contains = "SET enable_bitmapscan = on", -- GIN supports no other scan
}

function databases.pgsql.create_contents_index(_, index, name)
   local class = opt.containment_index
   return string.format("CREATE INDEX %s ON %s USING GIN (doc %s)", index,
      name, class == "auto" and "jsonb_path_ops" or class)
end

-- MariaDB has no multi-valued indexes.
function databases.mysql.create_contents_index(con, index, name)
   local version = con:query_row("SELECT VERSION()") or ""
   local major, minor, patch = version:match("^(%d+)%.(%d+)%.(%d+)")
   if major and not version:find("MariaDB") and
      major * 1e6 + minor * 1e3 + patch >= 8000017
   then
      return string.format("CREATE INDEX %s ON %s " ..
         "((CAST(JSON_EXTRACT(doc, '$.tags') AS CHAR(8) ARRAY)))", index, name)
   end
end

-- MySQL rejects documents from LOAD DATA with CHARACTER SET binary, which
-- con:load() uses. MariaDB's documents are text.
function databases.mysql.loader(con, name)
   if (con:query_row("SELECT VERSION()") or "MariaDB"):find("MariaDB") then
      return nil
   end
   local loader, id = {}, nil
   con:bulk_insert_init("INSERT INTO " .. name .. " (id, doc) VALUES")
   function loader.int(_, value)
      id = value
   end
   function loader.text(_, value)
      con:bulk_insert_next(string.format("(%.0f,%s)", id, con:quote(value)))
   end
   function loader.close(_, commit)
      if commit ~= false then
         con:bulk_insert_done()
      end
   end
   return loader
end

local weight_of -- by operation

-- Checks the options, and selects the SQL of the database.
local function normalize(given)
   opt = given
   weight_of = weights.parse("weights", opt.weights, operations)
   local drv = sysbench.sql.driver()
   local name = dialect.of(drv).name
   sql = databases[name == "null" and "sqlite" or name]
   if not sql then
      error(string.format("json does not support the driver %s", drv:name()),
         0)
   end
end

-- Documents ------------------------------------------------------------------

local MAX_PRICE, MAX_COUNT = 1000, 1000
local TAGS = 60
local CATEGORY_SIZE = 20 -- documents per category on average, after prepare

local function table_name(n)
   return opt.table_name .. n
end

-- All members but stock and note depend on the id alone, so that check can
-- verify them.

local function sku_of(id)
   return ("%019d"):format(rand.fnv(id))
end

-- Documents of one category are spread over the table.
local function category_of(id)
   local categories = math.ceil(opt.table_size / CATEGORY_SIZE)
   return "c" .. rand.scatter((id - 1) % opt.table_size + 1, 1,
      opt.table_size) % categories + 1
end

local function price_of(id)
   return id % MAX_PRICE + 1
end

-- Returns the three tags of a document; they are different.
local function tags_of(id)
   local hash = rand.fnv(id)
   local first = tonumber(hash % TAGS)
   local second = first + 1 + tonumber(hash / TAGS % 20)
   local third = first + 21 + tonumber(hash / (20 * TAGS) % 20)
   return "t" .. first, "t" .. second % TAGS, "t" .. third % TAGS
end

-- Returns the price and the quantity of element i of the array items.
local function item_of(id, i)
   return price_of(id) + i, (id + i) % 10 + 1
end

local function draw_count()
   return rand.uniform(0, MAX_COUNT)
end

-- Returns a document as text, with a random stock and note.
local function document(id)
   local items, total = {}, 0
   for i = 1, opt.items do
      local price, quantity = item_of(id, i)
      items[i] = string.format('{"seller":"s%d","price":%d,"quantity":%d}', i,
         price, quantity)
      total = total + price * quantity
   end
   local price, count = price_of(id), draw_count()
   local first, second, third = tags_of(id)
   return string.format('{"sku":"%s","category":"%s","price":%d,' ..
      '"stock":{"count":%d,"value":%d},"tags":["%s","%s","%s"],' ..
      '"items":[%s],"total":%d,"note":"%s"}', sku_of(id), category_of(id),
      price, count, count * price, first, second, third,
      table.concat(items, ","), total,
      rand.string(("@"):rep(opt.note_length)))
end

-- Table n has the ids up to :finished() of this sequence. newest: its minimum.
local function id_sequence(n, newest)
   return sysbench.sequence("json " .. table_name(n), newest)
end

-- prepare --------------------------------------------------------------------

local function index_name(n, member)
   return table_name(n):gsub("%.", "_") .. "_" .. member
end

local json_tables = tables.describe{ -- for sb/tables.lua
   key = "id",
   name = function(_, n) return table_name(n) end,
   columns = function() return "id, doc" end,
   -- The index for `contains` is omitted: not all options create it.
   index_names = function(_, n)
      return {index_name(n, "sku"), index_name(n, "category")}
   end,
}

function json_tables.define(d)
   if opt.containment_index:match("^jsonb") and not sql.operator_classes then
      error(string.format("--containment-index=%s: only PostgreSQL has " ..
         "operator classes; use auto or none", opt.containment_index), 0)
   end
   return "id " .. d.big_id .. ", " .. sql.columns
end

local load = json_tables.loader

function json_tables.loader(con, _, n)
   return sql.loader and sql.loader(con, table_name(n)) or load(con, opt, n)
end

function json_tables.fill(loader, _, n, first, last)
   for id = first, last do
      rand.row(n, id) -- stock and note depend only on this
      loader:int(id)
      loader:text(document(id))
   end
   rand.resume()
end

function json_tables.indexes(con, _, n)
   local name = table_name(n)
   tables.print("Creating secondary indexes on '%s'...", name)
   con:query(string.format("CREATE UNIQUE INDEX %s ON %s (%s)",
      index_name(n, "sku"), name, sql.key("sku")))
   con:query(string.format("CREATE INDEX %s ON %s (%s)",
      index_name(n, "category"), name, sql.key("category")))
   if opt.containment_index ~= "none" and sql.create_contents_index then
      local statement = sql.create_contents_index(con,
         index_name(n, "contents"), name)
      if statement then
         con:query(statement)
      end
   end
end

-- warmup ---------------------------------------------------------------------

local function warm(con, d, _, n)
   local name = table_name(n)
   for _, statement in ipairs(d.before_index) do
      con:query(statement)
   end
   con:query("SELECT COUNT(" .. sql.member("note") .. ") FROM " .. name ..
      " WHERE id > 0")
   for _, member in ipairs{"sku", "category"} do
      con:query(string.format("SELECT COUNT(*) FROM %s WHERE %s >= '0'",
         d.through(name, index_name(n, member)), sql.key(member)))
   end
end

-- Events ---------------------------------------------------------------------

-- New ids continue after the highest existing id.
function init()
   normalize(sysbench.opt)
   local con, d = tables.connect("json", opt)
   tables.require_all(con, d, opt, json_tables)
   for n = 1, opt.tables do
      local name = table_name(n)
      local last = tonumber((con:query_row("SELECT MAX(id) FROM " .. name)))
      if d.find_table and not last and opt.check_tables then
         check.empty(name)
      end
      id_sequence(n, last or opt.table_size)
   end
   con:disconnect()
end

local con
local used = {} -- tables in use, by number

-- Returns table n: its statements by operation, the sequence of its ids, and
-- the id of an INSERT by this user that failed (`unused`). It is not drawn, and
-- the next INSERT uses it.
local function table_of(n)
   local t = used[n]
   if not t then
      t = {name = table_name(n), statements = {}, ids = id_sequence(n)}
      used[n] = t
   end
   return t
end

-- Prepares the statement of an operation on table t. `of` has the types of its
-- parameters.
local function prepare(t, operation, text, of)
   -- The members of a document other than items and note have less than 300
   -- characters.
   local longest = 300 + opt.items * 60 + opt.note_length
   local stmt = con:prepare(text:format(t.name), operation)
   local params = {}
   for i = 1, select(2, text:gsub("%?", "")) do
      params[i] = stmt:bind_create(of[i], of[i] == types.VARCHAR and longest or
         nil)
   end
   stmt:bind_param(unpack(params))
   t.statements[operation] = {stmt = stmt, params = params}
   return t.statements[operation]
end

local function execute(statement, ...)
   for i, param in ipairs(statement.params) do
      param:set((select(i, ...)))
   end
   statement.stmt:execute()
end

-- The operations are executed on table t. id: that of a random document.
local execute_operation = {}

local function finish(t, id)
   t.ids:finish(id)
   t.unused = nil
end

function execute_operation.insert(t)
   local insert = t.statements.insert or prepare(t, "insert",
      "INSERT INTO %s (id, doc) VALUES (?, " .. sql.document .. ")",
      {types.BIGINT, types.VARCHAR})
   local id = t.unused or t.ids:next()
   t.unused = id
   local ok, err = pcall(execute, insert, id, document(id))
   -- If the connection is lost, the server may have inserted the document.
   if ok or not con:is_alive() then
      finish(t, id)
   end
   if not ok then
      error(err, 0)
   end
end

function execute_operation.read(t, id)
   local read = t.statements.read or prepare(t, "read",
      "SELECT doc FROM %s WHERE id=?", {types.BIGINT})
   execute(read, id)
end

function execute_operation.lookup(t, id)
   local lookup = t.statements.lookup or prepare(t, "lookup",
      "SELECT doc FROM %s WHERE " .. sql.key("sku") .. "=?", {types.VARCHAR})
   execute(lookup, sku_of(id))
end

function execute_operation.contains(t, id)
   local contains = t.statements.contains or prepare(t, "contains",
      "SELECT doc FROM %s WHERE " .. sql.contains,
      {types.VARCHAR, types.VARCHAR})
   local tags = {tags_of(id)}
   execute(contains, sql.contained(category_of(id),
      tags[rand.uniform(1, #tags)]))
end

function execute_operation.aggregate(t, id)
   local aggregate = t.statements.aggregate or prepare(t, "aggregate",
      sql.aggregate, {types.VARCHAR})
   execute(aggregate, category_of(id))
end

function execute_operation.update(t, id)
   local update = t.statements.update or prepare(t, "update",
      "UPDATE %s SET doc=" .. sql.update .. " WHERE id=?",
      {types.INT, types.INT, types.BIGINT})
   local count = draw_count()
   execute(update, count, count * price_of(id), id)
end

function execute_operation.replace(t, id)
   local replace = t.statements.replace or prepare(t, "replace",
      "UPDATE %s SET doc=" .. sql.document .. " WHERE id=?",
      {types.VARCHAR, types.BIGINT})
   execute(replace, document(id), id)
end

local choices = {} -- the functions of the operations that have a weight
local draw_choice

function thread_init()
   normalize(sysbench.opt)
   con = sysbench.sql.driver():connect()
   local list = {}
   for _, operation in ipairs(operations) do
      if (weight_of[operation] or 0) > 0 then
         choices[#choices + 1] = execute_operation[operation]
         list[#list + 1] = weight_of[operation]
      end
   end
   draw_choice = weights.chooser(list)
end

local chosen, t, id -- of the event; the same if it is tried again
local is_retry = retry.watch()

function event()
   if not is_retry() then
      t = table_of(rand.uniform(1, opt.tables))
      chosen = choices[draw_choice()]
      local last = t.ids:finished()
      -- --rand-type prefers new documents.
      id = last - rand.default(0, last - 1)
   end
   chosen(t, id)
end

function thread_done()
   -- Other users do not read the ids after an unfinished one.
   for _, used_table in pairs(used) do
      if used_table.unused then
         finish(used_table, used_table.unused)
      end
   end
   con:disconnect()
end

-- check ----------------------------------------------------------------------

local PAGE = 2000 -- documents that check reads at a time

-- The members that check reads as text, in the order of SELECT.
local members = {"sku", "category", "price", "stock.count", "stock.value",
   "tags", "items", "total", "note"}

-- Returns what is wrong with the array items; nil if it is correct. Databases
-- may change the order of members and the spaces.
local function wrong_items(doc_id, text, total)
   local i, sum = 0, 0
   for item in text:gmatch("{(.-)}") do
      i = i + 1
      local price, quantity = item_of(doc_id, i)
      local has_price = tonumber(item:match('"price": *(%d+)'))
      local has_quantity = tonumber(item:match('"quantity": *(%d+)'))
      if item:match('"seller": *"s(%d+)"') ~= tostring(i) or
         has_price ~= price or has_quantity ~= quantity
      then
         return string.format("element %d of its items is {%s}, expected " ..
            "seller s%d, price %d and quantity %d", i, item, i, price,
            quantity)
      end
      sum = sum + price * quantity
   end
   if i ~= opt.items then
      return string.format("it has %d items, expected %d", i, opt.items)
   elseif tonumber(total) ~= sum then
      return string.format("its total is %s, expected %d", total, sum)
   end
end

-- Returns what is wrong with a document; nil if it is correct. doc: its members
-- by name.
local function wrong(doc_id, doc)
   for _, member in ipairs(members) do
      if not doc[member] then
         return "it has no member " .. member
      end
   end
   local tags = doc.tags:gsub(" ", "")
   for _, expected in ipairs{
      {"sku", doc.sku, sku_of(doc_id)},
      {"category", doc.category, category_of(doc_id)},
      {"price", doc.price, tostring(price_of(doc_id))},
      {"tags", tags, string.format('["%s","%s","%s"]', tags_of(doc_id))},
   } do
      if expected[2] ~= expected[3] then
         return string.format("its %s is %s, expected %s", unpack(expected))
      end
   end
   local count, value = tonumber(doc["stock.count"]), doc["stock.value"]
   if not count or count < 0 or count > MAX_COUNT then
      return string.format("its stock.count is %s, expected 0 to %d",
         doc["stock.count"], MAX_COUNT)
   elseif tonumber(value) ~= count * price_of(doc_id) then
      return string.format("its stock.value is %s, expected %d * %s", value,
         count, doc.price)
   elseif #doc.note ~= opt.note_length then
      return string.format("its note has %d characters, expected %d",
         #doc.note, opt.note_length)
   end
   return wrong_items(doc_id, doc.items, doc.total)
end

-- Counts a document in what the statements must find: the number of all and, of
-- those of one category, the number and the value of their items, and how many
-- have one tag.
local function count(seen, doc_id, doc)
   seen.category = seen.category or doc.category
   seen.tag = seen.tag or tags_of(doc_id)
   seen.rows = seen.rows + 1
   if doc.category == seen.category then
      local has = doc.tags:find('"' .. seen.tag .. '"', 1, true)
      seen.items = seen.items + opt.items
      seen.value = seen.value + tonumber(doc.total)
      seen.tagged = seen.tagged + (has and 1 or 0)
   end
end

-- Checks all documents of a table, and counts them.
local function check_documents(db, name)
   local expressions = {}
   for i, member in ipairs(members) do
      expressions[i] = sql.member(member)
   end
   local seen = {rows = 0, items = 0, value = 0, tagged = 0}
   local last, read = 0
   repeat
      local rs = db:query(string.format("SELECT id, %s FROM %s WHERE " ..
         "id > %.0f ORDER BY id LIMIT %d", table.concat(expressions, ", "),
         name, last, PAGE))
      read = rs and rs.nrows or 0
      for _ = 1, read do
         local row, doc = rs:fetch_row(), {}
         for i, member in ipairs(members) do
            doc[member] = row[i + 1]
         end
         last = tonumber(row[1])
         local why = wrong(last, doc)
         if why then
            error(string.format("%s: document %s: %s", name, row[1], why), 0)
         end
         count(seen, last, doc)
      end
   until read < PAGE
   return seen
end

-- Checks that an index finds as many documents as the table has.
local function check_index(db, d, n, member, rows)
   local name, index = table_name(n), index_name(n, member)
   if d.find_index and db:query_row(d.find_index:format(name, index)) == "0"
   then
      error(string.format("%s: the index %s does not exist", name, index), 0)
   end
   local found = db:query_row(string.format(
      "SELECT COUNT(*) FROM %s WHERE %s >= '0'", d.through(name, index),
      sql.key(member)))
   if tonumber(found) ~= rows then
      error(string.format("%s: the index %s finds %s documents; the table " ..
         "has %.0f", name, index, found, rows), 0)
   end
end

-- Returns the first row of a statement with these values of its parameters.
local function ask(db, text, ...)
   local values, i = {...}, 0
   return db:query_row((text:gsub("%?", function()
      i = i + 1
      return db:quote(values[i])
   end)))
end

-- Checks the answers of contains and aggregate for one category.
local function check_answers(db, name, seen)
   local found = ask(db, "SELECT COUNT(*) FROM " .. name .. " WHERE " ..
      sql.contains, sql.contained(seen.category, seen.tag))
   if tonumber(found) ~= seen.tagged then
      error(string.format("%s: contains finds %s documents of category %s " ..
         "with the tag %s; the table has %d", name, found, seen.category,
         seen.tag, seen.tagged), 0)
   end
   local items, value = ask(db, sql.aggregate:format(name), seen.category)
   value = tonumber(value or 0)
   if tonumber(items) ~= seen.items or value ~= seen.value then
      error(string.format("%s: aggregate finds %s items with a value of " ..
         "%.0f in category %s; the table has %.0f with a value of %.0f", name,
         items, value, seen.category, seen.items, seen.value), 0)
   end
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check_table(db, d, _, n)
   local name = table_name(n)
   db:query(d.begin_snapshot)
   local seen = check_documents(db, name)
   for _, statement in ipairs(d.before_index) do
      db:query(statement)
   end
   check_index(db, d, n, "sku", seen.rows)
   check_index(db, d, n, "category", seen.rows)
   if sql.before_contains then
      db:query(sql.before_contains)
   end
   if seen.rows > 0 then
      check_answers(db, name, seen)
   end
   db:query("ROLLBACK") -- also undoes d.before_index for the next table
   return string.format("%s: %.0f documents, all correct; the indexes, " ..
      "contains and aggregate agree with them", name, seen.rows)
end

tables.declare_commands(tables.standard_commands("json", json_tables,
   check_table, warm), normalize)
