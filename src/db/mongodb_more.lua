-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The methods of sysbench.mongodb that few scripts call in events: loaded when
-- one is first used.

local sb = ...
local C = sb.C
local bson = sb.module("bson")
local my, call = sb.mongodb, sb.module("mongodb_call")
local build = my.build()
local database, collection, result = my.database, my.collection, my.result
local methods, options_at = build.methods, build.options_at
local endings = call.endings
local put, put_document, finish = bson.put, bson.put_document, bson.finish
local put_options, begin = build.put_options, build.begin
local ARRAY = 4

jit.off(true, true) -- see mongodb.lua

sb.cdef("doc", "sb_doc_affected sb_doc_transaction")

local function fail(text)
   sb.module("mongodb_error").raise(text)
end

-- Results -----------------------------------------------------------------

function result:all(exact)
   local list = {}
   for doc in function() return self:next(exact) end do
      list[#list + 1] = doc
   end
   return list
end

function result:raw()
   return bson.raw(self)
end

function result:reply()
   return bson.reply(self.con)
end

-- Reading -----------------------------------------------------------------

function methods.aggregate(coll, pipeline, options)
   local batch
   begin("aggregate", coll)
   if pipeline == nil then
      fail("aggregate() requires a pipeline")
   elseif type(pipeline) == "table" and pipeline[1] == nil then
      pipeline = bson.codes[getmetatable(pipeline) or 0] and pipeline or
         sb.module("bson_types").make.array(pipeline) -- {}: an empty pipeline
   end
   put_document("pipeline", pipeline)
   if options then
      batch = options.batch_size or options.batchSize
      for key, value in pairs(options) do
         if key ~= "batch_size" and key ~= "batchSize" then
            put_options({ [key] = value })
         end
      end
   end
   put("cursor", { batchSize = batch })
   return finish()
end

endings.aggregate, options_at.aggregate = endings.find, 2

function methods.distinct(coll, key, filter, options)
   begin("distinct", coll)
   put("key", key)
   put_document("query", filter)
   put_options(options or {})
   return finish()
end

function endings.distinct(db)
   return bson.field(db.con, "values") or {}
end

options_at.distinct = 3

function methods.count(coll, filter, options)
   begin("count", coll)
   put_document("query", filter)
   put_options(options or {})
   return finish()
end

function methods.estimated_count(coll, options)
   begin("count", coll, options)
   return finish()
end

function endings.count(db)
   return bson.field(db.con, "n")
end

endings.estimated_count = endings.count
options_at.count, options_at.estimated_count = 2, 1

-- Reading and writing at once -----------------------------------------------

-- Names of options in other commands -> in findAndModify.
local renamed = {
   projection = "fields", return_document = "new", returnDocument = "new",
   filter = "query"
}

local function put_modify_options(options)
   for key, value in pairs(options or {}) do
      local name = renamed[key] or key
      if name == "new" and type(value) == "string" then
         value = value == "after"
      end
      put_options({ [name] = value })
   end
end

local function build_modify(coll, filter, update, options)
   begin("findAndModify", coll)
   put_document("query", filter)
   if update == nil then
      put("remove", true)
   else
      put_document("update", update)
   end
   put_modify_options(options)
   return finish()
end

function methods.find_one_and_update(coll, filter, update, options)
   build.check_update(update)
   return build_modify(coll, filter, update, options)
end

function methods.find_one_and_replace(coll, filter, document, options)
   if document == nil then
      fail("find_one_and_replace() requires a document")
   end
   return build_modify(coll, filter, document, options)
end

function methods.find_one_and_delete(coll, filter, options)
   return build_modify(coll, filter, nil, options)
end

function methods.find_and_modify(coll, options)
   begin("findAndModify", coll)
   put_modify_options(options)
   return finish()
end

function endings.find_and_modify(db)
   local value = bson.field(db.con, "value")
   if value ~= sb.module("bson_types").make.null then
      return value
   end
end

for name, at in pairs{find_one_and_update = 3, find_one_and_replace = 3,
                      find_one_and_delete = 2, find_and_modify = 1} do
   endings[name], options_at[name] = endings.find_and_modify, at
end

-- Many documents ------------------------------------------------------------

local BATCH, BATCH_BYTES = 1000, 12 * 1024 * 1024

-- Writes documents from number `first` on, up to the limits of one command;
-- returns the number of the next one.
local function put_batch(documents, first, stop)
   local i = first
   while i <= stop and i - first < BATCH and bson.length() < BATCH_BYTES do
      local value = documents[i]
      if value == nil then
         fail(("insert_many(): document %d is nil"):format(i))
      end
      put_document(tostring(i - first), value)
      i = i + 1
   end
   return i
end

local function build_insert(coll, documents, options, first, stop)
   begin("insert", coll, options)
   bson.open(ARRAY, "documents")
   local next_one = put_batch(documents, first, stop)
   finish()
   return finish(), next_one
end

function methods.insert_many(coll, documents, options)
   local length, next_one = build_insert(coll, documents, options, 1,
                                         #documents)
   if next_one <= #documents then
      fail("too many documents for one command: use a bulk")
   end
   return length
end

endings.insert_many, options_at.insert_many = endings.insert_one, 2

-- Unordered: after a failed command the others are sent too, and the first
-- error is raised at the end.
function collection:insert_many(documents, options)
   build.need(documents, "an array of documents")
   if type(documents) == "table" and documents[1] == nil and
      next(documents) ~= nil then
      fail("insert_many() requires an array of documents (insert_one() " ..
           "inserts one document)")
   end
   local db, first, stop = self.db, 1, #documents
   local goes_on = options and options.ordered == false
   local inserted, failed = 0, nil
   while first <= stop do
      bson.begin(db.con)
      local length, next_one = build_insert(self, documents, options, first,
                                            stop)
      local ok, err = pcall(call.run, db, length, options and options.op)
      if not ok then
         failed = failed or err
         if not goes_on then
            break
         end
      end
      inserted = inserted + C.sb_doc_affected(db.con)
      first = next_one
   end
   if failed then
      error(failed, 0)
   end
   return { inserted = inserted }
end

for name in pairs(options_at) do
   if not rawget(collection, name) then
      call.define(name)
   end
end

-- Commands --------------------------------------------------------------------

local function build_command(document)
   if type(document) == "table" and
      bson.codes[getmetatable(document) or 0] == nil then
      local first = next(document)
      if first == nil or next(document, first) ~= nil then
         fail("the first key of a command is its name, but the keys of a " ..
              "Lua table have no order: use mongodb.doc() or JSON")
      end
   end
   return bson.root(document)
end

-- Writes the command; returns its length and its operation.
local function any_command(a, b, c)
   if type(a) ~= "string" or a:find("^%s*{") then
      return build_command(a), b
   end
   put(a, b == nil and 1 or b)
   if c then
      put_options(c)
   end
   return finish(), c and c.op
end

local function command(db, other, a, b, c)
   bson.begin(db.con)
   local length, op = any_command(a, b, c)
   if other then
      bson.reopen()
      put("$db", other)
      length = finish()
   end
   call.run(db, length, op)
   return db.result
end

function database:command(a, b, c)
   return command(self, nil, a, b, c)
end

function database:admin_command(a, b, c)
   return command(self, "admin", a, b, c)
end

function database:compile(document, op)
   bson.begin(self.con, true)
   return my.compile(self, build_command(document), op, endings.find)
end

-- Collections of a database -----------------------------------------------

function database:list_collections(filter)
   return self:command("listCollections", 1, { filter = filter or {} }):all()
end

-- The name is part of the namespace in a reply: "name.$cmd.listCollections".
function database:name()
   local reply = self:command("listCollections", 1, {
      nameOnly = true, filter = { name = "" }
   }):reply()
   return reply.cursor.ns:match("^[^.]*")
end

function database:create_collection(name, options)
   self:command("create", name, options)
   return self:collection(name)
end

function database:drop_database()
   self:command("dropDatabase")
end

function collection:exists()
   -- Some servers ignore the filter.
   for _, found in ipairs(self.db:list_collections({ name = self.name })) do
      if found.name == self.name then
         return true
      end
   end
   return false
end

function collection:drop()
   if not self:exists() then
      return false
   end
   self.db:command("drop", self.name)
   return true
end

function collection:rename(name, options)
   local base = self.db:name() .. "."
   local doc = sb.module("bson_types").make.doc(
      "renameCollection", base .. self.name, "to", base .. name)
   for key, value in pairs(options or {}) do
      doc[key == "drop_target" and "dropTarget" or key] = value
   end
   self.db:admin_command(doc)
   return self.db:collection(name)
end

function collection:stats(options)
   return self.db:command("collStats", self.name, options):next()
end

-- Transactions ------------------------------------------------------------

local BEGIN, COMMIT, ABORT = 0, 1, 2

local function step(db, which, options)
   local bytes, length
   if options then
      bson.begin(db.con)
      put_options(options)
      length = finish()
      bytes = bson.buffer()
   end
   if C.sb_doc_transaction(db.con, which, bytes, length or 0) ~= 0 then
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

-- Other modules -----------------------------------------------------------

local function from(module, methods_of, names)
   for _, name in ipairs(names) do
      methods_of[name] = function(...)
         return sb.module(module)[name](...)
      end
   end
end

from("mongodb_index", collection, { "create_index", "create_indexes",
                                    "list_indexes", "drop_index",
                                    "drop_indexes" })
from("mongodb_bulk", collection, { "bulk" })

local more = {}

function more.encode(document, db)
   bson.begin(db and db.con)
   bson.root(document)
   return bson.bytes()
end

function more.decode(bytes, exact)
   return bson.decode(bytes, exact)
end

function more.compile_document(db, document)
   bson.begin(db.con, true)
   return my.compile(db, bson.root(document))
end

return more
