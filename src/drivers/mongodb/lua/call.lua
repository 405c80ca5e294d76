-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Methods of collections that write their command with each call.

local api = ...
local lib = api.lib
local my = api.mongodb
local bson = api.module("bson")
local build = my.build()
local methods, options_at = build.methods, build.options_at
local call = { build = build } -- kept: other modules add methods to it

jit.off(true, true) -- see mongodb.lua

-- What methods return -----------------------------------------------------

local endings = {
   find = my.endings.find, find_one = my.endings.find_one
}
call.endings = endings

local function fact(db, name)
   return db.outcome[name]
end

function endings.insert_one(db)
   return { inserted = fact(db, "inserted") }
end

function endings.update_one(db)
   return {
      matched = fact(db, "matched"), modified = fact(db, "modified"),
      upserted = fact(db, "upserted"), upserted_id = fact(db, "upserted_id")
   }
end

function endings.delete_one(db)
   return { deleted = fact(db, "deleted") }
end

endings.update_many, endings.replace_one = endings.update_one,
   endings.update_one
endings.delete_many = endings.delete_one

-- Calls -------------------------------------------------------------------

-- Runs the command that was written.
local function run(db, length, name)
   if name then
      api.check_text(name, "the name of an operation")
   end
   api.call(db.con, lib.sbmo_doc_command, my.command(db, length, name))
end

call.run = run

-- Defines a method of collections from its three parts.
function call.define(name)
   local method, ending, at = methods[name], endings[name], options_at[name]
   my.collection[name] = function(self, a, b, c)
      local db = self.db
      bson.begin(db.con)
      local length = method(self, a, b, c)
      local options = at == 1 and a or at == 2 and b or at == 3 and c
      run(db, length, options and options.op)
      return ending(db)
   end
end

for name in pairs(options_at) do
   call.define(name)
end

return call
