-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The commands of the document workloads. The users of a run never load this.

local parallel = require("sb.prepare")
local schema = require("sb.schema")

local M = {}

-- Counters of sysbench.parallel.ticket() for commands that are not prepare.
local TABLE_KEY = 0

local PAGE = 5000 -- documents that check reads at a time

local function each_collection(opt, f)
   local db = require("sb.doc_workload").connect()
   parallel.share(TABLE_KEY, opt.tables, function(n)
      f(db, n)
   end)
   db:disconnect()
end

-- Calls f(doc) for all documents of a collection, in the order of their ids.
local function walk(coll, f)
   local filter, last = {}, nil
   repeat
      local read = 0
      for doc in coll:find(filter, {sort = {_id = 1}, limit = PAGE}) do
         f(doc)
         last = doc._id
         read = read + 1
      end
      filter = {_id = {["$gt"] = last}}
   until read < PAGE
end

local function check_collection(db, tables, opt, n)
   local name = schema.name(opt, n)
   local coll = db:collection(name)
   local count = 0
   walk(coll, function(doc)
      local whole, wrong = pcall(tables.wrong, doc, opt)
      if not whole then
         wrong = "it was not created by this workload's prepare"
      end
      if wrong then
         error(string.format("%s: document %s: %s", name, tostring(doc._id),
            wrong), 0)
      end
      count = count + 1
   end)
   if opt.new_rows and count < opt.table_size or
      not opt.new_rows and count ~= opt.table_size
   then
      error(string.format("%s: %d documents, expected %s%d", name, count,
         opt.new_rows and "at least " or "", opt.table_size), 0)
   end
   if tables.check_more then
      tables.check_more(coll, opt, n)
   end
   tables.print_line("%s: %d documents, all correct", name, count)
end

-- Creates and fills the collections first, first + step and so on, one after
-- the other.
function M.build(tables, opt, first, step)
   local db = require("sb.doc_workload").connect()
   for n = first, opt.tables, step do
      tables.create(db.con, nil, opt, n)
      tables.announce_rows(opt, n)
      local loader = tables.loader(db.con, opt, n)
      tables.fill(loader, opt, n, 1, opt.table_size)
      loader:close()
      tables.finish(db.con, nil, opt, n)
   end
   db:disconnect()
end

-- Returns prepare, warmup, prewarm, check and cleanup for a workload's
-- collections, for sb/own_commands.lua.
function M.of(tables)
   local commands = {}

   function commands.prepare(opt)
      local db = require("sb.doc_workload").connect()
      parallel.prepare(db.con, nil, opt, nil, nil, tables)
      db:disconnect()
   end

   function commands.warmup(opt)
      each_collection(opt, function(db, n)
         local name = schema.name(opt, n)
         tables.print_line("Preloading collection %s", name)
         walk(db:collection(name), function() end)
      end)
   end

   commands.prewarm = commands.warmup

   function commands.check(opt)
      each_collection(opt, function(db, n)
         check_collection(db, tables, opt, n)
      end)
   end

   function commands.cleanup(opt)
      local db = require("sb.doc_workload").connect()
      for n = 1, opt.tables do
         local name = schema.name(opt, n)
         tables.print_line("Dropping collection '%s'...", name)
         db:collection(name):drop()
      end
      db:disconnect()
   end

   return commands
end

return M
