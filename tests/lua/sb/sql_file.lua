-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sql_file: its options, and the parser of its files, whose format
-- docs/workloads/sql_file.md describes. The code of its commands is in
-- sb/sql_file_commands.lua.

local generator = require("sb.sql_file_generators").parse

local M = {}

local function declare()
   local cmdline = sysbench.cmdline
   return {
      file = {"File with the statements", "", cmdline.ARG_STRING},
      weights = {"Events and their weights, such as find:8,buy:1, instead " ..
         "of those in the file; events that are not named are not executed",
         "", cmdline.ARG_STRING},
      pipeline = require("sb.declarations").oltp().pipeline,
   }
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

function M.normalize(opt)
   if opt.file == "" then
      error("--file is missing: the name of a file with statements", 0)
   end
   return opt
end

-- Lists of generators -------------------------------------------------------

-- Splits "a(1, 2), b(3)" at the commas outside of brackets and quotes.
local function split_list(text)
   local items, depth, from, quote = {}, 0, 1, nil
   for i = 1, #text do
      local c = text:sub(i, i)
      if quote then
         quote = c ~= quote and quote or nil
      elseif c == "'" or c == '"' then
         quote = c
      elseif c == "(" then
         depth = depth + 1
      elseif c == ")" then
         depth = depth - 1
      elseif c == "," and depth == 0 then
         items[#items + 1] = text:sub(from, i - 1)
         from = i + 1
      end
   end
   items[#items + 1] = text:sub(from)
   return items
end

-- Statements -----------------------------------------------------------------

-- Returns the position after the quoted text that begins at `at`.
local function after_quote(text, at, backslash)
   local quote, i = text:sub(at, at), at + 1
   while i <= #text do
      local c = text:sub(i, i)
      if c == "\\" and backslash then
         i = i + 1
      elseif c == quote then
         if text:sub(i + 1, i + 1) ~= quote then
            return i + 1
         end
         i = i + 1
      end
      i = i + 1
   end
   return nil
end

-- PostgreSQL's E'it\'s'.
local function has_escapes(text, at)
   return at > 1 and text:find("^[Ee]'", at - 1) and
      (at == 2 or not text:find("^[%w_$\128-\255]", at - 2))
end

-- Returns the position after a comment, a quoted text or a dollar-quoted text
-- that begins at `at`, and whether it is a comment that can be removed; nil if
-- there is none. dialect: its name.
local function after_special(text, at, dialect)
   local two = text:sub(at, at + 1)
   if dialect == "mysql" and text:find("^#", at) then
      return (text:find("\n", at, true) or #text + 1), true
   elseif two == "--" and (dialect ~= "mysql" or text:find("^%-%-%s", at)) then
      return (text:find("\n", at, true) or #text + 1), true
   elseif two == "/*" then
      local _, stop = text:find("*/", at + 2, true)
      return (stop or #text) + 1
   elseif text:find("^['\"`]", at) then
      local escapes = dialect == "mysql" or
         (dialect == "pgsql" and has_escapes(text, at))
      return after_quote(text, at, escapes) or false
   elseif dialect == "pgsql" and text:find("^%$[%w_]*%$", at) then
      local tag = text:match("^%$[%w_]*%$", at)
      local _, stop = text:find(tag, at + #tag, true)
      return stop and stop + 1 or false
   end
   return nil
end

-- Returns the statements in a text: a list of {text =, raw =, params = names,
-- line =}. text has a `?` for each parameter, `??` for each `?`. first: the
-- number of the first line.
function M.statements(sql, dialect, first, refuse)
   local list, out, raw, params = {}, {}, {}, {}
   local at, line, start = 1, first, nil
   local function add(text, source)
      if not start and text:find("%S") then
         start = line
      end
      out[#out + 1], raw[#raw + 1] = text, source or text
   end
   local function finish()
      local text = table.concat(out):match("^%s*(.-)%s*$")
      if text ~= "" then
         list[#list + 1] = {text = text, params = params, line = start,
            raw = table.concat(raw):match("^%s*(.-)%s*$")}
      end
      out, raw, params, start = {}, {}, {}, nil
   end
   while at <= #sql do
      local stop, comment = after_special(sql, at, dialect)
      local name = not stop and sql:match("^:([%a_][%w_]*)", at)
      local from = at
      if stop == false then
         refuse(line, "a quoted text has no end")
      elseif stop then
         if not comment then
            add(sql:sub(at, stop - 1))
         end
         at = stop
      elseif sql:find("^::", at) then
         add("::")
         at = at + 2
      elseif name then
         params[#params + 1] = name
         add("?", ":" .. name)
         at = at + 1 + #name
      elseif sql:sub(at, at) == ";" then
         finish()
         at = at + 1
      elseif sql:sub(at, at) == "?" then
         add("??", "?")
         at = at + 1
      else
         local plain = sql:match("^[%w_ ,()=%.*<>]+", at) or sql:sub(at, at)
         add(plain)
         at = at + #plain
      end
      local _, lines = sql:sub(from, at - 1):gsub("\n", "")
      line = line + lines
   end
   finish()
   return list
end

-- Files ----------------------------------------------------------------------

local directives = {}

-- Begins a section whose statements are added to `list`.
local function section(file, list)
   file.open = {list = list, lines = {}}
end

local function plain_section(name)
   directives[name] = function(file, rest, refuse)
      if rest ~= "" then
         refuse("@%s has no arguments", name)
      end
      section(file, file[name])
   end
end

plain_section("prepare")
plain_section("finish")
plain_section("cleanup")

function directives.check(file, rest)
   local check = {text = rest ~= "" and rest or "a check", statements = {}}
   file.checks[#file.checks + 1] = check
   section(file, check.statements)
end

function directives.event(file, rest, refuse)
   local name, weight = rest:match("^([%w_-]+)%s*(.-)$")
   local number = weight == "" and 1 or tonumber(weight)
   if not name then
      refuse("@event requires a name of letters, digits, '_' and '-'")
   elseif not number or not (number >= 0 and number <= 1e9) then
      refuse("the weight of @event %s must be a number from 0 to " ..
         "1000000000, not '%s'", name, weight)
   elseif file.events[name] then
      refuse("there are two events '%s'", name)
   end
   local event = {name = name, weight = number, statements = {}}
   file.events[name] = event
   file.events[#file.events + 1] = event
   section(file, event.statements)
end

function directives.param(file, rest, refuse)
   local name, text = rest:match("^([%a_][%w_]*)%s*=%s*(.-)$")
   if not name then
      refuse("write '@param name = generator(...)'")
   elseif file.params[name] then
      refuse("there are two parameters '%s'", name)
   end
   file.params[name] = generator(text, refuse, name)
   file.params[#file.params + 1] = name
end

function directives.rows(file, rest, refuse)
   local name, columns, count, text = rest:match(
      "^([%w_%.]+)%s*%((.-)%)%s*(%d+)%s*=%s*(.-)$")
   if not name then
      refuse("write '@rows table(column, ...) 1000 = generator(...), ...'")
   end
   local rows = {name = name, columns = columns:gsub("%s", ""),
      count = tonumber(count), values = {}}
   for i, item in ipairs(split_list(text)) do
      rows.values[i] = generator(item, refuse, name .. " " .. i)
      if rows.values[i].start then -- its table need not exist yet
         refuse("a sequence after the result of a query is only possible in " ..
            "@param")
      end
   end
   local _, commas = columns:gsub(",", "")
   if #rows.values ~= commas + 1 then
      refuse("%d columns, but %d values", commas + 1, #rows.values)
   end
   file.rows[#file.rows + 1] = rows
end

-- Checks that all parameters of the statements are defined.
local function check_params(file, statements, allowed, refuse)
   for _, s in ipairs(statements) do
      for _, name in ipairs(s.params) do
         if not allowed then
            refuse(s.line, "parameters such as :%s are only possible in " ..
               "@event", name)
         elseif not file.params[name] then
            refuse(s.line, "there is no '@param %s'", name)
         end
      end
   end
end

local function check_file(file, refuse)
   for _, event in ipairs(file.events) do
      if #event.statements == 0 then
         refuse(nil, "the event '%s' has no statements", event.name)
      end
      check_params(file, event.statements, true, refuse)
   end
   for _, name in ipairs{"prepare", "finish", "cleanup"} do
      check_params(file, file[name], false, refuse)
   end
   for _, check in ipairs(file.checks) do
      check_params(file, check.statements, false, refuse)
   end
   if #file.events == 0 then
      refuse(nil, "there is no @event")
   end
end

-- Returns the content of a file. A folder can be opened, but not read.
local function read_all(path)
   local input, why = io.open(path)
   if not input then
      error("--file: " .. why, 0)
   end
   local text
   text, why = input:read("*a")
   input:close()
   if not text then
      error("--file: " .. path .. ": " .. why, 0)
   end
   return text
end

-- Returns the file `path`:
--   params     generators by name, and names in their order
--   events     list of {name =, weight =, statements =}
--   prepare, finish, cleanup   lists of statements
--   rows       list of {name =, columns =, count =, values = generators}
--   checks     list of {text =, statements =}
function M.read(path, dialect)
   local text = read_all(path)
   local file = {params = {}, events = {}, prepare = {}, finish = {},
      cleanup = {}, rows = {}, checks = {}}
   local number = 0
   local function refuse(line, ...)
      error(path .. ":" .. (line and line .. ": " or " ") ..
         string.format(...), 0)
   end
   local function refuse_here(...)
      refuse(number, ...)
   end
   local function close()
      local open = file.open
      if open then
         for _, s in ipairs(M.statements(table.concat(open.lines), dialect,
            open.first or number, refuse))
         do
            open.list[#open.list + 1] = s
         end
         file.open = nil
      end
   end
   for line in (text:gsub("\n$", "") .. "\n"):gmatch("(.-)\n") do
      number = number + 1
      local name, rest = line:match("^%s*%-%-%s*@(%w+)%s*(.-)%s*$")
      if name then
         if not directives[name] then
            refuse_here("there is no '@%s'", name)
         end
         close()
         directives[name](file, rest, refuse_here)
      elseif file.open then
         local open = file.open
         open.first = open.first or number
         open.lines[#open.lines + 1] = line .. "\n"
      elseif line:find("%S") and not line:find("^%s*%-%-") then
         refuse_here("a statement must follow '-- @event name' or another " ..
            "section")
      end
   end
   close()
   check_file(file, refuse)
   return file
end

return M
