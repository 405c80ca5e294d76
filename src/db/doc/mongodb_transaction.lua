-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Transactions.

local sb = ...
local wait = sb.wait
local bson = sb.module("bson")
local my = sb.mongodb
local database = my.database

sb.cdef("doc")

jit.off(true, true) -- see mongodb.lua

local BEGIN, COMMIT, ABORT = 0, 1, 2

local function step(db, which, options)
   local bytes, length
   if options then
      bson.begin(db.con)
      my.build().put_options(options)
      length = bson.finish()
      bytes = bson.buffer()
   end
   if wait.sb_doc_transaction(db.con, which, bytes, length or 0) ~= 0 then
      my.raise(db.con)
   end
end

function database:start_transaction(options)
   step(self, BEGIN, options)
end

function database:commit()
   step(self, COMMIT)
end

function database:abort()
   step(self, ABORT)
end

local function after(db, ok, ...)
   if not ok then
      pcall(step, db, ABORT)
      error((...), 0)
   end
   step(db, COMMIT)
   return ...
end

function database:transaction(fn, ...)
   step(self, BEGIN)
   return after(self, pcall(fn, ...))
end
