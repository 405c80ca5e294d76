#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Executes statements of a plain file, with random parameters and weights. An
-- event is the statements of one @event of the file. Its format is described in
-- docs/workloads/sql_file.md, the generators of values are in
-- sb/sql_file_generators.lua.

local check = require("sb.check")
local dialect = require("sb.dialect")
local generators = require("sb.sql_file_generators")
local retry = require("sb.retry")
local tables = require("sb.tables")
local weights = require("sb.weights")

local rand = sysbench.rand

-- Options --------------------------------------------------------------------

sysbench.cmdline.options = {
   file = {"File with the statements", ""},
   weights = {"Events and their weights, such as find:8,buy:1, instead " ..
      "of those in the file; events that are not named are not executed", ""},
   pipeline = {"Send the statements of an event together, as far as the " ..
      "client library supports it; without BEGIN, PostgreSQL executes them " ..
      "as one transaction", false},
}

-- Statements of files --------------------------------------------------------

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
local function parse_statements(sql, dialect, first, refuse)
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

-- Sections and parameters of files -------------------------------------------

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
   file.params[name] = generators.parse(text, refuse, name)
   file.params[#file.params + 1] = name
end

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

function directives.rows(file, rest, refuse)
   local name, columns, count, text = rest:match(
      "^([%w_%.]+)%s*%((.-)%)%s*(%d+)%s*=%s*(.-)$")
   if not name then
      refuse("write '@rows table(column, ...) 1000 = generator(...), ...'")
   end
   local rows = {name = name, columns = columns:gsub("%s", ""),
      count = tonumber(count), values = {}}
   for i, item in ipairs(split_list(text)) do
      rows.values[i] = generators.parse(item, refuse, name .. " " .. i)
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

-- Returns the content of a file.
local function read_all(path)
   local text, why = sysbench.read_file(path)
   if not text then
      error("--file: " .. why, 0)
   end
   return text
end

-- Returns the file `path`:
--   params     generators by name, and names in their order
--   events     list of {name =, weight =, statements =}
--   prepare, finish, cleanup   lists of statements
--   rows       list of {name =, columns =, count =, values = generators}
--   checks     list of {text =, statements =}
local function read_file(path, dialect)
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
         for _, s in ipairs(parse_statements(table.concat(open.lines), dialect,
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

-- Returns the weights of the events by name.
local function weights_of(opt, file)
   local names, list, total = {}, {}, 0
   for i, event in ipairs(file.events) do
      names[i], list[event.name] = event.name, event.weight
      total = total + event.weight
   end
   if opt.weights ~= "" then
      return weights.parse("weights", opt.weights, names)
   elseif total == 0 then
      error(opt.file .. ": the weights of all events are 0", 0)
   end
   return list
end

-- Returns the file of the options, after checks that need no connection, and
-- the driver.
local function open(opt)
   local drv = sysbench.sql.driver()
   dialect.of(drv) -- an error if it is MongoDB
   if opt.file == "" then
      error("--file is missing: the name of a file with statements", 0)
   end
   tables.require_one_database("sql_file")
   local file = read_file(opt.file, drv:dialect())
   weights_of(opt, file)
   return file, drv
end

-- Executes statements; an error names the line of the file. hint: text at the
-- end of errors of statements that are not the first.
local function execute_all(con, opt, statements, hint)
   for i, s in ipairs(statements) do
      local ok, err = pcall(con.query, con, s.raw)
      if not ok then
         error(string.format("%s:%d: %s%s", opt.file, s.line,
            check.message(con, err), i > 1 and hint or ""), 0)
      end
   end
end

-- Prepare --------------------------------------------------------------------

local function put(loader, kind, value)
   if value == nil then
      loader:null()
   elseif kind == "int" then
      loader:int(value)
   elseif kind == "double" then
      loader:double(value)
   else
      loader:text(tostring(value))
   end
end

-- Returns the description of the tables for sb/tables.lua. "Table" n are the
-- rows of the @rows with this number; the first one also stands for what
-- @prepare creates, even if there are no @rows.
local function described(file, opt)
   local t = {}

   function t.name(_, n)
      return n == 1 and "what @prepare creates" or file.rows[n].name
   end

   function t.rows(_, n)
      return file.rows[n] and file.rows[n].count or 0
   end

   -- If one of the statements fails, @cleanup might remove tables that existed
   -- before.
   function t.create(con, _, _, n)
      if n == 1 then
         tables.print("Executing %d statement(s) of %s...", #file.prepare,
            opt.file)
         execute_all(con, opt, file.prepare, "; 'cleanup' removes what the " ..
            "statements before it created")
      end
   end

   function t.loader(con, _, n)
      return con:load(file.rows[n].name, file.rows[n].columns)
   end

   function t.announce_rows(_, n)
      tables.print("Inserting %.0f records into '%s'", file.rows[n].count,
         file.rows[n].name)
   end

   function t.fill(loader, _, n, first, last)
      for row = first, last do
         rand.row(n, row)
         for _, value in ipairs(file.rows[n].values) do
            put(loader, value.kind, value.draw(row))
         end
      end
      rand.resume()
   end

   function t.finish()
   end

   function t.link(con, _, _, n)
      if n == 1 then
         execute_all(con, opt, file.finish)
      end
   end

   -- Executes the statements of @cleanup, as far as possible.
   function t.discard(con, _, n)
      pcall(con.reset, con)
      for _, s in ipairs(n == 1 and file.cleanup or {}) do
         pcall(con.query, con, s.raw)
      end
      return true
   end

   return tables.describe(t)
end

local commands = {}

-- One user executes the statements of @prepare, all users load the rows of
-- @rows, and one user executes the statements of @finish. If that fails,
-- @cleanup is executed.
function commands.prepare(opt)
   local file, drv = open(opt)
   local con = drv:connect()
   local settings = setmetatable({tables = math.max(#file.rows, 1),
      table_size = 0}, {__index = opt})
   tables.prepare(con, dialect.of(drv), settings, described(file, opt))
   con:disconnect()
end

function commands.warmup()
   error("sql_file has no command warmup", 0)
end

-- Users ----------------------------------------------------------------------

local con, choose, pipeline
local is_retry = retry.watch()
local events = {} -- of this user, see open_event()
local values = {} -- of the parameters, by name; drawn once per event

-- Checks the file before the users are created, and starts the sequences that
-- begin after the result of a query.
function init()
   local opt = sysbench.opt
   local file, drv = open(opt)
   local con
   for _, name in ipairs(file.params) do
      local start = file.params[name].start
      if start then
         con = con or drv:connect()
         local ok, value = pcall(con.query_row, con, start.query)
         local number = ok and tonumber(value or 0)
         if not number then
            error(string.format("%s: the query of @param %s %s: %s", opt.file,
               name, ok and "does not return a number" or "failed",
               tostring(value)), 0)
         end
         sysbench.sequence(start.name, number)
      end
   end
   if con then
      con:disconnect()
   end
end

-- Returns a statement and its parameters, a list of {name =, slot =}.
local function prepare(file, s, op)
   local types = sysbench.sql.type
   local stmt, params, slots = con:prepare(s.text, op), {}, {}
   for i, name in ipairs(s.params) do
      local of = file.params[name].kind
      if of == "int" then
         slots[i] = stmt:bind_create(types.BIGINT)
      elseif of == "double" then
         slots[i] = stmt:bind_create(types.DOUBLE)
      else
         slots[i] = stmt:bind_create(types.VARCHAR, math.max(of, 1))
      end
      params[i] = {name = name, slot = slots[i]}
   end
   if #slots > 0 then
      stmt:bind_param(unpack(slots))
   end
   return {stmt = stmt, params = params}
end

-- Returns an event of the file:
--   op           of the whole event, if it has several statements
--   draws        its parameters: {name =, draw =, sequence = whether it is one}
--   statements   see prepare(); prepared at first use by prepare(i)
--   count        number of statements
-- An event with one statement gives it its name in reports, otherwise its name
-- and their number.
local function open_event(file, parsed)
   local several = #parsed.statements > 1
   local e = {op = several and sysbench.op(parsed.name), draws = {},
      statements = {}, count = #parsed.statements}
   local used = {}
   for _, s in ipairs(parsed.statements) do
      for _, name in ipairs(s.params) do
         if not used[name] then
            used[name] = true
            local param = file.params[name]
            e.draws[#e.draws + 1] = {name = name, draw = param.draw,
               sequence = param.sequence}
         end
      end
   end
   function e.prepare(i)
      e.statements[i] = prepare(file, parsed.statements[i],
         several and parsed.name .. "." .. i or parsed.name)
      return e.statements[i]
   end
   return e
end

function thread_init()
   local opt, drv = sysbench.opt, sysbench.sql.driver()
   local file = read_file(opt.file, drv:dialect())
   local by_name, list = weights_of(opt, file), {}
   con, pipeline = drv:connect(), opt.pipeline
   for i, parsed in ipairs(file.events) do
      events[i] = open_event(file, parsed)
      list[i] = by_name[parsed.name] or 0
   end
   choose = weights.chooser(list)
end

function thread_done()
   for _, e in ipairs(events) do
      for _, s in pairs(e.statements) do
         s.stmt:close()
      end
   end
   con:disconnect()
end

local function execute(e)
   for i = 1, e.count do
      local s = e.statements[i] or e.prepare(i)
      for _, param in ipairs(s.params) do
         param.slot:set(values[param.name])
      end
      s.stmt:execute()
   end
end

local e, token -- the event of the file, and its measurement

function event()
   local again = is_retry()
   if not again then
      e = events[choose()]
      token = e.op and e.op:start()
   end
   -- Another try takes new numbers of sequences: the first one may have used
   -- its own.
   for _, p in ipairs(e.draws) do
      if not again or p.sequence then
         values[p.name] = p.draw()
      end
   end
   if pipeline then
      con:pipeline(execute, e)
   else
      execute(e)
   end
   if token then
      e.op:finish(token)
   end
end

-- Check and cleanup ----------------------------------------------------------

-- A statement of a check must not return a row.
function commands.check(opt)
   local file, drv = open(opt)
   if sysbench.parallel.ticket("check") > 0 then
      return
   end
   local con = drv:connect()
   for _, each in ipairs(file.checks) do
      for _, s in ipairs(each.statements) do
         local row = {con:query_row(s.raw)}
         if next(row) ~= nil then
            for i = 1, #row do
               row[i] = tostring(row[i])
            end
            error(string.format("%s:%d: %s: the statement returns a row: %s",
               opt.file, s.line, each.text, table.concat(row, ", ")), 0)
         end
      end
      tables.print("%s: passed", each.text)
   end
   con:disconnect()
   if #file.checks == 0 then
      error(opt.file .. " has no @check", 0)
   end
end

function commands.cleanup(opt)
   local file, drv = open(opt)
   local con = drv:connect()
   tables.print("Executing %d statement(s) of %s...", #file.cleanup, opt.file)
   execute_all(con, opt, file.cleanup)
   con:disconnect()
end

tables.declare_commands(commands)
