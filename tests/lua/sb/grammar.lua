-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- grammar: the generator of statements. The built-in elements, the parser of
-- the files and the schema are in sb/grammar_elements.lua, _parser.lua and
-- _schema.lua, options and commands in sb/grammar_commands.lua.

local elements = require("sb.grammar_elements")
local rand = sysbench.rand

local SEPARATOR = elements.SEPARATOR

local M = {}

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
function M.generate(grammar, schema, name, opt)
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
   for _, name in ipairs{"seed", "type", "spec_iter", "spec_pct", "spec_res",
      "pareto_h", "zipfian_exp", "scatter"}
   do
      texts[#texts + 1] = tostring(opt["rand_" .. name])
   end
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
   local statements, kind = M.generate(grammar, schema, rule or opt.start, opt)
   rand.resume()
   return statements, kind
end

-- Reads the grammar of the options.
function M.read(opt, dialect)
   local path = opt.grammar
   local input, why = io.open(path)
   if not input and not path:find("/", 1, true) then
      -- The folder of the examples is beside that of this file.
      local folder = debug.getinfo(1, "S").source:match("^@(.*/)sb/[^/]*$")
      input = folder and (io.open(folder .. "grammar/" .. path) or
         io.open(folder .. "grammar/" .. path .. ".yy"))
   end
   if not input then
      error("--grammar: " .. why, 0)
   end
   local text = input:read("*a")
   input:close()
   if not text then
      error(string.format("--grammar: %s cannot be read", path), 0)
   end
   local grammar = require("sb.grammar_parser").parse(text, path, dialect,
      opt.start)
   if sysbench.cmdline.run_state then
      package.loaded["sb.grammar_parser"] = nil -- users parse once
   end
   return grammar
end

return M
