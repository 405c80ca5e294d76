-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Transactions.

local api = ...
local lib = api.lib
local bson = api.module("bson")
local my = api.mongodb
local database = my.database

jit.off(true, true) -- see mongodb.lua

local new_step = require("ffi").typeof("struct sbmo_doc_transaction")
local BEGIN, COMMIT, ABORT = 0, 1, 2

local function step(db, which, options)
   local bytes, length
   if options then
      bson.begin(db.con)
      my.build().put_options(options)
      length = bson.finish()
      bytes = bson.buffer()
   end
   api.call(db.con, lib.sbmo_doc_transaction,
            new_step(which, bytes, length or 0))
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
