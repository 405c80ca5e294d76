-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Methods of collections that read and write one document at once.

local api = ...
local bson = api.module("bson")
local call = api.module("call")
local build = call.build
local methods = build.methods
local put, put_document, finish = bson.put, bson.put_document, bson.finish
local put_options, begin = build.put_options, build.begin

jit.off(true, true) -- see mongodb.lua

-- Names of options in other commands -> in findAndModify.
local renamed = {
   projection = "fields", return_document = "new", returnDocument = "new",
   filter = "query"
}

local function put_modify_options(options)
   for key, value in pairs(api.module("error").options(options)) do
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
      api.module("error").raise(
         "find_one_and_replace() requires a document")
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

local function previous(db)
   local value = bson.field(db.con, "value")
   if value ~= api.module("bson_types").make.null then
      return value
   end
end

for name, at in pairs{find_one_and_update = 3, find_one_and_replace = 3,
                      find_one_and_delete = 2, find_and_modify = 1} do
   call.endings[name], build.options_at[name] = previous, at
   call.define(name)
end
