-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.mongodb: documents. Every method writes a command into the buffer
-- of bson.lua, or puts values into one that was compiled before, and C runs it.
-- Here is what nearly every script with documents calls; the rest comes when
-- it is touched first.

local sb = ...
local ffi, C = sb.ffi, sb.C
local sysbench = sb.sysbench
assert(sysbench.sql) -- declares connections

local bson = sb.module("bson")
local put, put_document, finish = bson.put, bson.put_document, bson.finish
local type, select = type, select

sb.cdef("doc", "sb_doc_has sb_doc_command sb_doc_name sb_doc_compile " ..
        "sb_doc_op_nargs sb_doc_op_free sb_doc_execute sb_doc_nrows " ..
        "sb_doc_affected sb_doc_next sb_doc_reply")

-- enum sb_doc_type
local NULL, INT, DOUBLE, TEXT, BOOL, ELEMENT = 0, 1, 2, 3, 4, 5
local ARRAY = 4 -- of BSON
local int64 = ffi.typeof("int64_t")
local new_values = ffi.typeof("struct sb_doc_value[?]")

-- Methods. Classes find what is not here in mongodb_more.
local function class()
   local methods = {}
   return methods, {
      __index = setmetatable(methods, {
         __index = function(self, name)
            setmetatable(self, nil)
            sb.module("mongodb_more")
            return self[name]
         end
      })
   }
end

local database, database_meta = class()
local collection, collection_meta = class()
local result, result_meta = class()

-- What the last call met.
local function raise(con)
   sb.module("mongodb_error").raise_con(con)
end

-- Options -----------------------------------------------------------------

local names = { op = "", max_time_ms = "maxTimeMS" }

-- The server's spelling; "" for an option that is none of the server's.
local function name_of(key)
   local name = tostring(key):gsub("_(%l)", string.upper)
   names[key] = name
   return name
end

-- Those that belong to one write, not to the command.
local of_element = {
   upsert = true, arrayFilters = true, collation = true, hint = true,
   sort = true
}

-- Appends options; part: true those of a write, false the others, nil all.
local function put_options(pos, options, part, depth)
   for key, value in pairs(options) do
      local name = names[key] or name_of(key)
      if name ~= "" and (part == nil or part == (of_element[name] or false))
      then
         if type(value) == "string" and name ~= "comment" and
            value:find("^%s*[{%[]") then
            pos = put_document(pos, name, value, depth)
         else
            pos = put(pos, name, value, depth)
         end
      end
   end
   return pos
end

-- Commands ----------------------------------------------------------------
--
-- build(coll, ...) writes the command that begins at 4 and returns its length;
-- finish(db) says what became of it; options: which argument they are.

local methods = {}

local function command_of(name, coll)
   return put(4, name, coll.name, 1)
end

function methods.find(coll, filter, options)
   local pos = put_document(command_of("find", coll), "filter", filter, 1)
   if options then
      pos = put_options(pos, options, nil, 1)
   end
   return finish(0, pos)
end

function methods.find_one(coll, filter, options)
   local pos = put_document(command_of("find", coll), "filter", filter, 1)
   if options then
      pos = put_options(pos, options, nil, 1)
   end
   pos = put(pos, "limit", 1, 1)
   pos = put(pos, "singleBatch", true, 1)
   return finish(0, pos)
end

-- What a write cannot do without: an empty document is no stand-in.
local function need(value, what)
   if value == nil then
      sb.module("mongodb_error").raise("this needs " .. what)
   end
end

function methods.insert_one(coll, document, options)
   need(document, "a document to insert")
   local pos = command_of("insert", coll)
   if options then
      pos = put_options(pos, options, nil, 1)
   end
   local list = bson.open(pos, ARRAY, "documents", 1)
   pos = put_document(list + 4, "0", document, 2)
   return finish(0, finish(list, pos))
end

-- One element of "updates", from pos on.
local function put_update(pos, filter, update, options, multi, depth)
   pos = put_document(pos, "q", filter, depth)
   pos = put_document(pos, "u", update, depth)
   if options then
      pos = put_options(pos, options, true, depth)
   end
   return multi and put(pos, "multi", true, depth) or pos
end

local function build_update(coll, filter, update, options, multi)
   local pos = command_of("update", coll)
   if options then
      pos = put_options(pos, options, false, 1)
   end
   local list = bson.open(pos, ARRAY, "updates", 1)
   local element = bson.open(list + 4, 3, "0", 2)
   pos = put_update(element + 4, filter, update, options, multi, 3)
   return finish(0, finish(list, finish(element, pos)))
end

-- What an update that is a table must begin with: without it, it would
-- replace the document.
local function check_update(update)
   need(update, "an update, after the filter")
   if type(update) == "table" and update[1] == nil then
      local key = next(update)
      if key == nil or type(key) == "string" and key:byte() ~= 36 and
         bson.codes[getmetatable(update) or 0] ~= 3 and
         not update.text then
         sb.module("mongodb_error").raise(("an update has operators like " ..
            "$set, not %s: use replace_one()"):format(tostring(key)))
      end
   end
