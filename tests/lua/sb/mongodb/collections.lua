-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The collections of the workloads on documents: their options, the commands
-- that create, fill, check and drop them, and the checks before a run. Unless a
-- workload describes others, the documents are {_id, k, c, pad} with the values
-- of the rows of sb/sbtest.lua.

local old_names = require("sb.old_names")
local options = require("sb.options")
local sbtest = require("sb.sbtest")
local tables = require("sb.tables")

local M = {
   name = sbtest.name, -- of collection n
   c_format = sbtest.c_format,
   pad_format = sbtest.pad_format,
}

local print = tables.print

-- Options --------------------------------------------------------------------

-- Adds the options that all workloads on documents have. Returns the options.
function M.with_common(own)
   local int = sysbench.cmdline.ARG_INT
   local common = {
      -- Ids are int32, as in collections of older versions.
      table_size = {"Documents per collection", 10000, int,
         min = 0, max = 2147483647},
      tables = {"Number of collections", 1, int, min = 1, max = 1e6},
      bulk_size = {"Documents per insert command of prepare, at most 1,000",
         1000, int, min = 1, max = 1000},
      check_tables = options.with_table_options{}.check_tables,
      create_secondary = {"Create the secondary indexes", true},
   }
   for name, option in pairs(common) do
      own[name] = own[name] or option
   end
   return own
end

-- The same with the 0.5 names of all options, for sysbench.cmdline.options.
function M.options(own)
   return old_names.add(M.with_common(own))
end

-- Returns sysbench.opt with the values given under 0.5 names.
function M.settings()
   return old_names.rename(sysbench.opt)
end

-- Connections ----------------------------------------------------------------

-- Opens a connection and returns its database.
function M.connect()
   local drv = sysbench.sql.driver()
   if drv:dialect() ~= "mongodb" then
      error(string.format("this workload needs a MongoDB server: give " ..
         "--mongo-url (current driver: %s)", drv:name()), 0)
   end
   return sysbench.mongodb.wrap(drv:connect())
end

-- Opens a connection. Returns its database and the settings.
function M.open()
   return M.connect(), M.settings()
end

-- Returns a list whose element n is make(coll, n) for collection n. It is made
-- when it is first used.
function M.per_collection(db, opt, make)
   return setmetatable({}, {__index = function(list, n)
      list[n] = make(db:collection(M.name(opt, n)), n)
      return list[n]
   end})
end

-- Returns a random id of the documents that prepare created.
function M.draw_id(opt)
   local size = opt.table_size
   return sysbench.rand.default(1, size < 1 and 1 or size)
end

-- Returns the highest id of a collection that is a number, at least 0.
function M.last_id(coll)
   local last = coll:find_one({_id = {["$type"] = "number"}},
      {sort = {_id = -1}, projection = {_id = 1}})
   return last and math.max(last._id, 0) or 0
end

-- Returns coll:compile(...), whose arguments contain the JSON of options.
-- where: these options, for messages. max: the number of values that the
-- workload passes; values of higher placeholders would be null.
function M.compile_json(where, max, coll, ...)
   local ok, command = pcall(coll.compile, coll, ...)
   if not ok then
      local con = coll.db.con
      local why = con.sql_errmsg ~= nil and ffi.string(con.sql_errmsg) or ""
      error(where .. ": " .. (why ~= "" and why or tostring(command)), 0)
   elseif command.n > max then
      error(string.format('%s: {"$arg": %d} has no value; the maximum is ' ..
         '{"$arg": %d}', where, command.n, max), 0)
   end
   return command
end

-- Descriptions of collections ------------------------------------------------

-- Returns a loader for documents that are not rows: put(...) takes the values
-- for the placeholders in `document`.
function M.loader(con, opt, n, document)
   local mongodb = sysbench.mongodb
   local db = mongodb.wrap(con)
   local compiled = mongodb.compile_document(db, document)
   local bulk = db:collection(M.name(opt, n)):bulk{ordered = false}
   local loader = {}
   function loader.put(_, ...)
      bulk:insert(compiled, ...)
      if bulk:count() >= opt.bulk_size then
         bulk:execute()
      end
   end
   function loader.close(_, commit)
      if commit ~= false and bulk:count() > 0 then
         bulk:execute()
      end
   end
   return loader
end

