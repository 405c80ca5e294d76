-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- json: creates, fills, checks and drops its tables. The users of a run never
-- load this.

local build = require("sb.build")
local json = require("sb.json")
local own_tables = require("sb.own_tables")

local print_line = build.print_line

local PAGE = 2000 -- documents that check reads at a time

local function dialect()
   return json.dialect(sysbench.sql.driver())
end

local tables = {name = json.name, key = "id"}

function tables.columns()
   return "id, doc"
end

function tables.define(d, opt)
   local sql = dialect()
   if opt.containment_index:match("^jsonb") and not sql.operator_classes then
      error(string.format("--containment-index=%s: only PostgreSQL has " ..
         "operator classes; use auto or none", opt.containment_index), 0)
   end
   return string.format("id %s, doc %s%s", d.big_id, sql.column,
      sql.generated)
end

function tables.fill(loader, opt, n, first, last)
   local rand = sysbench.rand
   for id = first, last do
      rand.row(n, id)
      loader:int(id)
      loader:text(json.document(opt, id))
   end
   rand.resume()
end

local function index_name(opt, n, member)
   return json.name(opt, n):gsub("%.", "_") .. "_" .. member
end

-- Returns the statement that creates the index for contains; nil if there is
-- none.
local function containment_index(con, opt, n)
   local sql = dialect()
   if opt.containment_index ~= "none" and sql.containment_index then
      return sql.containment_index(con, opt, index_name(opt, n, "contents"),
         json.name(opt, n))
   end
end

-- The other index is not created with all options.
function tables.index_names(opt, n)
   return {index_name(opt, n, "sku"), index_name(opt, n, "category")}
end

function tables.indexes(con, opt, n)
   local name, key = json.name(opt, n), dialect().key
   print_line("Creating secondary indexes on '%s'...", name)
   con:query(string.format("CREATE UNIQUE INDEX %s ON %s (%s)",
      index_name(opt, n, "sku"), name, key("sku")))
   con:query(string.format("CREATE INDEX %s ON %s (%s)",
      index_name(opt, n, "category"), name, key("category")))
   local statement = containment_index(con, opt, n)
   if statement then
      con:query(statement)
   end
end

own_tables.derive(tables)

local load = tables.loader

function tables.loader(con, opt, n)
   local loader = dialect().loader
   return loader and loader(con, json.name(opt, n)) or load(con, opt, n)
end

-- Checking -------------------------------------------------------------------

-- The members that check reads as text, in the order of SELECT.
local members = {"sku", "category", "price", "stock.count", "stock.value",
   "tags", "items", "total", "note"}

-- Returns what is wrong with the array items; nil if it is correct. Databases
-- may change the order of members and the spaces.
local function wrong_items(opt, id, text, total)
   local i, sum = 0, 0
   for item in text:gmatch("{(.-)}") do
      i = i + 1
      local price, quantity = json.item(id, i)
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

-- Returns what is wrong with a document; nil if it is correct. row: its id and
-- its members.
local function wrong(opt, row)
   local id = tonumber(row[1])
   for i, member in ipairs(members) do
      if not row[i + 1] then
         return "it has no member " .. member
      end
   end
   local _, sku, category, price, count, value, tags, items, total, note =
      unpack(row, 1, 10)
   local expected_tags = string.format('["%s","%s","%s"]', json.tags(id))
   local expected = {
      {"sku", sku, json.sku(id)},
      {"category", category, json.category(opt, id)},
      {"price", price, tostring(json.price(id))},
      {"tags", (tags:gsub(" ", "")), expected_tags},
   }
   for _, e in ipairs(expected) do
      if e[2] ~= e[3] then
         return string.format("its %s is %s, expected %s", e[1], e[2], e[3])
      end
   end
   count = tonumber(count)
   if not count or count < 0 or count > json.MAX_COUNT then
      return string.format("its stock.count is %s, expected 0 to %d", row[5],
         json.MAX_COUNT)
   elseif tonumber(value) ~= count * json.price(id) then
      return string.format("its stock.value is %s, expected %d * %s", value,
         count, price)
   elseif #note ~= opt.note_length then
      return string.format("its note has %d characters, expected %d", #note,
         opt.note_length)
   end
   return wrong_items(opt, id, items, total)
end

-- What the rows of a table should give: the number of all, and of those of one
-- category the elements of items, their value, and how many have one tag.
local function tally(seen, opt, row)
   local id = tonumber(row[1])
   seen.category = seen.category or row[3]
   seen.tag = seen.tag or json.tags(id)
   seen.rows = seen.rows + 1
   if row[3] == seen.category then
      seen.elements = seen.elements + opt.items
      seen.value = seen.value + tonumber(row[9])
      local has = row[7]:find('"' .. seen.tag .. '"', 1, true)
      seen.tagged = seen.tagged + (has and 1 or 0)
   end
