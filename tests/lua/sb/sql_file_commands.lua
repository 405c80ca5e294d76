-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sql_file: the commands of its files. The users of a run never load this.

local build = require("sb.build")
local parallel = require("sb.prepare")
local sql_file = require("sb.sql_file")

local print_line = build.print_line

local FIRST_KEY = 0 -- counter of sysbench.parallel.ticket()

local M = {}

-- Returns the file of the options, after checks that need no connection.
function M.read(opt)
   local drv = sysbench.sql.driver()
   require("sb.dialect").of(drv) -- an error if it is MongoDB
   require("sb.databases").refuse_several("sql_file")
   local file = sql_file.read(opt.file, drv:dialect())
   local names, total = {}, 0
   for i, event in ipairs(file.events) do
      names[i], total = event.name, total + event.weight
   end
   if opt.weights ~= "" then
      require("sb.weights").parse("weights", opt.weights, names)
   elseif total == 0 then
      error(opt.file .. ": the weights of all events are 0", 0)
   end
   return file, drv
end

-- Executes statements; an error names the line of the file. hint: text at the
-- end of errors of statements that are not the first.
local function execute(con, opt, statements, hint)
   for i, s in ipairs(statements) do
      local ok, err = pcall(con.query, con, s.raw)
      if not ok then
         local why = con.sql_errmsg ~= nil and ffi.string(con.sql_errmsg) or ""
         error(string.format("%s:%d: %s%s", opt.file, s.line,
            why ~= "" and why or tostring(err), i > 1 and hint or ""), 0)
      end
   end
end

-- Executes the statements of @cleanup, as far as possible.
local function clean(con, file)
   for _, s in ipairs(file.cleanup) do
      pcall(con.query, con, s.raw)
   end
end

-- Returns what sb/prepare.lua calls. "Table" n are the rows of the @rows with
-- this number; the first one also stands for what @prepare creates, even if
-- there are no @rows.
local function tables_of(file, opt)
   local tables = setmetatable({}, {__index = build})

   function tables.name(_, n)
      return n == 1 and "what @prepare creates" or file.rows[n].name
   end

   function tables.rows(_, n)
      return file.rows[n] and file.rows[n].count or 0
   end

   -- If one of the statements fails, @cleanup might remove tables that existed
   -- before.
   function tables.create(con, _, _, n)
      if n == 1 then
         print_line("Executing %d statement(s) of %s...", #file.prepare,
            opt.file)
         execute(con, opt, file.prepare, "; 'cleanup' removes what the " ..
            "statements before it created")
      end
   end

   function tables.loader(con, _, n)
      return con:load(file.rows[n].name, file.rows[n].columns)
   end

   function tables.announce_rows(_, n)
      print_line("Inserting %.0f records into '%s'", file.rows[n].count,
         file.rows[n].name)
   end

   function tables.fill(loader, _, n, first, last)
      local rand, values = sysbench.rand, file.rows[n].values
      for row = first, last do
         rand.row(n, row)
         for _, value in ipairs(values) do
            local v = value.draw(row)
            if v == nil then
               loader:null()
            elseif value.kind == "int" then
               loader:int(v)
            elseif value.kind == "double" then
               loader:double(v)
            else
               loader:text(tostring(v))
            end
         end
      end
      rand.resume()
   end

   function tables.finish()
   end

   function tables.link(con, _, _, n)
      if n == 1 then
         execute(con, opt, file.finish)
      end
   end

   function tables.discard(con, _, n)
      pcall(con.reset, con)
      if n == 1 then
         clean(con, file)
      end
      return true
   end

   return tables
end

-- One user executes the statements of @prepare, all users load the rows of
-- @rows, and one user executes the statements of @finish. If that fails,
-- @cleanup is executed.
function M.prepare(opt)
   local file, drv = M.read(opt)
   local con = drv:connect()
   local settings = setmetatable({tables = math.max(#file.rows, 1),
      table_size = 0}, {__index = opt})
   parallel.prepare(con, require("sb.dialect").of(drv), settings, nil, nil,
      tables_of(file, opt))
   con:disconnect()
end

-- Checks the file, and starts the sequences that begin after the result of a
-- query.
function M.start(opt)
   local file, drv = M.read(opt)
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

function M.warmup()
   error("sql_file has no command warmup", 0)
end

M.prewarm = M.warmup

-- A statement of a check must not return a row.
function M.check(opt)
   local file, drv = M.read(opt)
   if sysbench.parallel.ticket(FIRST_KEY) > 0 then
      return
   end
   local con = drv:connect()
   for _, check in ipairs(file.checks) do
      for _, s in ipairs(check.statements) do
         local row = {con:query_row(s.raw)}
         if next(row) ~= nil then
            for i = 1, #row do
               row[i] = tostring(row[i])
            end
            error(string.format("%s:%d: %s: the statement returns a row: %s",
               opt.file, s.line, check.text, table.concat(row, ", ")), 0)
         end
      end
      print_line("%s: passed", check.text)
   end
   con:disconnect()
   if #file.checks == 0 then
      error(opt.file .. " has no @check", 0)
   end
end

function M.cleanup(opt)
   local file, drv = M.read(opt)
   local con = drv:connect()
   print_line("Executing %d statement(s) of %s...", #file.cleanup, opt.file)
   execute(con, opt, file.cleanup)
   con:disconnect()
end

return M