end

function methods.update_one(coll, filter, update, options)
   check_update(update)
   return build_update(coll, filter, update, options)
end

function methods.update_many(coll, filter, update, options)
   check_update(update)
   return build_update(coll, filter, update, options, true)
end

function methods.replace_one(coll, filter, document, options)
   need(document, "a document, after the filter")
   return build_update(coll, filter, document, options)
end

-- One element of "deletes".
local function put_delete(pos, filter, options, limit, depth)
   pos = put_document(pos, "q", filter, depth)
   pos = put(pos, "limit", limit, depth)
   return options and put_options(pos, options, true, depth) or pos
end

local function build_delete(coll, filter, options, limit)
   local pos = command_of("delete", coll)
   if options then
      pos = put_options(pos, options, false, 1)
   end
   local list = bson.open(pos, ARRAY, "deletes", 1)
   local element = bson.open(list + 4, 3, "0", 2)
   pos = put_delete(element + 4, filter, options, limit, 3)
   return finish(0, finish(list, finish(element, pos)))
end

function methods.delete_one(coll, filter, options)
   return build_delete(coll, filter, options, 1)
end

function methods.delete_many(coll, filter, options)
   return build_delete(coll, filter, options, 0)
end

-- Results -----------------------------------------------------------------

local doc, len = ffi.new("const uint8_t *[1]"), ffi.new("size_t[1]")

-- The next document at doc[0], len[0] bytes; false after the last one.
local function advance(con)
   local rc = C.sb_doc_next(con, doc, len)
   if rc < 0 then
      raise(con)
   end
   return rc == 1
end

function result:next(exact)
   if advance(self.con) then
      return sb.module("bson_read").document(doc[0], tonumber(len[0]), exact)
   end
end

function result:count()
   return C.sb_doc_nrows(self.con)
end

function result_meta.__call(self)
   return self:next()
end

-- Of the reply to the last command; nil when there is no such field.
local function reply_field(con, name)
   local p = C.sb_doc_reply(con, len)
   if p ~= nil then
      return sb.module("bson_read").field(p, tonumber(len[0]), name)
   end
end

-- What a write did: worked out when it is asked for.
local facts = {}

function facts.inserted(con)
   return C.sb_doc_affected(con)
end

facts.deleted = facts.inserted

function facts.upserted(con)
   local list = reply_field(con, "upserted")
   return list and #list or 0
end

function facts.upserted_id(con)
   local list = reply_field(con, "upserted")
   return list and list[1] and list[1]._id
end

function facts.matched(con)
   return (reply_field(con, "n") or 0) - facts.upserted(con)
end

function facts.modified(con)
   return reply_field(con, "nModified") or 0
end

local outcome_meta = {
   __index = function(self, name)
      local fact = facts[name]
      if fact then
         return fact(rawget(self, "con"))
      end
   end
}

-- Statements --------------------------------------------------------------

local statement, statement_meta = class()

-- False for what takes memory: a table.
local function set(slot, value)
   local kind = type(value)
   if kind == "number" then
      slot.type, slot.d = DOUBLE, value
   elseif kind == "string" then
      slot.type, slot.len, slot.s = TEXT, #value, value
   elseif kind == "nil" then
      slot.type = NULL
   elseif kind == "boolean" then
      slot.type, slot.i = BOOL, value and 1 or 0
   elseif kind == "cdata" and ffi.istype(int64, value) then
      slot.type, slot.i = INT, value
   else
      return false
   end
   return true
end

-- Any number of values of any type. What C points into stays in self.hold:
-- writing a value may collect garbage.
local function bind_all(self, ...)
   local slots, hold = self.slots, {}
   self.hold = hold
   for i = 1, self.n do
      local value = select(i, ...)
      hold[i] = value
      if not set(slots[i - 1], value) then
         bson.begin(self.con)
         local stop = put(4, "", value, 1)
         local buf = bson.buffer()
         buf[5] = buf[4]
         hold[i] = ffi.string(buf + 5, stop - 5)
         slots[i - 1].type, slots[i - 1].len = ELEMENT, stop - 5
         slots[i - 1].s = hold[i]
      end
   end
end

-- The usual case allocates nothing, so that no string is collected before C
-- has read it.
local function bind(self, ...)
   local n, slots = self.n, self.slots
   if select("#", ...) < n then
      sb.module("mongodb_error").raise(("%d values are needed, not %d; nil " ..
         "is one, too"):format(n, (select("#", ...))))
   end
   local a, b, c, d = ...
   if n > 4 or n > 0 and not set(slots[0], a) or
      n > 1 and not set(slots[1], b) or n > 2 and not set(slots[2], c) or
      n > 3 and not set(slots[3], d) then
      bind_all(self, ...)
   end
end

-- One function for each way to end a command.
local executors = {}

local function executor(ending)
   local execute = executors[ending]
   if not execute then
      execute = function(self, ...)
         bind(self, ...)
         if C.sb_doc_execute(self.op, self.slots, self.n) ~= 0 then
            raise(self.con)
         end
         return ending(self.db)
      end
      executors[ending] = execute
   end
   return execute