function M.create_index(con, opt, n, keys, index_options)
   sysbench.mongodb.wrap(con):collection(M.name(opt, n)):create_index(keys,
      index_options)
end

-- Returns what is wrong with a document {_id, k, c, pad}; nil if it is correct.
local function wrong_row(doc, opt, new_rows)
   if type(doc._id) ~= "number" then
      return "_id is not a number"
   elseif type(doc.k) ~= "number" then
      return "k is not a number"
   elseif type(doc.c) ~= "string" or #doc.c ~= #M.c_format then
      return "c is not a string of " .. #M.c_format .. " characters"
   elseif type(doc.pad) ~= "string" or #doc.pad ~= #M.pad_format then
      return "pad is not a string of " .. #M.pad_format .. " characters"
   elseif not new_rows and (doc._id < 1 or doc._id > opt.table_size) then
      return "_id is not from 1 to " .. opt.table_size
   end
end

-- Returns what is wrong with doc.items; nil if it is correct. There must be
-- --array-size items {n = 1, ...}, {n = 2, ...} and so on, and the sum of their
-- `field` must be `counted`.
function M.wrong_items(doc, opt, field, counted)
   local sum = 0
   if #doc.items ~= opt.array_size then
      return string.format("it has %d items, expected %d", #doc.items,
         opt.array_size)
   end
   for i, item in ipairs(doc.items) do
      if item.n ~= i then
         return "item " .. i .. " is not in its place"
      end
      sum = sum + item[field]
   end
   if sum ~= counted then
      return string.format("the sum of the items' %s is %d, expected %d",
         field, sum, counted)
   end
end

-- What a description does not define.
local defaults = {
   name = M.name, table_word = "collection", rows_word = "documents",
   fill = sbtest.description().fill,
}

-- Documents that a thread takes at a time: those of one insert command.
-- Inserting documents is slow, so with more the last thread would end later.
function defaults.block(opt)
   return opt.bulk_size
end

-- Creates collection n without documents.
function M.create(con, _, opt, n)
   local name = M.name(opt, n)
   local db = sysbench.mongodb.wrap(con)
   if db:collection(name):exists() then
      error(string.format("Collection '%s' exists already. Remove it with " ..
         "the 'cleanup' command, or use another database.", name), 0)
   end
   print("Creating collection '%s'...", name)
   db:create_collection(name)
end

defaults.create = M.create

function defaults.announce_rows(opt, n)
   print("Inserting %d documents into '%s'", opt.table_size, M.name(opt, n))
end

function defaults.loader(con, opt, n)
   local loader = con:load(M.name(opt, n), "_id,k,c,pad")
   loader:block(opt.bulk_size)
   return loader
end

function defaults.indexes(n)
   return {{{k = 1}, {name = "k_" .. n}}}
end

function defaults.discard(con, opt, n)
   pcall(con.reset, con)
   return (pcall(function()
      sysbench.mongodb.wrap(con):collection(M.name(opt, n)):drop()
   end))
end

-- Completes the description of a workload's collections, a table for the
-- functions below and for sb/tables.lua, and returns it. All fields are
-- optional:
--   indexes(n)       list of the arguments of create_index() for collection n;
--                    default: an index on k
--   loader(con, opt, n)   returns a loader for collection n; see M.loader()
--   fill(loader, opt, n, first, last)   puts the documents first..last into it;
--                    their values depend only on n and the number
--   wrong(doc, opt)  returns what is wrong with a document; nil if correct
--   check_more(coll, opt, n)   checks more of the collection
--   new_rows, deletes   true if events add or delete documents
--   create, finish, discard   see describe() of sb/tables.lua
function M.describe(own)
   local t = setmetatable(own, {__index = defaults})

   t.wrong = t.wrong or function(doc, opt)
      return wrong_row(doc, opt, t.new_rows)
   end

   t.finish = t.finish or function(con, _, opt, n)
      for _, index in ipairs(opt.create_secondary and t.indexes(n) or {}) do
         print("Creating a secondary index on '%s'...", M.name(opt, n))
         M.create_index(con, opt, n, unpack(index))
      end
   end

   return t
end

-- Before a run ---------------------------------------------------------------

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

