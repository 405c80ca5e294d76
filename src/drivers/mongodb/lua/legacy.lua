-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The global functions mongodb_* of a branch of sysbench 0.5. They use the
-- connection of db_connect(), with commands compiled once for each collection.
-- Errors of the server are counted and logged but not raised: the event
-- continues, and the function returns nothing instead of its last argument.

local api = ...
local lib = api.lib

-- me: what the program keeps of the user.
return function(me)

local C = require("ffi").C
local sysbench, globals = me.sysbench, me.globals
local mongodb = sysbench.mongodb
local my, bson = api.mongodb, api.module("bson")
assert(sysbench.db) -- script/legacy.lua
local arg, doc = mongodb.arg, mongodb.doc
local legacy = {}

local UNCOUNTED = "" -- no statistics, for functions that only load
local db, con        -- the connection that `statements` belong to
local statements, bulks

local function database()
   local now = me.legacy_connection()
   if now ~= con then
      con, db = now, mongodb.wrap(now)
      statements, bulks = {}, {}
   end
   return db
end

-- Returns value after success. After a failure, which C has counted and logged,
-- resets the connection for the next command.
local function done(rc, value)
   if rc == 0 then
      return value
   end
   api.reset(con)
end

-- Returns the statement of a kind on a collection; make(coll, kind) creates it.
local function statement(kind, name, make)
   local coll = database():collection(name)
   local of_kind = statements[kind]
   if not of_kind then
      of_kind = {}
      statements[kind] = of_kind
   end
   local st = of_kind[name]
   if not st then
      st = make(coll, kind)
      of_kind[name] = st
   end
   return st
end

local function execute(st, ...)
   my.bind(st, ...)
   return api.run(con, lib.sbmo_doc_execute, st.execution)
end

local function whole(n)
   n = tonumber(n) or error("not a number: " .. tostring(n), 3)
   return n - n % 1
end

local int, text = "int32", "string"

local function row()
   return doc("_id", arg(1, int), "k", arg(2, int), "c", arg(3, text),
              "pad", arg(4, text))
end

-- Writing -----------------------------------------------------------------

local function make_insert(coll)
   return coll:compile("insert_one", row(), { op = UNCOUNTED })
end

function legacy.mongodb_insert(name, id, k, c, pad)
   local st = statement("insert", name, make_insert)
   return done(execute(st, whole(id), whole(k), c, pad), pad)
end

local function make_oltp_insert(coll, kind)
   return coll:compile("find_one_and_replace", { _id = arg(1, int) }, row(),
                       { upsert = true, op = kind })
end

function legacy.mongodb_oltp_insert(name, id, k, c, pad)
   local st = statement("oltp_insert", name, make_oltp_insert)
   return done(execute(st, whole(id), whole(k), c, pad), pad)
end

local function make_bulk(coll)
   return {
      bulk = coll:bulk{ ordered = false, op = UNCOUNTED },
      row = mongodb.compile_document(coll.db, row())
   }
end

-- One bulk for each connection and collection.
function legacy.mongodb_bulk_insert(name, id, k, c, pad)
   local one = statement("bulk", name, make_bulk)
   bulks[name] = one.bulk
   one.bulk:insert(one.row, whole(id), whole(k), c, pad)
   return pad
end

function legacy.mongodb_bulk_execute()
   local failed = false
   database()
   for name, bulk in pairs(bulks) do
      bulks[name] = nil
      local rc = api.run(con, lib.sbmo_doc_bulk_execute, bulk.handle)
      failed = done(rc, true) == nil or failed
   end
   return not failed or nil
end

local function make_remove(coll)
   return coll:compile("delete_one", { _id = arg(1, int) },
                       { op = UNCOUNTED })
end

function legacy.mongodb_remove(name, id)
   local st = statement("remove", name, make_remove)
   return done(execute(st, whole(id)), id)
end

local function make_index_update(coll, kind)
   return coll:compile("update_one", { _id = arg(1, int) },
                       { ["$inc"] = { k = 1 } }, { op = kind })
end

function legacy.mongodb_index_update(name, id)
   local st = statement("index_update", name, make_index_update)
   return done(execute(st, whole(id)), id)
end

local function make_non_index_update(coll, kind)
   return coll:compile("update_one", { _id = arg(1, int) },
                       { ["$set"] = { c = arg(2, text) } }, { op = kind })
end

local C_FORMAT = ("###########-"):rep(9) .. "###########"

function legacy.mongodb_non_index_update(name, id)
   local st = statement("non_index_update", name, make_non_index_update)
   return done(execute(st, whole(id), sysbench.rand.string(C_FORMAT)), id)
end

-- Reading -----------------------------------------------------------------

local ONLY_C = { c = 1, _id = 0 }

local function make_point(coll, kind)
   return coll:compile("find", { _id = arg(1, int) },
                       { projection = ONLY_C, op = kind })
end

function legacy.mongodb_point_select(name, id)
   local st = statement("point_select", name, make_point)
   local ok = done(execute(st, whole(id)), true)
   if ok and lib.sbmo_doc_nrows(con) > 0 then
      return id
   end
end

local BETWEEN = doc("_id", doc("$gte", arg(1, int), "$lte", arg(2, int)))

-- Defines a range query: (collection, unused, from, to), bounds included.
local function range(kind, make)
   legacy["mongodb_" .. kind] = function(name, _, from, to)
      local st = statement(kind, name, make)
      return done(execute(st, whole(from), whole(to)), to)
   end
end

range("simple_range", function(coll, kind)
   return coll:compile("find", BETWEEN, { projection = ONLY_C, op = kind })
end)

range("order_range", function(coll, kind)
   return coll:compile("find", BETWEEN, {
      projection = ONLY_C, sort = { k = 1 }, op = kind
   })
end)

range("sum_range", function(coll, kind)
   return coll:compile("aggregate", {
      { ["$match"] = BETWEEN },
      { ["$group"] = doc("_id", mongodb.null, "total", { ["$sum"] = "$k" }) }
   }, { op = kind })
end)

range("distinct_range", function(coll, kind)
   return coll:compile("distinct", "k", BETWEEN, { op = kind })
end)

-- Anything ----------------------------------------------------------------

-- Runs a command whose JSON differs in each call, so it is not compiled.
local function run(method, name, kind, ...)
   local coll = database():collection(name)
   bson.begin(con)
   local length = my.build().methods[method](coll, ...)
   return api.run(con, lib.sbmo_doc_command, my.command(db, length, kind))
end

jit.off(run) -- see mongodb.lua

function legacy.mongodb_generic_query(name, query, fields)
   local options = fields and fields ~= "" and { projection = fields } or nil
   return done(run("find", name, "generic_query", query, options),
               fields or query)
end

function legacy.mongodb_generic_insert(name, document)
   return done(run("insert_one", name, "generic_insert", document), document)
end

function legacy.mongodb_create_index(name, field)
   local ok = pcall(function()
      database():collection(name):create_index(field, { op = UNCOUNTED })
   end)
   return done(ok and 0 or 1, field)
end

function legacy.mongodb_drop_collection(name)
   local ok = pcall(function() database():collection(name):drop() end)
   return done(ok and 0 or 1, name)
end

-- Counts one operation as COMMIT does.
function legacy.mongodb_fake_commit()
   C.sb_counter_inc(sysbench.tid, C.SB_CNT_OTHER)
   return true
end

for name, value in pairs(legacy) do
   if rawget(globals, name) == nil then
      rawset(globals, name, value)
   end
end

end