end

local function check_rows(con, opt, name)
   local columns, value = {}, dialect().value
   for i, member in ipairs(members) do
      columns[i] = value(member)
   end
   columns = table.concat(columns, ", ")
   local seen = {rows = 0, elements = 0, value = 0, tagged = 0}
   local last, read = 0
   repeat
      local rs = con:query(string.format("SELECT id, %s FROM %s WHERE " ..
         "id > %.0f ORDER BY id LIMIT %d", columns, name, last, PAGE))
      read = rs and rs.nrows or 0
      for _ = 1, read do
         local row = rs:fetch_row()
         local why = wrong(opt, row)
         if why then
            error(string.format("%s: document %s: %s", name, row[1], why), 0)
         end
         last = tonumber(row[1])
         tally(seen, opt, row)
      end
   until read < PAGE
   return seen
end

-- Checks that an index finds as many documents as the table has.
local function check_index(con, d, opt, n, member, rows)
   local name, index = json.name(opt, n), index_name(opt, n, member)
   if d.find_index and con:query_row(d.find_index:format(name, index)) == "0"
   then
      error(string.format("%s: the index %s does not exist", name, index), 0)
   end
   local found = con:query_row(string.format(
      "SELECT COUNT(*) FROM %s WHERE %s >= '0'", d.through(name, index),
      dialect().key(member)))
   if tonumber(found) ~= rows then
      error(string.format("%s: the index %s finds %s documents; the table " ..
         "has %.0f", name, index, found, rows), 0)
   end
end

-- Returns a statement with values for its parameters.
local function complete(con, text, ...)
   local values, i = {...}, 0
   return (text:gsub("%?", function()
      i = i + 1
      return con:quote(values[i])
   end))
end

-- Checks the answers of contains and aggregate for one category.
local function check_answers(con, name, seen)
   local sql = dialect()
   local found = con:query_row(complete(con, "SELECT COUNT(*) FROM " .. name ..
      " WHERE " .. sql.contains, sql.contained(seen.category, seen.tag)))
   if tonumber(found) ~= seen.tagged then
      error(string.format("%s: contains finds %s documents of category %s " ..
         "with the tag %s; the table has %d", name, found, seen.category,
         seen.tag, seen.tagged), 0)
   end
   local elements, value = con:query_row(complete(con,
      sql.aggregate:format(name), seen.category))
   value = tonumber(value or 0)
   if tonumber(elements) ~= seen.elements or value ~= seen.value then
      error(string.format("%s: aggregate finds %s items with a value of " ..
         "%.0f in category %s; the table has %.0f with a value of %.0f", name,
         elements, value, seen.category, seen.elements, seen.value), 0)
   end
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check(con, d, opt, n)
   local name = json.name(opt, n)
   con:query(d.begin_snapshot)
   local seen = check_rows(con, opt, name)
   for _, statement in ipairs(d.before_index) do
      con:query(statement)
   end
   check_index(con, d, opt, n, "sku", seen.rows)
   check_index(con, d, opt, n, "category", seen.rows)
   for _, statement in ipairs(dialect().before_contains) do
      con:query(statement)
   end
   if seen.rows > 0 then
      check_answers(con, name, seen)
   end
   con:query("ROLLBACK") -- also undoes d.before_index for the next table
   return string.format("%s: %.0f documents, all correct; the indexes, " ..
      "contains and aggregate agree with them", name, seen.rows)
end

-- Commands -------------------------------------------------------------------

local function warm(con, d, opt, n)
   local name, key = json.name(opt, n), dialect().key
   for _, statement in ipairs(d.before_index) do
      con:query(statement)
   end
   con:query("SELECT COUNT(" .. dialect().value("note") .. ") FROM " .. name ..
      " WHERE id > 0")
   for _, member in ipairs{"sku", "category"} do
      con:query(string.format("SELECT COUNT(*) FROM %s WHERE %s >= '0'",
         d.through(name, index_name(opt, n, member)), key(member)))
   end
end

local M = own_tables.commands("json", tables, check, warm)

-- Sets the sequences of ids to the highest existing id.
function M.measure(opt)
   local con, d = own_tables.connect("json", opt)
   own_tables.require_all(con, d, opt, tables)
   for n = 1, opt.tables do
      local name = json.name(opt, n)
      local last = tonumber((con:query_row("SELECT MAX(id) FROM " .. name)))
      if d.find_table and not last and opt.check_tables then
         require("sb.check_tables").empty(name)
      end
      json.ids(opt, n, last or opt.table_size)
   end
   con:disconnect()
end

return M