local function require_collections(db, opt)
   local exists = {}
   for _, coll in ipairs(db:list_collections()) do
      exists[coll.name] = true
   end
   for n = 1, opt.tables do
      if not exists[M.name(opt, n)] then
         error(string.format("collection '%s' does not exist: create it " ..
            "with: %s", M.name(opt, n),
            sysbench.cmdline.command_line("prepare")), 0)
      end
   end
end

-- Checks that all collections exist and that the documents have the fields,
-- unless --check-tables=off: otherwise events would find nothing and look fast.
-- Returns the first collection. fields: empty if the documents may be any.
function M.require_all(db, opt, fields)
   local coll = db:collection(M.name(opt, 1))
   if not opt.check_tables then
      return coll
   end
   require_collections(db, opt)
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

-- Calls try(), which uses an operator that the server may not support, on
-- documents that do not exist. If it fails, the error names the operator and
-- the option that disables it, if there is one.
function M.require_operator(db, operator, disable, try)
   local ok, err = pcall(try)
   if not ok then
      local why = db.con.sql_errmsg ~= nil and ffi.string(db.con.sql_errmsg)
      error(string.format("%s cannot %s (%s)%s", db.con:server_info(),
         operator, why ~= "" and why or tostring(err),
         disable and "; disable it with " .. disable or ""), 0)
   end
end

-- For workloads with the option --transactions.
function M.require_transactions(db, opt)
   if opt.transactions then
      M.require_operator(db, "run transactions", "--transactions=off",
         function()
            db:transaction(function()
               db:collection(M.name(opt, 1)):find_one({_id = -1})
            end)
         end)
   end
end

-- Commands -------------------------------------------------------------------

local BATCH = 5000 -- documents that a server sends at a time

-- Calls f(coll, n) for the collections that this user takes.
local function each_collection(opt, f)
   local db = M.connect()
   tables.divide_work("collections", opt.tables, function(n)
      f(db:collection(M.name(opt, n)), n)
   end)
   db:disconnect()
end

-- Returns an iterator over all documents, in the order of their ids.
local function all_documents(coll)
   return coll:find({}, {sort = {_id = 1}, batch_size = BATCH})
end

local function check_document(t, opt, coll, doc)
   local ok, wrong = pcall(t.wrong, doc, opt)
   if not ok then
      wrong = "it was not created by this workload's prepare"
   end
   if wrong then
      error(string.format("%s: document %s: %s", coll.name, tostring(doc._id),
         wrong), 0)
   end
end

local function check_collection(t, opt, coll, n)
   local count = 0
   for doc in all_documents(coll) do
      check_document(t, opt, coll, doc)
      count = count + 1
   end
   if t.new_rows and count < (t.deletes and 0 or opt.table_size) or
      not t.new_rows and count ~= opt.table_size
   then
      error(string.format("%s: %d documents, expected %s%d", coll.name, count,
         t.new_rows and "at least " or "", opt.table_size), 0)
   end
   if t.check_more then
      t.check_more(coll, opt, n)
   end
   print("%s: %d documents, all correct", coll.name, count)
end

-- The command cleanup.
function M.cleanup(opt)
   local db = M.connect()
   for n = 1, opt.tables do
      print("Dropping collection '%s'...", M.name(opt, n))
      db:collection(M.name(opt, n)):drop()
   end
   db:disconnect()
end

-- Declares the commands of a workload. t: see describe(). check_options(opt)
-- checks options that depend on each other; optional.
function M.declare_commands(t, check_options)
   local commands = {cleanup = M.cleanup}

   function commands.prepare(opt)
      local db = M.connect()
      tables.prepare(db.con, nil, opt, t)
      db:disconnect()
   end

   function commands.warmup(opt)
      each_collection(opt, function(coll)
         print("Preloading collection %s", coll.name)
         for _ in all_documents(coll) do end
      end)
   end

   function commands.check(opt)
      each_collection(opt, function(coll, n)
         check_collection(t, opt, coll, n)
      end)
   end

   tables.declare_commands(commands, function(opt)
      old_names.rename(opt)
      if check_options then
         check_options(opt)
      end
   end)
end

-- Creates and fills the collections first, first + step and so on, one after
-- the other, without other users.
function M.build(t, opt, first, step)
   local db = M.connect()
   for n = first, opt.tables, step do
      tables.build(db.con, nil, opt, t, n)
   end
   db:disconnect()
end

return M
