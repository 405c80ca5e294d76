-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.mongodb: documents. Every method writes a command with bson.lua, or
-- puts values into a compiled command, and C runs it. This module has the
-- functions that scripts with compiled commands call in events.

local lib, driver, api = ...
local ffi = require("ffi")

local type, select = type, select

-- enum sbmo_doc_type
local NULL, INT, DOUBLE, TEXT, BOOL = 0, 1, 2, 3, 4
local int64 = ffi.typeof("int64_t")
local new_values = ffi.typeof("struct sbmo_doc_value[?]")
local new_execution = ffi.typeof("struct sbmo_doc_execution")
local new_request = ffi.typeof("struct sbmo_doc_command")

local database, collection, result = {}, {}, {}

-- Returns the metatable of the objects of a class.
local function class(methods)
   return { __index = methods }
end

local database_meta, collection_meta = class(database), class(collection)
local result_meta = class(result)
local statement_meta = {}

local fail, raise = api.fail, api.raise

-- Results -----------------------------------------------------------------

local read
read = function(self, exact)
   read = api.module("bson").next
   return read(self, exact)
end

function result:next(exact)
   return read(self, exact)
end

-- LuaJIT cannot compile calls of functions of the Lua C API: each call would
-- end a trace and begin another one of 4 KB or more. Interpreting this function
-- takes little time compared to a call to a server.
jit.off(result.next)

function result:count()
   return lib.sbmo_doc_nrows(self.con)
end

result_meta.__call = function(self)
   return self:next()
end
jit.off(result_meta.__call)

-- What a write did: computed when a script reads the field.
local facts
local outcome_meta = {
   __index = function(self, name)
      facts = facts or api.module("facts")
      local fact = facts[name]
      if fact then
         return fact(rawget(self, "con"))
      end
   end
}

-- Statements --------------------------------------------------------------

-- Returns false for a value that needs more than the slot, such as a table.
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

-- Binds any number of values of any type.
local bind_all
bind_all = function(...)
   bind_all = api.module("bind")
   bind_all(...)
end

-- The usual case allocates no memory, so that no string can be collected before
-- C has read it.
local function bind(self, ...)
   local n, slots = self.n, self.slots
   if select("#", ...) < n then
      fail(("%d values are required, not %d (nil counts as a value)"):format(
         n, (select("#", ...))))
   end
   local a, b, c, d = ...
   if n > 4 or n > 0 and not set(slots[0], a) or
      n > 1 and not set(slots[1], b) or n > 2 and not set(slots[2], c) or
      n > 3 and not set(slots[3], d) then
      bind_all(set, self, ...)
   end
end

-- One function for each function that makes the results of a command.
local executors = {}

local function executor(ending)
   local execute = executors[ending]
   if not execute then
      execute = function(self, ...)
         bind(self, ...)
         api.call(self.con, lib.sbmo_doc_execute, self.execution)
         return ending(self.db)
      end
      executors[ending] = execute
   end
   return execute
end

-- Returns the command that was written, for sbmo_doc_command().
local function command(db, length, name)
   local request = db.request
   request.body, request.len = api.module("bson").buffer(), length
   request.op = name or nil
   return request
end
jit.off(command)

-- Compiles the command that was written.
local function compile(db, length, name, ending)
   if name then
      api.check_text(name, "the name of an operation")
   end
   local op = lib.sbmo_doc_compile(db.con, api.module("bson").buffer(), length,
                                   name)
   if op == nil then
      raise(db.con)
   end
   local n = lib.sbmo_doc_op_nargs(op)
   local slots = new_values(n > 0 and n or 1)
   return setmetatable({
      db = db, con = db.con, op = api.object(op), n = n, slots = slots,
      execution = new_execution(op, slots, n),
      execute = ending and executor(ending)
   }, statement_meta)
end

-- The module that writes commands.
local function build()
   return api.module("build")
end

-- Functions that make the results of compiled commands. Those of other methods
-- are in call.lua.
local endings = {}

function endings.find(db)
   return db.result
end

function endings.find_one(db)
   return db.result:next()
end

function endings.insert_one(db)
   return db.outcome
end

for _, method in ipairs{"update_one", "update_many", "replace_one",
                        "delete_one", "delete_many"} do
   endings[method] = endings.insert_one
end

function collection:compile(method, ...)
   local module = build()
   local write = module.methods[method]
   if not write then
      fail("compile() does not support the method " .. tostring(method))
   end
   local options = select(module.options_at[method], ...)
   api.module("bson").begin(self.db.con, true)
   return compile(self.db, write(self, ...),
                  options and options.op,
                  endings[method] or api.module("call").endings[method])
end

-- Databases ---------------------------------------------------------------

function database:collection(name)
   if type(name) ~= "string" or name == "" or name:find("%z") then
      fail("invalid collection name: " .. tostring(name))
   end
   return setmetatable({ db = self, name = name }, collection_meta)
end

function database:disconnect()
   return self.con:disconnect()
end

local mongodb = {}

function mongodb.wrap(con)
   if type(con) ~= "cdata" or con == nil then
      fail("wrap() requires a connection, not " .. tostring(con))
   end
   if not api.is_of(con, "mongodb") then
      fail(("the driver %s does not support documents"):format(
         con.driver:name()))
   end
   return setmetatable({
      con = con, request = new_request(),
      result = setmetatable({ con = con }, result_meta),
      outcome = setmetatable({ con = con }, outcome_meta)
   }, database_meta)
end

function mongodb.connect(options)
   local ok, con = pcall(driver.connect, driver, options)
   if not ok then -- raised at the line of the script, not at this one
      fail(con)
   end
   return mongodb.wrap(con)
end

-- For the other modules.
api.mongodb = {
   database = database, collection = collection, result = result,
   statement_meta = statement_meta, build = build,
   endings = endings, bind = bind, command = command,
   compile = compile, raise = raise
}

for _, name in ipairs{"call", "command", "collections", "transaction", "read",
                      "insert", "bulk", "modify", "index", "result"} do
   api.module("" .. name)
end

for _, module in ipairs{api.module("document"),
                        api.module("bson_types").make} do
   for name, value in pairs(module) do
      mongodb[name] = value
   end
end
mongodb.arg = api.module("bson_arg")

-- Defines the functions of 0.5 for a user (script/globals.lua).
function mongodb.legacy(me)
   api.module("legacy")(me)
end

return mongodb
