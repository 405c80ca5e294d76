-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Creates, lists, renames and drops the collections of a database.

local api = ...
local database, collection = api.mongodb.database, api.mongodb.collection

jit.off(true, true) -- see mongodb.lua

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
   local doc = api.module("bson_types").make.doc(
      "renameCollection", base .. self.name, "to", base .. name)
   for key, value in pairs(api.module("error").options(options)) do
      doc[key == "drop_target" and "dropTarget" or key] = value
   end
   self.db:admin_command(doc)
   return self.db:collection(name)
end

function collection:stats(options)
   return self.db:command("collStats", self.name, options):next()
end
