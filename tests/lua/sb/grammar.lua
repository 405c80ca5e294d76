-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The grammar files of the workload grammar: their built-in elements, the
-- parser, the schema whose tables and columns they name, and the generator of
-- statements. docs/workloads/grammar.md describes the format.

local rand = sysbench.rand

local M = {}

local ENDLESS = math.huge

-- An item that separates the statements of a query.
local SEPARATOR = {}

-- By name: {args = what may be in parentheses, draw =}. draw(g, args) returns a
-- text. g is the state of a generator.
local builtins = {}

-- Elements of generated values -----------------------------------------------

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
for _, name in ipairs(require("sb.distributions")) do
   integer("_" .. name, name)
end

define("_double", "range", function(_, args)
   local a, b = args[1] or 0, args[2] or 1
   return string.format("%.6f", a + rand.uniform_double() * (b - a))
end)

define("_letter", nil, function()
   return rand.string("@")
end)

-- Random letters and digits; the argument is their maximum number.
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

-- Elements of tables and columns ---------------------------------------------

local function draw_table(g)
   local tables = g.schema.tables
   return tables[rand.uniform(1, #tables)]
end

-- Returns the table with a label, which is drawn when the label is first used.
-- Without a label, returns the last table that was named. If no table was named
-- yet, draws one, which the next _table then is.
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
local function needs_schema(name)
   return name:find("^_table") ~= nil or name:find("^_column") ~= nil or
      name:find("^_field") ~= nil or name == "_value"
end

-- Parser ---------------------------------------------------------------------

local function refuse(p, line, format, ...)
   error(string.format("%s:%d: " .. format, p.name, line, ...), 0)
end

-- Moves to position `to` and counts lines.
local function advance(p, to)
   local _, lines = p.text:sub(p.at, to - 1):gsub("\n", "")
   p.line = p.line + lines
   p.at = to
end

local function match(p, pattern)
   return p.text:match("^" .. pattern, p.at)
end

-- Skips blanks and comments. Returns whether there were any. Comments that
-- begin with /*+ or /*! are text for the server.
local function skip_blanks(p)
   local from = p.at
   while true do
      local _, stop = p.text:find("^%s+", p.at)
      if not stop then
         _, stop = p.text:find("^#[^\n]*", p.at)
      end
      if not stop and match(p, "/%*[^+!]") then
         _, stop = p.text:find("*/", p.at + 2, true)
         if not stop then
            refuse(p, p.line, "the comment has no end")
         end
      end
      if not stop then
         return p.at > from
      end
      advance(p, stop + 1)
   end
end

local function argument_list(p, kind, text, line)
   local args = {}
   local function wrong(form)
      refuse(p, line, "'(%s)' must be %s", text, form)
   end
   if kind == "label" then
      args[1] = text:match("^%s*(%a[%w_]*)%s*$") or
         wrong("the label of a _table, as in (a)")
   elseif kind == "format" then
      args[1] = text:match('^%s*"([^"]*)"%s*$') or
         wrong('a format in quotes, as in ("@@-##")')
   elseif kind == "count" then
      args[1] = tonumber(text)
      if not args[1] or args[1] % 1 ~= 0 or args[1] < 0 or args[1] > 65536 then
         wrong("a number of characters from 0 to 65536")
      end
   else
      local a, b = text:match("^%s*([-+%.%w]+)%s*,%s*([-+%.%w]+)%s*$")
      args = {tonumber(a), tonumber(b)}
      if not args[1] or not args[2] or args[1] > args[2] or
         math.max(-args[1], args[2]) > 2 ^ 53
      then
         wrong("two numbers, the smaller one first, as in (1, 100)")
      end
   end
   return args
end

-- Reads a reference at the position of its name: a name, and if they follow
-- without a blank, arguments and a label.
local function reference(p, name)
   local item = {name = name, line = p.line, args = {}}
   advance(p, p.at + #name)
   local b = name:sub(1, 1) == "_" and builtins[name]
   if name:sub(1, 1) == "_" and not b then
      refuse(p, p.line, "there is no built-in element '%s'", name)
   end
   for _ = 1, 2 do
      local label = match(p, "%[(%a[%w_]*)%]")
      local inside = b and b.args and match(p, "%(([^()]*)%)")
      -- COUNT(_column) and _column(a): only a label may be in parentheses.
      if label then
         item.label = label
         advance(p, p.at + #label + 2)
      elseif inside then
         item.args = argument_list(p, b.args, inside, p.line)
         if item.name ~= "_double" and b.args == "range" and
            (item.args[1] % 1 ~= 0 or item.args[2] % 1 ~= 0)
         then
            refuse(p, p.line, "the numbers of %s must be integers", name)
         end
         advance(p, p.at + #inside + 2)
      end
   end
   item.builtin = b or nil
   return item
end

local function add_text(items, text)
   local last = items[#items]
   if type(last) == "string" then
      items[#items] = last .. text
   else
      items[#items + 1] = text
   end
end

-- Reads a reference in braces, which may be joined to a text.
local function braces(p, items)
   local name = match(p, "{([%l_][%l%d_]*)")
   local line = p.line
   if not name then
      refuse(p, line, "'{' must be followed by the name of a rule or of a " ..
         "built-in element, as in {_digit}; code in braces is not supported")
   end
   advance(p, p.at + 1)
   items[#items + 1] = reference(p, name)
   if not match(p, "}") then
      refuse(p, line, "'}' is missing after '{%s'", name)
   end
   advance(p, p.at + 1)
end

-- Reads a text in quotes, in which only references in braces are special.
local function quotes(p, items)
   local quote, line = match(p, "."), p.line
   add_text(items, quote)
   advance(p, p.at + 1)
   while true do
      local plain = match(p, "[^'\"`{]+")
      local c = not plain and match(p, ".")
      if plain then
         add_text(items, plain)
         advance(p, p.at + #plain)
      elseif not c then
         refuse(p, line, "the quoted text has no end")
      elseif c == "{" and match(p, "{[%l_][%l%d_]*[%(%[}]") then
         braces(p, items)
      else
         add_text(items, c)
         advance(p, p.at + 1)
         if c == quote then
            return
         end
      end
   end
end

-- Reads a weight, and names of dialects: [3], [0.5 mysql pgsql], [sqlite].
local function weight(p, alternative)
   local inside = match(p, "%[([^%]\n]*)%]")
   if not inside then
      return
   end
   for word in inside:gmatch("%S+") do
      local number = tonumber(word)
      if number then
         if not (number >= 0 and number <= 1e9) then
            refuse(p, p.line, "a weight must be from 0 to 1000000000, not " ..
               "'%s'", word)
         end
         alternative.weight = number
      elseif ({mysql = 1, pgsql = 1, sqlite = 1, null = 1})[word] then
         alternative.dialects = alternative.dialects or {}
         alternative.dialects[word] = true
      else
         refuse(p, p.line, "'%s' is neither a weight nor one of the " ..
            "dialects mysql, pgsql and sqlite", word)
      end
   end
   advance(p, p.at + #inside + 2)
   skip_blanks(p)
end

-- True if the `;` at the position ends the rule: another rule, a directive or
-- the end of the file follows.
local function ends_rule(p)
   local ahead = {text = p.text, at = p.at + 1, line = p.line, name = p.name}
   skip_blanks(ahead)
   return ahead.at > #p.text or match(ahead, "%l[%l%d_]*%s*:[^:]") or
      match(ahead, "%l[%l%d_]*%s*:$") or match(ahead, "%%%l")
end

-- Reads a word, which is a reference, unless a reference in braces is joined to
-- it.
local function word(p, items)
   local name = match(p, "[%a_][%w_]*")
   local joined = p.text:sub(p.at - 1, p.at - 1) == "}" or
      p.text:sub(p.at + #name, p.at + #name) == "{"
   if name:find("^[%l_][%l%d_]*$") and not joined then
      local item = reference(p, name)
      items[#items + 1] = item
      local _, colon = p.text:find("^%s*:", p.at)
      if colon and not p.text:find("^:", colon + 1) and not item.builtin then
         refuse(p, item.line, "a ';' is missing before the rule '%s'", name)
      end
   else
      add_text(items, name)
      advance(p, p.at + #name)
   end
end

-- Reads one element of an alternative. Returns "|" or ";" at its end.
local function element(p, items)
   local c = match(p, ".")
   if c == "\\" and match(p, "\\[#|;{}%[\\]") then
      add_text(items, p.text:sub(p.at + 1, p.at + 1))
      advance(p, p.at + 2)
   elseif match(p, "||") then
      add_text(items, "||")
      advance(p, p.at + 2)
   elseif c == "|" or c == ";" and ends_rule(p) then
      advance(p, p.at + 1)
      return c
   elseif c == ";" then
      items[#items + 1] = SEPARATOR
      advance(p, p.at + 1)
   elseif c == "'" or c == '"' or c == "`" then
      quotes(p, items)
   elseif c == "{" then
      braces(p, items)
   elseif match(p, "[%a_]") then
      word(p, items)
   else
      local plain = match(p, "%d[%w_.]*") or match(p, "/%*.-%*/") or c
      add_text(items, plain)
      advance(p, p.at + #plain)
   end
   return nil
end

-- Reads the alternatives of a rule up to its end.
local function alternatives(p, rule)
   local ended
   repeat
      skip_blanks(p)
      local a = {items = {}, weight = 1, line = p.line}
      weight(p, a)
      repeat
         if skip_blanks(p) and #a.items > 0 then
            add_text(a.items, " ")
         end
         if p.at > #p.text then
            refuse(p, rule.line, "the rule '%s' has no ';' at its end",
               rule.name)
         end
         ended = element(p, a.items)
      until ended
      local last = a.items[#a.items]
      if type(last) == "string" then
         a.items[#a.items] = last:gsub(" $", "")
      end
      rule.alternatives[#rule.alternatives + 1] = a
   until ended == ";"
end

local function directive(p, grammar)
   local name, rest = match(p, "%%(%l+)([^\n]*)")
   if name ~= "token" and name ~= "tables" then
      refuse(p, p.line, "'%%' must be followed by token or tables")
   end
   for item in rest:gsub("#.*", ""):gmatch("[^%s;]+") do
      if name == "token" then
         grammar.tokens[item] = p.line
      else
         grammar.patterns[#grammar.patterns + 1] = item
      end
   end
   local _, stop = p.text:find("^[^\n]*", p.at)
   advance(p, stop + 1)
end

-- Checks of grammars ---------------------------------------------------------

-- Replaces the names in items by what they refer to.
local function resolve(p, grammar, items)
   for i, item in ipairs(items) do
      if type(item) == "table" and item.name and not item.builtin then
         local rule = grammar.rules[item.name]
         if rule then
            item.rule = rule
         elseif not grammar.tokens[item.name] then
            refuse(p, item.line, "'%s' is neither a rule nor declared by " ..
               "%%token", item.name)
         else
            items[i] = item.name .. (item.label and "[" .. item.label .. "]"
               or "")
         end
      elseif type(item) == "table" and item.name then
         grammar.needs_schema = grammar.needs_schema or
            needs_schema(item.name)
      end
   end
end

-- Sets the height of rules and alternatives: the smallest number of nested
-- rules that they need.
local function measure(grammar)
   local changed
   repeat
      changed = false
      for _, rule in ipairs(grammar.list) do
         local best = ENDLESS
         for _, a in ipairs(rule.alternatives) do
            local height = 0
            for _, item in ipairs(a.items) do
               if item.rule then
                  height = math.max(height, item.rule.height + 1)
               end
            end
            a.height = height
            if a.weight > 0 then
               best = math.min(best, height)
            end
         end
         if best < rule.height then
            rule.height, changed = best, true
         end
      end
   until not changed
end

local function mark_used(rule)
   if not rule or rule.used then
      return
   end
   rule.used = true
   for _, a in ipairs(rule.alternatives) do
      for _, item in ipairs(a.items) do
         mark_used(item.rule)
      end
   end
end

local function check(p, grammar, dialect, start)
   if not grammar.rules[start] then
      error(string.format("%s: there is no rule '%s'", p.name, start), 0)
   end
   for _, rule in ipairs(grammar.list) do
      local kept = {}
      for _, a in ipairs(rule.alternatives) do
         resolve(p, grammar, a.items)
         if a.dialects then
            grammar.dialect = dialect
         end
         if not a.dialects or a.dialects[dialect] then
            kept[#kept + 1] = a
         end
      end
      rule.alternatives = kept
   end
   measure(grammar)
   for _, name in ipairs{start, "query_init", "prepare", "cleanup"} do
      mark_used(grammar.rules[name])
   end
   for _, rule in ipairs(grammar.list) do
      if not rule.used then
         grammar.warnings[#grammar.warnings + 1] = string.format(
            "%s:%d: the rule '%s' is not used", p.name, rule.line, rule.name)
      elseif rule.height == ENDLESS then
         local any = false
         for _, a in ipairs(rule.alternatives) do
            any = any or a.weight > 0
         end
         refuse(p, rule.line, any and
            "the rule '%s' never ends: each alternative leads to itself" or
            "the rule '%s' has no alternative with a weight above 0", rule.name)
      end
   end
end

-- Returns the grammar in a text:
--   rules     by name: {name =, line =, height =, alternatives = list of
--             {items =, weight =, line =, height =}}
--   patterns  of the names of tables
--   warnings  list of texts
--   dialect   its name, if there are alternatives for some dialects only
-- name: that of the file. dialect: its name. start: the first rule.
function M.parse(text, name, dialect, start)
   local p = {text = text, name = name, at = 1, line = 1}
   local grammar = {rules = {}, list = {}, tokens = {}, patterns = {},
      warnings = {}, text = text}
   while true do
      skip_blanks(p)
      if p.at > #text then
         break
      end
      local rule_name, rest = match(p, "(%l[%l%d_]*)%s*():")
      if match(p, "%%") then
         directive(p, grammar)
      elseif not rule_name then
         refuse(p, p.line, "a rule such as 'query: SELECT 1;' is expected, " ..
            "not '%s'", match(p, "[^\n]*"):sub(1, 40))
      elseif grammar.rules[rule_name] then
         refuse(p, p.line, "the rule '%s' is already defined in line %d",
            rule_name, grammar.rules[rule_name].line)
      else
         local rule = {name = rule_name, line = p.line, alternatives = {},
            height = ENDLESS}
         grammar.rules[rule_name] = rule
         grammar.list[#grammar.list + 1] = rule
         advance(p, rest + 1)
         alternatives(p, rule)
      end
   end
   check(p, grammar, dialect, start)
   return grammar
end

-- Schema ---------------------------------------------------------------------

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
function M.schema_of(rows, patterns, quote)
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
function M.read_schema(con, d, grammar)
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
   local schema = M.schema_of(rows, grammar.patterns, d.name_quote)
   if #schema.tables == 0 then
      error(string.format("there are no tables%s; to create those of the " ..
         "examples: %s", #grammar.patterns > 0 and " that match %tables " ..
         table.concat(grammar.patterns, " ") or "",
         sysbench.cmdline.command_line("prepare")), 0)
   end
   return schema
end

-- Generator -----------------------------------------------------------------

-- Draws an alternative by weight. If the rule would exceed the limits, only the
-- alternatives that end soonest are drawn.
local function choose(g, rule, left)
   local list, total = rule.alternatives, 0
   -- Rules count as well: those without a text do not make a query longer.
   g.rules = g.rules + 1
   local long = g.length > g.opt.max_length or g.rules > g.opt.max_length
   local limit = math.max(long and 0 or left, rule.height)
   for _, a in ipairs(list) do
      total = total + (a.height <= limit and a.weight or 0)
   end
   local u, chosen = #list > 1 and rand.uniform_double() * total or 0, nil
   for _, a in ipairs(list) do
      if a.height <= limit and a.weight > 0 then
         chosen = a
         u = u - a.weight
         if u < 0 then
            break
         end
      end
   end
   return chosen
end

local function put(g, text)
   g.out[#g.out + 1] = text
   g.length = g.length + (text == SEPARATOR and 0 or #text)
end

local expand

-- The value with a label is drawn once per query.
local function labelled(g, item, left)
   local key = item.name .. "[" .. item.label .. "]"
   local parts = g.values[key]
   if parts then
      for _, part in ipairs(parts) do
         put(g, part)
      end
      return
   end
   local first = #g.out + 1
   if item.rule then
      expand(g, item.rule, left)
   else
      put(g, item.builtin.draw(g, item.args))
   end
   parts = {}
   for i = first, #g.out do
      parts[#parts + 1] = g.out[i]
   end
   g.values[key] = parts
end

local function put_items(g, items, left)
   for _, item in ipairs(items) do
      if type(item) == "string" or item == SEPARATOR then
         put(g, item)
      elseif item.label and item.name ~= "_table" then
         labelled(g, item, left - 1)
      elseif item.rule then
         expand(g, item.rule, left - 1)
      else
         put(g, item.builtin.draw(g, item.args, item.label))
      end
   end
end

expand = function(g, rule, left)
   put_items(g, choose(g, rule, left).items, left)
end

-- Returns the statements in a list of texts and separators.
local function split(parts)
   local statements, from = {}, 1
   for i = 1, #parts + 1 do
      if i > #parts or parts[i] == SEPARATOR then
         local text = table.concat(parts, "", from, i - 1):match("^%s*(.-)%s*$")
         if text ~= "" then
            statements[#statements + 1] = text
         end
         from = i + 1
      end
   end
   return statements
end

-- Returns a list of statements that the rule generates, and the name of the
-- first rule that the chosen alternative names, or that of the rule. schema:
-- {tables =}. opt: max_depth, max_length, table_size. The numbers come from
-- sysbench.rand as it is.
local function generate(grammar, schema, name, opt)
   local g = {out = {}, length = 0, rules = 0, values = {}, tables = {},
      schema = schema, opt = opt}
   local rule = grammar.rules[name]
   local a = choose(g, rule, opt.max_depth)
   put_items(g, a.items, opt.max_depth)
   local kind = name
   for _, item in ipairs(a.items) do
      if item.rule then
         kind = item.rule.name
         break
      end
   end
   return split(g.out), kind
end

-- Queries -------------------------------------------------------------------

-- Returns a checksum of everything that queries depend on: 8 hex digits.
function M.checksum(grammar, schema, opt)
   local sum = 17
   local texts = {grammar.text, schema.text, opt.start, grammar.dialect or "",
      string.format("%d %d %.0f", opt.max_depth, opt.max_length,
      opt.table_size)}
   local draws = {}
   for name, value in pairs(opt) do
      if name:find("^rand_") then
         draws[#draws + 1] = name .. "=" .. tostring(value)
      end
   end
   table.sort(draws)
   texts[#texts + 1] = table.concat(draws, "\n")
   for _, text in ipairs(texts) do
      text = text .. "\n"
      for i = 1, #text do
         sum = (sum * 31 + text:byte(i)) % 4294967296
      end
   end
   return string.format("%08x", sum)
end

-- Returns the user and the numbers of the queries in a text such as "3:17",
-- "3:1-17" or "3:17:0a1b2c3d", and the checksum; nil if it is not such a text.
-- Query 0 is the rule query_init.
function M.parse_query(text)
   local user, rest = text:match("^(%d+):(.+)$")
   if not user then
      return nil
   end
   local numbers, sum = rest:match("^([%d-]+):(%x%x%x%x%x%x%x%x)$")
   numbers = numbers or rest
   local first, last = numbers:match("^(%d+)%-(%d+)$")
   first = tonumber(first or numbers)
   last = tonumber(last) or first
   if not first or first < 0 or last < first then
      return nil
   end
   return tonumber(user), first, last, sum
end

-- Returns the statements of query n of a user: a list, and the name of its
-- kind. rule: its first rule.
function M.query(grammar, schema, opt, user, n, rule)
   rand.row(user + 1, n)
   local statements, kind = generate(grammar, schema, rule or opt.start, opt)
   rand.resume()
   return statements, kind
end

-- Grammars that users of this state have parsed, by all that they depend on.
local parsed = {}

-- Reads the grammar of the options.
function M.read(opt, dialect)
   local path = opt.grammar
   local text, why = sysbench.read_file(path)
   if not text and not path:find("/", 1, true) then
      -- The folder of the examples is beside that of this file.
      local folder = debug.getinfo(1, "S").source:match("^@(.*/)sb/[^/]*$")
      text = folder and (sysbench.read_file(folder .. "grammar/" .. path) or
         sysbench.read_file(folder .. "grammar/" .. path .. ".yy"))
   end
   if not text then
      error("--grammar: " .. why, 0)
   end
   local key = table.concat({path, dialect, opt.start, text}, "\0")
   parsed[key] = parsed[key] or M.parse(text, path, dialect, opt.start)
   return parsed[key]
end

return M
