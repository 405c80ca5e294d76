-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Indexes of collections.

local api = ...
local bson = api.module("bson")
local make = api.module("bson_types").make
local collection = api.mongodb.collection
local check_options = api.module("error").options

-- The server's names of options.
local renamed = {
   partial = "partialFilterExpression", ttl = "expireAfterSeconds"
}
-- Options of the command; all others belong to the index.
local of_command = {
   op = true, comment = true, max_time_ms = true, maxTimeMS = true,
   commit_quorum = true, commitQuorum = true, write_concern = true,
   writeConcern = true
}

-- Returns an ordered document of the keys, and the server's default name.
local function keys_of(db, keys)
   if type(keys) == "string" and not keys:find("^%s*{") then
      keys = { [keys] = 1 }
   end
   bson.begin(db.con)
   bson.root(keys)
   local doc = bson.decode(bson.bytes(), true)
   local name = ""
   for _, key in ipairs(bson.order[doc]) do
      local value = doc[key]
      if type(value) == "cdata" then
         value = tonumber(value)
      end
      name = name .. (name == "" and "" or "_") .. key .. "_" ..
         tostring(value)
   end
   if name == "" then
      api.module("error").raise("an index requires a key")
   end
   return doc, name
end

local function camel(key)
   return renamed[key] or (key:gsub("_(%l)", string.upper))
end

local function definition(db, keys, options)
   local doc, name = keys_of(db, keys)
   local def = make.doc("key", doc, "name", options.name or name)
   for key, value in pairs(options) do
      if key ~= "keys" and not of_command[key] then
         if key == "partial" and type(value) == "string" then
            value = make.json(value)
         end
         def[camel(key)] = value
      end
   end
   return def
end

local function create(coll, list, options)
   local rest, names = {}, {}
   for key, value in pairs(options) do
      rest[key] = of_command[key] and value or nil
   end
   rest.indexes = list
   for i, def in ipairs(list) do
      names[i] = def.name
   end
   coll.db:command("createIndexes", coll.name, rest)
   return names
end

function collection:create_index(keys, options)
   options = check_options(options)
   return create(self, { definition(self.db, keys, options) }, options)[1]
end

function collection:create_indexes(list, options)
   local defs = {}
   options = check_options(options)
   if type(list) ~= "table" then
      api.module("error").raise("create_indexes() takes a list of " ..
         "indexes, such as {{keys = {k = 1}}}, not a " .. type(list))
   end
   for i, one in ipairs(list) do
      defs[i] = definition(self.db, one.keys, one)
   end
   return create(self, defs, options)
end

function collection:list_indexes()
   return self.db:command("listIndexes", self.name):all()
end

function collection:drop_index(which)
   if type(which) ~= "string" or which:find("^%s*{") then
      which = keys_of(self.db, which)
   end
   self.db:command("dropIndexes", self.name, { index = which })
end

function collection:drop_indexes()
   self.db:command("dropIndexes", self.name, { index = "*" })
end
