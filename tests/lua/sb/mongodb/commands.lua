-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What the main state and the commands of the workloads in mongodb/ share:
-- options, the check before a run, prepare, warmup, check and cleanup.

local derive = require("sb.mongodb.documents").derive
local options = require("sb.mongodb.options")
local parallel = require("sb.prepare")
local schema = require("sb.schema")
local workload = require("sb.mongodb.workload")

local M = {}

-- Counters of sysbench.parallel.ticket() for commands that are not prepare.
local TABLE_KEY = 0

local BATCH = 5000 -- documents that a server sends at a time

local function each_collection(opt, f)
   local db = workload.connect()
   parallel.share(TABLE_KEY, opt.tables, function(n)
      f(db, n)
   end)
   db:disconnect()
end

-- Calls f(doc) for all documents of a collection, in the order of their ids.
local function walk(coll, f)
   for doc in coll:find({}, {sort = {_id = 1}, batch_size = BATCH}) do
      f(doc)
   end
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
   if opt.new_rows and count < (tables.deletes and 0 or opt.table_size) or
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
   local db = workload.connect()
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
-- collections (derive() of documents.lua), for sb/own_commands.lua.
function M.of(tables)
   local commands = {}

   function commands.prepare(opt)
      local db = workload.connect()
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
      opt.new_rows = tables.new_rows
      each_collection(opt, function(db, n)
         check_collection(db, tables, opt, n)
      end)
   end

   function commands.cleanup(opt)
      local db = workload.connect()
      for n = 1, opt.tables do
         local name = schema.name(opt, n)
         tables.print_line("Dropping collection '%s'...", name)
         db:collection(name):drop()
      end
      db:disconnect()
   end

   return commands
end

-- Before a run ---------------------------------------------------------------

-- Tries an operator that a server may not support, on documents that do not
-- exist. The error names the operator and the option that disables it.
local function probe(db, coll, operator)
   local ok, err = pcall(operator.try, coll)
   if not ok then
      local why = db.con.sql_errmsg ~= nil and ffi.string(db.con.sql_errmsg)
      error(string.format("%s cannot %s (%s)%s", db.con:server_info(),
         operator.name, why ~= "" and why or tostring(err),
         operator.without and "; disable it with " .. operator.without or ""),
         0)
   end
end

-- Raises an error unless a document has the fields.
function M.require_fields(coll, doc, fields)
   for _, field in ipairs(fields) do
      if doc[field] == nil then
         error(string.format("the documents in '%s' have no field '%s', so " ..
            "another workload prepared them; use another database, or run " ..
            "'cleanup', then: %s", coll.name, field,
            sysbench.cmdline.command_line("prepare")), 0)
      end
   end
end

-- Checks that all collections exist and have documents of this workload:
-- otherwise events would find nothing and look fast. Returns the first
-- collection.
local function check_collections(db, opt, fields)
   local name, exists = schema.name, {}
   if not opt.check_tables then
      return db:collection(name(opt, 1))
   end
   for _, coll in ipairs(db:list_collections()) do
      exists[coll.name] = true
   end
   for n = 1, opt.tables do
      if not exists[name(opt, n)] then
         error(string.format("collection '%s' does not exist: create it " ..
            "with: %s", name(opt, n),
            sysbench.cmdline.command_line("prepare")), 0)
      end
   end
   local coll = db:collection(name(opt, 1))
   local first = coll:find_one{_id = 1}
   if first then
      M.require_fields(coll, first, fields)
   end
   if #fields > 0 and opt.table_size > 0 and
      not coll:find_one({_id = opt.table_size}, {projection = {_id = 1}})
   then
      sysbench.warning(string.format("'%s' has no document %d, which is " ..
         "--table-size: reads of missing ids return nothing and look fast",
         coll.name, opt.table_size))
   end
   return coll
end

-- For `needs` of workloads with the option --transactions.
function M.need_transactions(opt)
   if not opt.transactions then
      return {}
   end
   return {{name = "run transactions", without = "--transactions=off",
      try = function(coll)
         coll.db:transaction(function()
            coll:find_one({_id = -1})
         end)
      end}}
end

-- Declares the options, commands and the global init() of a workload w:
--   options(kind)     its own options, see options.lua
--   old_names         false: its options have no 0.5 names; optional
--   bounds            their bounds, see sb/bounds.lua; optional
--   check_options(opt)  more checks of the options; optional
--   fields            names of some fields that its documents have; default:
--                     those of the OLTP mix; {}: documents are not checked
--   collections       functions that override those of documents.lua, and
--                     new_rows, deletes: true if events add or delete
--                     documents; optional
--   needs(opt)        list of {name =, without =, try = function(coll)}:
--                     operators that the server may not support, and the
--                     option that disables each, if any; optional
--   init(db, opt)     called before users start; optional
function M.declare(w)
   local function normalize(opt)
      options.normalize(opt, w.bounds)
      if w.check_options then
         w.check_options(opt)
      end
      return opt
   end

   if sysbench.cmdline.main_state then
      sysbench.cmdline.options = options.declarations(w.options,
         w.old_names ~= false)
   end
   require("sb.own_commands").declare(M.of(derive(w.collections or {})),
      normalize)

   function init() -- luacheck: globals init
      local opt, db = normalize(sysbench.opt), workload.connect()
      local coll = check_collections(db, opt, w.fields or {"k", "c", "pad"})
      for _, operator in ipairs(w.needs and w.needs(opt) or {}) do
         probe(db, coll, operator)
      end
      if w.init then
         w.init(db, opt)
      end
      db:disconnect()
   end
end

return M
