-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The prepare and warmup commands. All users run them in parallel, distribute
-- the work by tickets and wait for each other between the phases. See
-- docs/internals/loading.md.

local build = require("sb.build")

local M = {}

-- Rows that a thread takes at a time, unless `tables.block` returns another
-- number: enough that threads rarely take tickets, few enough that all threads
-- finish at about the same time.
local BLOCK = 2000

-- Counters of sysbench.parallel.ticket().
local TABLE_KEY, BLOCK_KEY, INDEX_KEY, WARM_KEY, FAIL_KEY, LINK_KEY,
   ANALYZE_KEY, BEGIN_KEY = 0, 1, 2, 3, 4, 5, 6, 7
local VOTE_KEY = 8 -- the first of several, one per phase

-- Ticket numbers continue from one database to the next. By key: the tickets
-- that are used up, and the next ticket, which this user already holds.
local used, held = {}, {}
local jobs = 0 -- number of databases that all users completed

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

-- Returns the next number of a counter: 1, 2, 3 ...
local function take(key)
   return sysbench.parallel.ticket(key) + 1
end

-- Calls f(n) for every n in 1..count that no other user has taken. key: a
-- number for sysbench.parallel.ticket(), or any text. May be called repeatedly,
-- if all users pass the same count.
function M.share(key, count, f)
   local before = used[key] or 0
   local n = held[key] or take(key)
   held[key] = nil
   while n - before <= count do
      f(n - before)
      n = take(key)
   end
   used[key], held[key] = before + count, n
end

local share = M.share

-- State of one user's prepare: the tables that it created and its first error.
local Job = {}
Job.__index = Job

-- Waits until all users have ended a phase. Returns false if one of them
-- failed: a user that failed takes as many tickets as there are users, so all
-- tickets taken after the barrier are above that number.
function Job:end_phase()
   local users = sysbench.cmdline.main_state and 1 or sysbench.opt.threads
   local key = VOTE_KEY + self.phases
   self.phases = self.phases + 1
   if self.err then
      for _ = 1, users do
         sysbench.parallel.ticket(key)
      end
   end
   sysbench.parallel.barrier()
   return sysbench.parallel.ticket(key) < (jobs + 1) * users
end

-- Records the first error. Only the first user that fails reports it: the
-- errors of the other users are often consequences and would hide the cause.
function Job:fail(err)
   if not self.err then
      self.err = message(err)
      self.reports_error = sysbench.parallel.ticket(FAIL_KEY) == 0
   end
end

-- Runs one phase: calls f(n) for the numbers in 1..count that this user takes.
-- If f fails, takes all remaining numbers, so that the other users stop early.
function Job:phase(key, count, f)
   local ok, err = pcall(share, key, count, f)
   if not ok then
      self:fail(err)
      share(key, count, function() end)
   end
   return ok
end

function Job:create_tables()
   self:phase(TABLE_KEY, self.opt.tables, function(n)
      with_retries(self.con, self.tables.create, self.d, self.opt, n)
      self.created[#self.created + 1] = n
   end)
   return self:end_phase()
end

-- Opens the loader for table n and closes the one in use.
function Job:open_loader(n)
   if self.target ~= n then
      self:close_loader(true)
      self.loader = self.tables.loader(self.con, self.opt, n)
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
   local rows = self.tables.rows
   return rows and rows(self.opt, n) or self.opt.table_size
end

-- Returns the number of all rows.
function Job:all_rows()
   if not self.tables.rows then
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
   if not self.tables.rows then
      return
   end
   local weights = {}
   for n = 1, self.opt.tables do
      local weight = self.tables.weight
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
   local block = self.tables.block
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
      self.tables.announce_rows(opt, n)
   end
   self:open_loader(n)
   self.tables.fill(self.loader, opt, n, first, last, self.c, self.pad)
   sysbench.parallel.progress("rows", last - first + 1, self.total)
end

-- Loads blocks of all tables, which have the same size, one table after the
-- other. A user takes blocks in ascending order.
function Job:load_sequence()
   local per_table = self:blocks(1)
   return self:phase(BLOCK_KEY, per_table * self.opt.tables, function(block)
      self:load_block(math.floor((block - 1) / per_table) + 1,
         (block - 1) % per_table + 1)
   end)
end

-- Returns the counter of the blocks of the table at this place of the order.
local function blocks_key(i)
   return "prepare blocks " .. i
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
   self:phase(BEGIN_KEY, count, load)
   for i = 1, count do
      if not self.drained[i] and ok then
         load(i)
      elseif not self.drained[i] then
         share(blocks_key(i), self:blocks(self.order[i]), function() end)
      end
   end
   return ok
end

function Job:load_rows()
   self.total = self:all_rows()
   local ok
   if self.tables.rows then
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
         self.tables)
   end)
   return self:end_phase()
end

function Job:finish_tables()
   return self:each_table(INDEX_KEY, self.tables.finish)
end

-- Creates what refers to several tables, if there is any.
function Job:link_tables()
   return not self.tables.link or self:each_table(LINK_KEY, self.tables.link)
end

local function analyze(con, d, opt, n, tables)
   con:query(d.analyze:format(tables.name(opt, n)))
end

-- Computes the statistics for the optimizer. Otherwise the server does so some
-- time after the load, and plans change during a run.
function Job:analyze_tables()
   return not (self.tables.analyze and self.d.analyze) or
      self:each_table(ANALYZE_KEY, analyze)
end

-- Drops table n. Returns true if it no longer exists. Retries, because another
-- user's loader may lock the table for a short time.
function Job:drop(n)
   for _ = 1, 20 do
      if self.tables.discard(self.con, self.opt, n) then
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
      list[#list + 1] = self.tables.name(self.opt, n)
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
   local rows = job.tables.loaded and job.tables.loaded() or job.total
   local seconds = job.loaded - job.began
   local rate = seconds > 0 and rows / seconds or 0
   build.print_line("Prepared %d %s(s): %.0f %s in %.2f s " ..
      "(%.0f %s/s), indexes in %.2f s%s",
      job.opt.tables, job.tables.table_word, rows, job.tables.rows_word,
      seconds, rate, job.tables.rows_word, job.ended - job.loaded,
      job.tables.analyze and job.d.analyze and
      string.format(", statistics in %.2f s",
         job.analyzed - job.ended) or "")
end

-- Creates, fills and indexes all tables of `opt`; all users of a parallel
-- command call it. c, pad: as for build.fill(). tables: a module with the
-- functions of sb/build.lua, which is the default. database: its name, for
-- messages, if the run has several. Returns false if it failed and another user
-- raises the error.
function M.prepare(con, d, opt, c, pad, tables, database)
   local job = setmetatable({con = con, d = d, opt = opt, c = c, pad = pad,
      tables = tables or build, created = {}, phases = 0,
      database = database}, Job)
   local whole, done = pcall(job.run, job)
   if whole and done then
      jobs = jobs + 1
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

-- Calls make(n) for each table, distributed over the users: for scripts that
-- define their own create_table().
function M.each_table(opt, make)
   share(TABLE_KEY, opt.tables, make)
end

-- The warmup command.
function M.warmup(con, d, opt)
   share(WARM_KEY, opt.tables, function(n)
      build.warm(con, d, opt, n)
   end)
end

return M
