-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Commands that a script writes.

local api = ...
local bson = api.module("bson")
local my, call = api.mongodb, api.module("call")
local database = my.database
local put, finish = bson.put, bson.finish

jit.off(true, true) -- see mongodb.lua

local function build_command(document)
   if type(document) == "table" and
      bson.codes[getmetatable(document) or 0] == nil then
      local first = next(document)
      if first == nil or next(document, first) ~= nil then
         api.module("error").raise("the first key of a command is " ..
            "its name, but the keys of a Lua table have no order: use " ..
            "mongodb.doc() or JSON")
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
      call.build.put_options(c)
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
   return my.compile(self, build_command(document), op, my.endings.find)
end