end

-- Of what is in the buffer.
local function compile(db, length, name, ending)
   local op = C.sb_doc_compile(db.con, bson.buffer(), length, name)
   if op == nil then
      raise(db.con)
   end
   local n = C.sb_doc_op_nargs(op)
   return setmetatable({
      db = db, con = db.con, op = ffi.gc(op, C.sb_doc_op_free), n = n,
      slots = new_values(n > 0 and n or 1),
      execute = ending and executor(ending)
   }, statement_meta)
end

-- What methods return -----------------------------------------------------

local endings = { compiled = {} } -- compiled: where it is another thing

function endings.find(db)
   return db.result
end

function endings.find_one(db)
   return db.result:next()
end

function endings.insert_one(db)
   return { inserted = facts.inserted(db.con) }
end

function endings.update_one(db)
   local con = db.con
   return {
      matched = facts.matched(con), modified = facts.modified(con),
      upserted = facts.upserted(con), upserted_id = facts.upserted_id(con)
   }
end

function endings.delete_one(db)
   return { deleted = facts.deleted(db.con) }
end

local function outcome(db)
   return db.outcome
end

for _, method in ipairs{"insert_one", "update_one", "delete_one"} do
   endings.compiled[method] = outcome
end
for same, method in pairs{update_many = "update_one",
                          replace_one = "update_one",
                          delete_many = "delete_one"} do
   endings[same], endings.compiled[same] = endings[method], outcome
end

-- Which argument of a method the options are.
local options_at = {
   find = 2, find_one = 2, insert_one = 2, update_one = 3, update_many = 3,
   replace_one = 3, delete_one = 2, delete_many = 2
}

-- Calls -------------------------------------------------------------------

local function op_of(db, name)
   local op = db.names[name]
   if op == nil then
      op = C.sb_doc_name(db.con, name)
      db.names[name] = op
   end
   return op
end

-- Runs what is in the buffer.
local function run(db, length, name)
   local op = name and op_of(db, name) or nil
   if C.sb_doc_command(db.con, bson.buffer(), length, op) ~= 0 then
      raise(db.con)
   end
end

-- A method of collections out of its three parts.
local function define(name)
   local build, ending, at = methods[name], endings[name], options_at[name]
   collection[name] = function(self, a, b, c)
      local db = self.db
      bson.begin(db.con)
      local length = build(self, a, b, c)
      local options = at == 1 and a or at == 2 and b or at == 3 and c
      run(db, length, options and options.op)
      return ending(db)
   end
end

for name in pairs(options_at) do
   define(name)
end

function collection:compile(method, ...)
   local build = methods[method]
   if not build then
      sb.module("mongodb_more")
      build = methods[method]
   end
   if not build then
      sb.module("mongodb_error").raise("compile() knows no method " ..
         tostring(method))
   end
   local options = select(options_at[method], ...)
   bson.begin(self.db.con, true)
   return compile(self.db, build(self, ...), options and options.op,
                  endings.compiled[method] or endings[method])
end

-- Databases ---------------------------------------------------------------

function database:collection(name)
   if type(name) ~= "string" or name == "" or name:find("%z") then
      sb.module("mongodb_error").raise("no name of a collection: " ..
         tostring(name))
   end
   return setmetatable({ db = self, name = name }, collection_meta)
end

function database:disconnect()
   return self.con:disconnect()
end

local mongodb = setmetatable({}, {
   __index = function(self, name)
      local value
      if name == "arg" then
         value = sb.module("bson_arg")
      else
         value = sb.module("bson_types").make[name]
      end
      if value == nil then
         value = sb.module("mongodb_more")[name]
      end
      rawset(self, name, value)
      return value
   end
})

function mongodb.wrap(con)
   if type(con) ~= "cdata" or con == nil then
      sb.module("mongodb_error").raise("wrap() needs a connection, not " ..
         tostring(con))
   end
   if C.sb_doc_has(con) == 0 then
      sb.module("mongodb_error").raise(("the driver %s has no documents"):
         format(con.driver:name()))
   end
   return setmetatable({
      con = con, names = {},
      result = setmetatable({ con = con }, result_meta),
      outcome = setmetatable({ con = con }, outcome_meta)
   }, database_meta)
end

function mongodb.connect(options)
   local driver = sysbench.sql.driver("mongodb")
   local ok, con = pcall(driver.connect, driver, options)
   if not ok then -- at the script's line, not at this one
      sb.module("mongodb_error").raise(con)
   end
   return mongodb.wrap(con)
end

-- For mongodb_more.lua.
sb.mongodb = {
   database = database, collection = collection, result = result,
   statement = statement, statement_meta = statement_meta, methods = methods,
   endings = endings, options_at = options_at, define = define, run = run,
   bind = bind, compile = compile, raise = raise, advance = advance,
   doc = doc, len = len, reply_field = reply_field,
   put_options = put_options, put_update = put_update,
   put_delete = put_delete, check_update = check_update, need = need,
   command_of = command_of
}

return mongodb
