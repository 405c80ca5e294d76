-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Pipelines: statements that are collected and sent together.

local sb = ...
local C = sb.C
local connection = sb.sql.connection
local check, raise = sb.sql.check, sb.sql.raise
local own, keep = sb.sql.own, sb.sql.keep
local NONE = 0
-- Connections whose pipelines the event in progress has sent.
local sent, hooked = {}, false

sb.cdef("sql", "sb_con_pipeline sb_con_pipeline_run sb_con_pipeline_send " ..
        "sb_con_pipeline_next sb_con_pipeline_end sb_con_pipeline_drop")

-- After this, queries and executions are only collected: pipeline_run() or
-- pipeline_send() sends them together.
function connection:pipeline_begin()
   own(self, "connection", "pipeline_begin")
   check(C.sb_con_pipeline(self), self, "<pipeline>")
end

-- Sends the statements, receives all results and drops their rows; returns the
-- number of statements.
function connection:pipeline_run()
   own(self, "connection", "pipeline_run")
   local n = C.sb_con_pipeline_run(self)
   if n < 0 then
      raise(self, "<pipeline>", 2)
   end
   return n
end

-- Sends the statements that fn(...) executes on this connection together.
function connection:pipeline(fn, ...)
   own(self, "connection", "pipeline")
   self:pipeline_begin()
   local ok, err = pcall(fn, ...)
   if not ok then
      C.sb_con_pipeline_drop(self)
      error(err, 0)
   end
   return self:pipeline_run()
end

-- An event ends with the answers to what it has sent.
local function finish()
   for i = #sent, 1, -1 do
      local con = sent[i]
      sent[i] = nil
      if C.sb_con_pipeline_end(con) < 0 then
         raise(con, "<pipeline>", 2)
      end
   end
end

local function finish_after_event(con)
   if not hooked then
      sb.after_event[#sb.after_event + 1] = finish
      hooked = true
   end
   for i = 1, #sent do
      if sent[i] == con then
         return
      end
   end
   sent[#sent + 1] = con
end

-- As pipeline_run(), but pipeline_next() receives the results.
function connection:pipeline_send()
   own(self, "connection", "pipeline_send")
   local n = C.sb_con_pipeline_send(self)
   if n < 0 then
      raise(self, "<pipeline>", 2)
   end
   if sb.after_event then
      finish_after_event(self)
   end
   return n
end

-- Returns the result of the next statement, as query() would have done.
function connection:pipeline_next()
   own(self, "connection", "pipeline_next")
   local rs = C.sb_con_pipeline_next(self)
   if rs ~= nil then
      keep(self)
      return rs
   elseif self.error ~= NONE then
      raise(self, "<pipeline>", 2)
   end
end
