-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The prepare and warmup commands: run by all users at once, which share the
-- work by tickets and wait for each other between the phases.
-- docs/internals/loading.md tells the whole story.

local build = require("sb.build")

local M = {}

-- Rows that a thread takes at a time where `tables.block` says no other number:
-- enough to keep the threads apart, few enough that all of them end together.
local BLOCK = 2000

-- Counters of sysbench.parallel.ticket().
local TABLE_KEY, BLOCK_KEY, INDEX_KEY, WARM_KEY, FAIL_KEY = 0, 1, 2, 3, 4
local VOTE_KEY = 8 -- and the ones after it, one a phase

-- Tickets go on from one database to the next. By key: the numbers that are
-- over, and the ticket beyond them that this user holds already.
local over, held = {}, {}
local jobs = 0 -- that all users came through

-- Seconds since some moment. A script may call cmd_prepare() from a command
-- that is not parallel, where there are no operations.
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

-- Runs a statement that another connection may get in the way of.
local function again(con, f, ...)
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

-- Calls f(n) for every n in 1..count that no other user took. May be called
-- again, by all users with the same count.
function M.share(key, count, f)
   local before = over[key] or 0
   local n = held[key] or sysbench.parallel.ticket(key) + 1
   held[key] = nil
   while n - before <= count do
      f(n - before)
      n = sysbench.parallel.ticket(key) + 1
   end
   over[key], held[key] = before + count, n
end

local share = M.share

-- State of one user's prepare: what it made, and the first thing that failed.
local Job = {}
Job.__index = Job

-- Ends a phase together with all other users. False when one of them failed:
-- a failed one takes as many tickets as there are users, which pushes the
-- tickets that all take afterwards beyond that number.
function Job:agree()
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

-- Keeps the first error. One failure makes the others fail, too, whose errors
-- would only hide the cause: the first user that comes here tells.
function Job:fail(err)
   if not self.err then
      self.err = message(err)
      self.tells = sysbench.parallel.ticket(FAIL_KEY) == 0
   end
end

-- Runs one phase. f gets the numbers below count that fall to this user; when
-- it fails, the numbers left are used up so that nobody works in vain.
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
      again(self.con, self.tables.create, self.d, self.opt, n)
      self.made[#self.made + 1] = n
   end)
   return self:agree()
end

-- Opens the loader for table n in place of the one in use.
function Job:aim(n)
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

function Job:load_block(block, per_table)
   local opt = self.opt
   local n = math.floor((block - 1) / per_table) + 1
   local first = (block - 1) % per_table * self.block + 1
   local last = math.min(first + self.block - 1, opt.table_size)
   if first == 1 then
      self.tables.announce_rows(opt, n)
   end
   self:aim(n)
   self.tables.fill(self.loader, opt, n, first, last, self.c, self.pad)
   sysbench.parallel.progress("rows", last - first + 1,
      opt.table_size * opt.tables)
end

function Job:load_rows()
   local per_table = math.ceil(self.opt.table_size / self.block)
   local ok = self:phase(BLOCK_KEY, per_table * self.opt.tables,
      function(block)
         self:load_block(block, per_table)
      end)
   if not ok then
      sysbench.rand.resume()
   end
   local closed, err = pcall(self.close_loader, self, ok)
   if not closed then
      self:fail(err)
   end
   return self:agree()
end

function Job:finish_tables()
   self:phase(INDEX_KEY, self.opt.tables, function(n)
      again(self.con, self.tables.finish, self.d, self.opt, n)
   end)
   return self:agree()
end

-- Drops table n; true when it is gone. Another user's loader may be in the way
-- for a moment.
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

-- Drops what this user made and says so.
function Job:undo()
   local gone, left = {}, {}
   local where = self.database and " in database '" .. self.database .. "'"
      or ""
   for _, n in ipairs(self.made) do
      local list = self:drop(n) and gone or left
      list[#list + 1] = self.tables.name(self.opt, n)
   end
   if #gone > 0 then
      io.stderr:write("prepare" .. where .. ": dropped what it had created: " ..
         table.concat(gone, ", ") .. "\n")
   end
   if #left > 0 then
      io.stderr:write("prepare" .. where .. ": could not drop what it had " ..
         "created: " .. table.concat(left, ", ") .. "\n")
   end
end

-- All phases. True when every user came through.
function Job:run()
   if not self:create_tables() then
      return false
   end
   self.began = now()
   if not self:load_rows() then
      return false
   end
   self.loaded = now()
   if not self:finish_tables() then
      return false
   end
   self.ended = now()
   return true
end

local function summary(job)
   local rows = job.opt.table_size * job.opt.tables
   local seconds = job.loaded - job.began
   local rate = seconds > 0 and rows / seconds or 0
   build.say("Prepared %d %s(s): %.0f %s in %.2f seconds " ..
      "(%.0f %s per second), indexes in %.2f seconds",
      job.opt.tables, job.tables.table_word, rows, job.tables.rows_word,
      seconds, rate, job.tables.rows_word, job.ended - job.loaded)
end

-- Makes, fills and indexes all tables of `opt`; every user of a parallel
-- command calls it. c, pad: as for build.fill(). tables: what makes and fills
-- them, sb/build.lua when left out. database: its name, for messages, where the
-- run has several. False when it failed and another user raises the error.
function M.prepare(con, d, opt, c, pad, tables, database)
   local job = setmetatable({con = con, d = d, opt = opt, c = c, pad = pad,
      tables = tables or build, made = {}, phases = 0, database = database},
      Job)
   job.block = job.tables.block and job.tables.block(opt) or BLOCK
   local whole, done = pcall(job.run, job)
   if whole and done then
      jobs = jobs + 1
      if sysbench.tid == 0 then
         summary(job)
      end
      return true
   end
   if not whole then -- interrupted: nobody waits for anybody any more
      pcall(job.close_loader, job, false)
      sysbench.parallel.settle()
      job:undo()
      error(done, 0)
   end
   job:undo()
   sysbench.parallel.barrier() -- nobody is to be stopped while dropping
   if job.tells then
      error(database and string.format("database '%s': %s", database, job.err)
         or job.err, 0)
   end
   return false
end

-- Calls make(n) for each table, shared between the users: for scripts that
-- brought a create_table() of their own.
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
