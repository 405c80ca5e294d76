-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The tables of workloads, and the commands that create, fill, index, check and
-- drop them. All users carry out a command together: they distribute the work
-- by tickets and wait for each other between the phases. See
-- docs/internals/loading.md.

local check = require("sb.check")
local dialect = require("sb.dialect")
local options = require("sb.options")

local M = {}

-- Prints a line with a single write, because threads share the stream.
function M.print(format, ...)
   sysbench.parallel.progress()
   io.stdout:write(string.format(format, ...) .. "\n")
end

-- Databases ------------------------------------------------------------------

-- Calls f(con, name) with a connection to each database, one after the other,
-- as drv:each_database(f) does. A script may have replaced the driver with its
-- own object that can only connect.
function M.connect_to_each_database(drv, f)
   if drv.each_database then
      drv:each_database(f)
      return
   end
   local con = drv:connect()
   f(con)
   con:disconnect()
end

local function names_of(drv)
   return drv.databases and drv:databases() or {}
end

-- Prints the name of the next database. The barriers keep the lines about one
-- database apart from those about the next.
local function announce(name)
   sysbench.parallel.barrier()
   if sysbench.tid == 0 then
      M.print("Database '%s':", name)
   end
   sysbench.parallel.barrier()
end

-- Runs a command on all databases of the run (--mysql-db=a,b,c), one after the
-- other: prints the name of each, and calls f(con, d, drv, name) with a
-- connection to it and the driver's dialect; name is nil if there is one
-- database. f returns false if it failed and another user raises the error. All
-- users of a parallel command call this.
function M.command_on_each_database(f)
   local drv = sysbench.sql.driver()
   local names, done = names_of(drv), {}
   local several = #names > 1
   if several and sysbench.tid == 0 then
      -- Fails if a database is unreachable, before anything is changed.
      M.connect_to_each_database(drv, function() end)
   end
   local function one(con, name)
      if several then
         announce(name)
      end
      local ok = f(con, dialect.of(drv), drv, several and name or nil)
      done[#done + 1] = ok ~= false and name or nil
      return ok
   end
   local ok, err = pcall(M.connect_to_each_database, drv, one)
   if #done > 0 and #done < #names and sysbench.tid == 0 then
      io.stderr:write(string.format("%s has completed in: %s\n",
         sysbench.cmdline.command, table.concat(done, ", ")))
   end
   if not ok then
      error(err, 0)
   end
end

-- Raises an error if there are several databases, for a workload that supports
-- only one.
function M.require_one_database(workload)
   local names = names_of(sysbench.sql.driver())
   if #names > 1 then
      error(string.format("%s supports only one database, but %d are given: " ..
         "%s", workload, #names, table.concat(names, ", ")), 0)
   end
end

-- How many servers the options name, at least.
local function count_servers(drv)
   local n = 1
   for _, what in ipairs{"host", "port", "socket"} do
      local list = sysbench.opt[drv:name() .. "_" .. what]
      n = n * (type(list) == "table" and math.max(#list, 1) or 1)
   end
   return n
end

-- Opens a connection; returns it and the dialect. If the options name several
-- servers, one that is down does not prevent a command: each attempt takes the
-- next one.
function M.connect(workload, opt)
   M.require_one_database(workload)
   local drv = sysbench.sql.driver()
   local con, d = nil, dialect.of(drv)
   for _ = 2, count_servers(drv) do
      con = con or drv:try_connect()
   end
   con = con or drv:connect()
   if d.check_engine then
      d.check_engine(con, opt)
   end
   return con, d
end

-- Work that users share ------------------------------------------------------

-- Ticket numbers continue from one database to the next. By key: the tickets
-- that are used up, and the next ticket, which this user already holds.
local used, held = {}, {}

-- Returns the next number of a counter: 1, 2, 3 ...
local function take(key)
   return sysbench.parallel.ticket(key) + 1
end

-- Divides the numbers 1..count among the users of a parallel command: calls
-- f(n) for each n that no other user has taken. key: the name of the counter,
-- as for sysbench.parallel.ticket(). May be called repeatedly, if all users
-- pass the same count.
function M.divide_work(key, count, f)
   local before = used[key] or 0
   local n = held[key] or take(key)
   held[key] = nil
   while n - before <= count do
      f(n - before)
      n = take(key)
   end
   used[key], held[key] = before + count, n
end

local divide_work = M.divide_work

-- Descriptions of tables -----------------------------------------------------

function M.refuse_existing(con, d, name)
   local count = d.find_table and con:query_row(d.find_table:format(name))
   -- With --mysql-dry-run there is no result.
   if count ~= nil and tonumber(count) ~= 0 then
      error(string.format("Table '%s' exists already. Remove it with the " ..
         "'cleanup' command, or use another database.", name), 0)
   end
end

-- Returns whether the primary key is created after the rows.
local function key_is_late(t, d, opt)
   return d.key_after_rows or t.key_after_rows and t.key_after_rows(d, opt)
end

local function create(t, con, d, opt, n)
   local name = t.name(opt, n)
   M.print("Creating table '%s'...", name)
   con:query(string.format("CREATE TABLE %s(%s%s) %s", name,
      t.define(d, opt, con), key_is_late(t, d, opt) and "" or
      ", PRIMARY KEY (" .. t.key .. ")", d.table_options(opt)))
   if d.check_table then
      d.check_table(con, opt, name)
   end
end

-- Completes the description of a workload's tables, a table `t` of functions,
-- with the functions that prepare() calls and that `t` does not have. It has:
--   name(opt, n)     the name of table n
--   define(d, opt, con)    the definitions of its columns
--   key              the columns of its primary key
--   columns(opt)     the names of its columns, in the order of fill()
--   fill(loader, opt, n, first, last)   writes the rows first..last; their
--                    values depend only on n and the number of the row
--   indexes(con, opt, n)   creates its secondary indexes; optional
--   index_names(opt, n)    their names, for require_all(); optional
--   key_after_rows(d, opt) whether the primary key is created after the rows in
--                    databases that otherwise create it before; optional
--   rows(opt, n)     the number of its rows, if it is not --table-size
--   weight(opt, n)   how large it is compared with others, if not by its rows
--   block(opt, n)    rows that a user takes at a time; optional
--   link(con, d, opt, n)   creates what refers to other tables, after all rows
--                    of all tables are loaded; optional
--   analyze          true: the statistics for the optimizer are computed
--   loaded()         the number of rows for the summary, if it is another one
function M.describe(t)
   local given = {}
   for name, value in pairs(t) do
      given[name] = value
   end

   t.table_word, t.rows_word = "table", "rows" -- for messages

   function t.create(con, d, opt, n)
      M.refuse_existing(con, d, t.name(opt, n))
      local ok, err = pcall(create, t, con, d, opt, n)
      if not ok then
         t.discard(con, opt, n)
         error(err, 0)
      end
   end

   function t.announce_rows(opt, n)
      M.print("Inserting %.0f records into '%s'", opt.table_size,
         t.name(opt, n))
   end

   function t.loader(con, opt, n)
      return con:load(t.name(opt, n), (t.columns(opt):gsub(" ", "")))
   end

   function t.finish(con, d, opt, n)
      if key_is_late(t, d, opt) then
         con:query(string.format("ALTER TABLE %s ADD PRIMARY KEY (%s)",
            t.name(opt, n), t.key))
      end
      if t.indexes then
         t.indexes(con, opt, n)
      end
   end

   function t.drop(con, opt, n)
      con:query("DROP TABLE IF EXISTS " .. t.name(opt, n))
   end

   -- Drops table n after a failure, in whatever state the connection is.
   -- Returns true if the table no longer exists.
   function t.discard(con, opt, n)
      pcall(con.reset, con)
      return (pcall(t.drop, con, opt, n))
   end

   for name, value in pairs(given) do
      t[name] = value
   end
   return t
end

-- Creates, fills and completes table n over one connection, without other
-- users.
function M.build(con, d, opt, t, n)
   t.create(con, d, opt, n)
   local ok, err = pcall(function()
      if opt.table_size > 0 then
         t.announce_rows(opt, n)
         local loader = t.loader(con, opt, n)
         local filled, reason = pcall(t.fill, loader, opt, n, 1,
            opt.table_size)
         if not filled then
            sysbench.rand.resume()
         end
         loader:close(filled)
         if not filled then
            error(reason, 0)
         end
      end
      t.finish(con, d, opt, n)
   end)
   if not ok then
      t.discard(con, opt, n)
      error(err, 0)
   end
end

-- Adds the primary key of table n to a list for check.require_indexes(), if
-- prepare creates it after the rows. Workloads that create their tables
-- themselves do not name a key.
local function add_key(list, t, d, opt, n)
   if t.key and key_is_late(t, d, opt) then
      list[#list + 1] = {table = t.name(opt, n),
         column = t.key:match("^[%w_]+")}
   end
end

-- Raises an error if one of the tables does not exist or lacks its key or an
-- index, unless --check-tables=off: prepare creates them after the rows, so
-- they are missing if it was interrupted.
function M.require_all(con, d, opt, t)
   if not opt.check_tables then
      return
   end
   local list = {}
   check.require_tables(con, d, opt.tables,
      function(n) return t.name(opt, n) end)
   for n = 1, opt.tables do
      add_key(list, t, d, opt, n)
      for _, index in ipairs(t.index_names and t.index_names(opt, n) or {}) do
         list[#list + 1] = {table = t.name(opt, n), index = index}
      end
   end
   check.require_indexes(con, d, list)
end

-- The command prepare --------------------------------------------------------

-- Rows that a thread takes at a time, unless `t.block` returns another
-- number: enough that threads rarely take tickets, few enough that all threads
-- finish at about the same time.
local BLOCK = 2000

local phases = 0 -- that all users ended

-- Returns the time in seconds since an arbitrary moment. If a script calls
-- cmd_prepare() from a command that is not parallel, there are no operations to
-- read the clock of.
local function now()
   local token = sysbench.op.start("prepare")
   return token and tonumber(token.start) / 1e9 or os.time()
end

local function message(err)
   if type(err) == "table" then
      return err.sql_errmsg or tostring(err)
   end
   return tostring(err)
end

-- Calls f(con, ...) and retries it if a conflict with another connection makes
-- it fail.
local function with_retries(con, f, ...)
   local ok, err
   for _ = 1, 20 do
      ok, err = pcall(f, con, ...)
      if ok or type(err) ~= "table"
         or err.errcode ~= sysbench.error.RESTART_EVENT
      then
         break
      end
      pcall(con.reset, con)
   end
   if not ok then
      error(message(err), 0)
   end
end

-- State of one user's prepare: the tables that it created and its first error.
local Job = {}
Job.__index = Job

-- Waits until all users have ended a phase. Returns false if one of them
-- failed. Each phase has its own counter: a user may fail in the next phase
-- before another one has read that of this phase.
function Job:end_phase()
   phases = phases + 1
   local failures = "failures in phase " .. phases
   if self.err then
      sysbench.parallel.add(failures, 1)
   end
   sysbench.parallel.barrier()
   return sysbench.parallel.add(failures, 0) == 0
end

-- Records the first error. Only the first user that fails reports it: the
-- errors of the other users are often consequences and would hide the cause.
function Job:fail(err)
   if not self.err then
      self.err = message(err)
      self.reports_error = sysbench.parallel.ticket("prepare failed") == 0
   end
end

-- Runs one phase: calls f(n) for the numbers in 1..count that this user takes.
-- If f fails, takes all remaining numbers, so that the other users stop early.
function Job:phase(key, count, f)
   local ok, err = pcall(divide_work, key, count, f)
   if not ok then
      self:fail(err)
      divide_work(key, count, function() end)
   end
   return ok
end

function Job:create_tables()
   self:phase("create", self.opt.tables, function(n)
      with_retries(self.con, self.t.create, self.d, self.opt, n)
      self.created[#self.created + 1] = n
   end)
   return self:end_phase()
end

-- Opens the loader for table n and closes the one in use.
function Job:open_loader(n)
   if self.target ~= n then
      self:close_loader(true)
      self.loader = self.t.loader(self.con, self.opt, n)
      self.target = n
   end
end

function Job:close_loader(commit)
   local loader = self.loader
   self.loader, self.target = nil, nil
   if loader then
      loader:close(commit)
   end
end

-- Returns the number of rows of table n. Tables may have different sizes.
function Job:rows(n)
   local rows = self.t.rows
   return rows and rows(self.opt, n) or self.opt.table_size
end

-- Returns the number of all rows.
function Job:all_rows()
   if not self.t.rows then
      return self.opt.table_size * self.opt.tables
   end
   local all = 0
   for n = 1, self.opt.tables do
      all = all + self:rows(n)
   end
   return all
end

-- Sets the order of the tables: those of different sizes by size, the largest
-- one first.
function Job:sort_tables()
   self.order = {}
   if not self.t.rows then
      return
   end
   local weights = {}
   for n = 1, self.opt.tables do
      local weight = self.t.weight
      self.order[n] = n
      weights[n] = weight and weight(self.opt, n) or self:rows(n)
   end
   table.sort(self.order, function(a, b)
      if weights[a] ~= weights[b] then
         return weights[a] > weights[b]
      end
      return a < b
   end)
end

-- Returns how many rows of table n a user takes at a time.
function Job:block(n)
   local block = self.t.block
   return block and block(self.opt, n) or BLOCK
end

function Job:blocks(n)
   return math.ceil(self:rows(n) / self:block(n))
end

-- Loads block `part` of table n.
function Job:load_block(n, part)
   local opt = self.opt
   local size = self:block(n)
   local first = (part - 1) * size + 1
   local last = math.min(first + size - 1, self:rows(n))
   if first == 1 then
      self.t.announce_rows(opt, n)
   end
   self:open_loader(n)
   self.t.fill(self.loader, opt, n, first, last)
   sysbench.parallel.progress("rows", last - first + 1, self.total)
end

-- Loads blocks of all tables, which have the same size, one table after the
-- other. A user takes blocks in ascending order.
function Job:load_sequence()
   local per_table = self:blocks(1)
   return self:phase("blocks", per_table * self.opt.tables, function(block)
      self:load_block(math.floor((block - 1) / per_table) + 1,
         (block - 1) % per_table + 1)
   end)
end

-- Returns the counter of the blocks of the table at this place of the order.
local function blocks_key(i)
   return "blocks of " .. i
end

-- Loads the blocks of the table at this place of the order that no other user
-- takes. Each user calls it once per table.
function Job:load_table(i)
   local n = self.order[i]
   self.drained[i] = true
   return self:phase(blocks_key(i), self:blocks(n), function(part)
      self:load_block(n, part)
   end)
end

-- Loads tables of different sizes: each user begins with another table, because
-- users that load the same one wait for each other's locks in the server. When
-- all tables have a user, it helps with those that are not complete.
function Job:load_by_table()
   local count, ok = self.opt.tables, true
   self.drained = {}
   local function load(i)
      if ok then
         ok = self:load_table(i)
      end
   end
   self:phase("load", count, load)
   for i = 1, count do
      if not self.drained[i] and ok then
         load(i)
      elseif not self.drained[i] then
         divide_work(blocks_key(i), self:blocks(self.order[i]), function() end)
      end
   end
   return ok
end

function Job:load_rows()
   self.total = self:all_rows()
   local ok
   if self.t.rows then
      ok = self:load_by_table()
   else
      ok = self:load_sequence()
   end
   if not ok then
      sysbench.rand.resume()
   end
   local closed, err = pcall(self.close_loader, self, ok)
   if not closed then
      self:fail(err)
   end
   return self:end_phase()
end

-- A phase that calls f(con, d, opt, n, tables) for each table, the largest one
-- first, so that no user begins with it when the others have ended.
function Job:each_table(key, f)
   self:phase(key, self.opt.tables, function(i)
      with_retries(self.con, f, self.d, self.opt, self.order[i] or i,
         self.t)
   end)
   return self:end_phase()
end

function Job:finish_tables()
   return self:each_table("index", self.t.finish)
end

-- Creates what refers to several tables, if there is any.
function Job:link_tables()
   return not self.t.link or self:each_table("link", self.t.link)
end

local function analyze(con, d, opt, n, tables)
   con:query(d.analyze:format(tables.name(opt, n)))
end

-- Computes the statistics for the optimizer. Otherwise the server does so some
-- time after the load, and plans change during a run.
function Job:analyze_tables()
   return not (self.t.analyze and self.d.analyze) or
      self:each_table("analyze", analyze)
end

-- Drops table n. Returns true if it no longer exists. Retries, because another
-- user's loader may lock the table for a short time.
function Job:drop(n)
   for _ = 1, 20 do
      if self.t.discard(self.con, self.opt, n) then
         return true
      end
      if self.con.error ~= sysbench.sql.error.IGNORABLE then
         break
      end
   end
   return false
end

-- Drops the tables that this user created, and prints their names.
function Job:undo()
   local dropped, remaining = {}, {}
   local where = self.database and " in database '" .. self.database .. "'"
      or ""
   for _, n in ipairs(self.created) do
      local list = self:drop(n) and dropped or remaining
      list[#list + 1] = self.t.name(self.opt, n)
   end
   if #dropped > 0 then
      io.stderr:write("prepare" .. where .. ": dropped what it had created: " ..
         table.concat(dropped, ", ") .. "\n")
   end
   if #remaining > 0 then
      io.stderr:write("prepare" .. where .. ": could not drop what it had " ..
         "created: " .. table.concat(remaining, ", ") .. "\n")
   end
end

-- Runs all phases. Returns true if all users completed them.
function Job:run()
   self:sort_tables()
   if not self:create_tables() then
      return false
   end
   self.began = now()
   if not self:load_rows() then
      return false
   end
   self.loaded = now()
   if not self:finish_tables() or not self:link_tables() then
      return false
   end
   self.ended = now()
   if not self:analyze_tables() then
      return false
   end
   self.analyzed = now()
   return true
end

-- Without the word "seconds": parsers look for "sec" in lines of sysbench 1.0.
local function summary(job)
   local rows = job.t.loaded and job.t.loaded() or job.total
   local seconds = job.loaded - job.began
   local rate = seconds > 0 and rows / seconds or 0
   M.print("Prepared %d %s(s): %.0f %s in %.2f s " ..
      "(%.0f %s/s), indexes in %.2f s%s",
      job.opt.tables, job.t.table_word, rows, job.t.rows_word,
      seconds, rate, job.t.rows_word, job.ended - job.loaded,
      job.t.analyze and job.d.analyze and
      string.format(", statistics in %.2f s",
         job.analyzed - job.ended) or "")
end

-- Creates, fills and indexes all tables of `opt`; all users of a parallel
-- command call it. t: see describe(). database: its name, for messages, if the
-- run has several. Returns false if it failed and another user raises the
-- error.
function M.prepare(con, d, opt, t, database)
   local job = setmetatable({con = con, d = d, opt = opt, t = t, created = {},
      database = database}, Job)
   local whole, done = pcall(job.run, job)
   if whole and done then
      if sysbench.tid == 0 then
         summary(job)
      end
      return true
   end
   if not whole then -- interrupted: users no longer wait for each other
      pcall(job.close_loader, job, false)
      sysbench.parallel.settle()
      job:undo()
      error(done, 0)
   end
   job:undo()
   sysbench.parallel.barrier() -- so that an error does not interrupt a drop
   if job.reports_error then
      error(database and string.format("database '%s': %s", database, job.err)
         or job.err, 0)
   end
   return false
end

-- Commands -------------------------------------------------------------------

-- Declares the commands prepare, warmup, prewarm, check and cleanup. commands:
-- their functions by name; they get sysbench.opt, after adjust(opt) if that is
-- not nil.
function M.declare_commands(commands, adjust)
   options.require_command()
   local function call(name)
      if name == "check" then
         options.require_storage("the command check")
      end
      if adjust then
         adjust(sysbench.opt)
      end
      commands[name](sysbench.opt)
   end
   sysbench.cmdline.commands = {}
   for _, name in ipairs{"prepare", "warmup", "check"} do
      sysbench.cmdline.commands[name] = {
         function() call(name) end, sysbench.cmdline.PARALLEL_COMMAND
      }
   end
   sysbench.cmdline.commands.prewarm = sysbench.cmdline.commands.warmup
   function cleanup() -- luacheck: globals cleanup
      call("cleanup")
   end
end

-- Raises an error if table n does not exist or has no primary key, without
-- which reading pages of rows in its order sorts all rows for each of them.
local function require_key(t, con, d, opt, n)
   local key = {}
   check.require_tables(con, d, 1, function() return t.name(opt, n) end)
   add_key(key, t, d, opt, n)
   check.require_indexes(con, d, key)
end

local PRINTED = "tables that were checked" -- a counter
local TURN_EVERY = 1000 -- microseconds between two looks whose turn it is

ffi.cdef("int usleep(unsigned int);")

-- Prints the result of the check of table n, or raises the error. The lines are
-- in the order of the tables, however long each of them takes.
local function print_in_order(n, ok, text)
   -- Raises an error after an interruption.
   while sysbench.parallel.add(PRINTED, 0) < n - 1 do
      ffi.C.usleep(TURN_EVERY)
   end
   if ok and text then
      M.print("%s", text)
   end
   sysbench.parallel.add(PRINTED, 1)
   if not ok then
      error(text, 0)
   end
end

-- Returns the commands of a workload whose tables are t (see describe()) in one
-- database, for declare_commands(). check_table(con, d, opt, n) checks table n
-- and returns the line about a correct one; warm(con, d, opt, n) reads it.
function M.standard_commands(workload, t, check_table, warm)
   local commands = {}

   local function each_table(opt, f)
      local con, d = M.connect(workload, opt)
      divide_work("tables", opt.tables, function(n)
         f(con, d, n)
      end)
      con:disconnect()
   end

   function commands.prepare(opt)
      local con, d = M.connect(workload, opt)
      M.prepare(con, d, opt, t)
      con:disconnect()
   end

   function commands.warmup(opt)
      each_table(opt, function(con, d, n)
         M.print("Preloading table %s", t.name(opt, n))
         warm(con, d, opt, n)
      end)
   end

   function commands.check(opt)
      each_table(opt, function(con, d, n)
         print_in_order(n, pcall(function()
            require_key(t, con, d, opt, n)
            return check_table(con, d, opt, n)
         end))
      end)
   end

   function commands.cleanup(opt)
      local con = M.connect(workload, opt)
      for n = 1, opt.tables do
         M.print("Dropping table '%s'...", t.name(opt, n))
         t.drop(con, opt, n)
      end
      con:disconnect()
   end

   return commands
end

return M
