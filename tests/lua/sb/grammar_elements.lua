-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- grammar: the built-in elements of its files, and how their values are drawn.

local rand = sysbench.rand

local M = {
   -- An item that separates the statements of a query.
   SEPARATOR = {},
   -- By name: {args = what may be in parentheses, draw =}. draw(g, args)
   -- returns a text. g is the state of a generator.
   builtins = {},
}

local builtins = M.builtins

-- Generated values ----------------------------------------------------------

local function quoted(value)
   return "'" .. value:gsub("'", "''") .. "'"
end

local function define(name, args, draw)
   builtins[name] = {args = args, draw = draw}
end

-- An integer from a to b; without arguments from low to high, or from 1 to
-- --table-size.
local function integer(name, draw, low, high)
   define(name, "range", function(g, args)
      return string.format("%.0f", rand[draw](args[1] or low or 1,
         args[2] or high or math.max(g.opt.table_size, 1)))
   end)
end

integer("_digit", "uniform", 0, 9)
integer("_int", "uniform", -2 ^ 31, 2 ^ 31 - 1)
integer("_tinyint", "uniform", -128, 127)
integer("_smallint", "uniform", -32768, 32767)
integer("_bigint", "uniform", -2 ^ 53, 2 ^ 53)
for _, name in ipairs{"default", "uniform", "gaussian", "special", "pareto",
   "zipfian"}
do
   integer("_" .. name, name)
end

define("_double", "range", function(_, args)
   local a, b = args[1] or 0, args[2] or 1
   return string.format("%.6f", a + rand.uniform_double() * (b - a))
end)

define("_letter", nil, function()
   return rand.string("@")
end)

-- At most so many letters and digits.
define("_text", "count", function(_, args)
   return quoted(rand.alphanumeric(0, args[1] or 10))
end)

define("_string", "format", function(_, args)
   return quoted(rand.string(args[1] or "@@@@@@@@"))
end)

local function date()
   return string.format("%04d-%02d-%02d", rand.uniform(1970, 2037),
      rand.uniform(1, 12), rand.uniform(1, 28))
end

local function time()
   return string.format("%02d:%02d:%02d", rand.uniform(0, 23),
      rand.uniform(0, 59), rand.uniform(0, 59))
end

define("_date", nil, function() return quoted(date()) end)
define("_time", nil, function() return quoted(time()) end)
define("_datetime", nil, function()
   return quoted(date() .. " " .. time())
end)

-- Tables and columns --------------------------------------------------------

local function draw_table(g)
   local tables = g.schema.tables
   return tables[rand.uniform(1, #tables)]
end

-- Returns the table with a label, which is drawn when it is first named, or
-- without a label the last one that was named. If there is none, the next
-- _table is the table that is drawn here.
local function table_of(g, label)
   if label then
      g.tables[label] = g.tables[label] or draw_table(g)
      return g.tables[label]
   elseif not g.table then
      g.table = draw_table(g)
      g.pending = true
   end
   return g.table
end

define("_table", nil, function(g, _, label)
   if label then
      g.table, g.pending = table_of(g, label), false
   elseif g.pending then
      g.pending = false
   else
      g.table = draw_table(g)
   end
   return g.table.name
end)

local function column(suffix, wanted)
   local function draw(g, args)
      local t = table_of(g, args[1])
      local list = t[wanted]
      if #list == 0 then
         list = t.columns
      end
      g.column = list[rand.uniform(1, #list)]
      return g.column.name
   end
   define("_column" .. suffix, "label", draw)
   define("_field" .. suffix, "label", draw)
end

column("", "columns")
column("_int", "int")
column("_char", "char")
column("_pk", "pk")
column("_no_pk", "no_pk")

local function column_list(g, args)
   local names = {}
   for i, c in ipairs(table_of(g, args[1]).columns) do
      names[i] = c.name
   end
   return table.concat(names, ", ")
end

define("_column_list", "label", column_list)
define("_field_list", "label", column_list)

local by_kind = {int = "_digit", number = "_double", char = "_text",
   date = "_date", time = "_time", datetime = "_datetime"}

-- A value for the column that was named last.
define("_value", nil, function(g)
   local kind = g.column and g.column.kind or "int"
   return builtins[by_kind[kind] or "_text"].draw(g, {})
end)

-- Names of the elements that need a schema begin with one of these.
function M.needs_schema(name)
   return name:find("^_table") ~= nil or name:find("^_column") ~= nil or
      name:find("^_field") ~= nil or name == "_value"
end

return M
