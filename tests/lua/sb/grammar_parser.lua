-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- grammar: the parser of its files, whose format docs/workloads/grammar.md
-- describes.

local elements = require("sb.grammar_elements")

local builtins, SEPARATOR = elements.builtins, elements.SEPARATOR
local ENDLESS = math.huge

local M = {}

-- Parser --------------------------------------------------------------------

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

-- Checks --------------------------------------------------------------------

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
            elements.needs_schema(item.name)
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

return M
