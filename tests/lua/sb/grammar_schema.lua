-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- grammar: the tables and columns that its queries name.

local M = {}

local function kind_of(declared)
   local t = declared:lower()
   if t:find("interval") or t:find("point") then
      return "other"
   elseif t:find("int") or t:find("serial") then
      return "int"
   elseif t:find("char") or t:find("text") or t:find("clob") then
      return "char"
   elseif t:find("datetime") or t:find("timestamp") then
      return "datetime"
   elseif t:find("date") then
      return "date"
   elseif t:find("^time") then
      return "time"
   elseif t:find("real") or t:find("floa") or t:find("doub") or
      t:find("dec") or t:find("numeric")
   then
      return "number"
   end
   return "other"
end

-- Returns whether a name matches one of the patterns, in which * stands for any
-- characters. Without patterns, all names match.
local function selected(name, patterns)
   for _, pattern in ipairs(patterns) do
      local lua = pattern:gsub("[^%w*]", "%%%0"):gsub("%*", ".*")
      if name:find("^" .. lua .. "$") then
         return true
      end
   end
   return #patterns == 0
end

-- Adds the row {table, column, type, "1" if it is in the primary key}.
local function add_column(schema, by_name, quote, row)
   local function name(text)
      return quote .. text:gsub(quote, quote .. quote) .. quote
   end
   local t = by_name[row[1]]
   if not t then
      t = {name = name(row[1]), columns = {}, int = {}, char = {}, pk = {},
         no_pk = {}}
      by_name[row[1]] = t
      schema.tables[#schema.tables + 1] = t
   end
   local c = {name = name(row[2]), kind = kind_of(row[3] or "")}
   local is_key = row[4] ~= nil and row[4] ~= "0"
   t.columns[#t.columns + 1] = c
   if t[c.kind] then
      table.insert(t[c.kind], c)
   end
   table.insert(is_key and t.pk or t.no_pk, c)
   schema.text = schema.text .. table.concat({row[1], row[2], row[3] or "",
      is_key and "1" or "0"}, "|") .. "\n"
end

-- Returns {tables =, text = its description} from rows {table, column, type,
-- key}.
function M.of_rows(rows, patterns, quote)
   local schema, by_name = {tables = {}, text = ""}, {}
   for _, row in ipairs(rows) do
      if selected(row[1], patterns) then
         add_column(schema, by_name, quote, row)
      end
   end
   return schema
end

-- The table of databases whose schema is not read.
local oltp_rows = {{"sbtest1", "id", "int", "1"}, {"sbtest1", "k", "int", "0"},
   {"sbtest1", "c", "char", "0"}, {"sbtest1", "pad", "char", "0"}}

-- Reads the schema of the database.
function M.read(con, d, grammar)
   if not grammar.needs_schema then
      return {tables = {}, text = ""}
   end
   local rows = oltp_rows
   if d.list_columns then
      rows = {}
      local rs = con:query(d.list_columns)
      for i = 1, rs and rs.nrows or 0 do
         rows[i] = rs:fetch_row()
      end
      if rs then
         rs:free()
      end
   end
   local schema = M.of_rows(rows, grammar.patterns, d.name_quote)
   if #schema.tables == 0 then
      error(string.format("there are no tables%s; to create those of the " ..
         "examples: %s", #grammar.patterns > 0 and " that match %tables " ..
         table.concat(grammar.patterns, " ") or "",
         sysbench.cmdline.command_line("prepare")), 0)
   end
   return schema
end

return M
