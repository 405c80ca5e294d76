-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Writes the commands of the methods that nearly every script calls or
-- compiles. If a script only compiles, the collector frees this module.

local api = ...
local bson = api.module("bson")
local put, put_document = bson.put, bson.put_document
local open, finish = bson.open, bson.finish
local DOCUMENT, ARRAY = 3, 4 -- of BSON

jit.off(true, true) -- see mongodb.lua

-- The position of the options among the arguments of a method.
local build = {
   options_at = {
      find = 2, find_one = 2, insert_one = 2, update_one = 3, update_many = 3,
      replace_one = 3, delete_one = 2, delete_many = 2
   }
}

-- Options -----------------------------------------------------------------

local names = { op = "", max_time_ms = "maxTimeMS" }

-- The server's spelling of an option; "": it is not sent to the server.
local function name_of(key)
   local name = tostring(key):gsub("_(%l)", string.upper)
   names[key] = name
   return name
end

-- Options of one write of a command, not of the command.
local of_element = {
   upsert = true, arrayFilters = true, collation = true, hint = true,
   sort = true
}

-- Writes options. part: true for those of a write, false for those of the
-- command, nil for all.
local function put_options(options, part)
   if type(options) ~= "table" then
      api.module("error").options(options)
   end
   for key, value in pairs(options) do
      local name = names[key] or name_of(key)
      if name ~= "" and (part == nil or part == (of_element[name] or false))
      then
         if type(value) == "string" and name ~= "comment" and
            value:find("^%s*[{%[]") then
            put_document(name, value)
         else
            put(name, value)
         end
      end
   end
end

build.put_options = put_options

-- Checks ------------------------------------------------------------------

-- Raises an error for a missing argument of a write, instead of using an empty
-- document.
function build.need(value, what)
   if value == nil then
      api.module("error").raise("missing argument: " .. what)
   end
end

local need = build.need

-- Checks that an update given as a table has operators: without them it would
-- replace the document.
function build.check_update(update)
   need(update, "an update, after the filter")
   if type(update) == "table" and update[1] == nil then
      local key = next(update)
      if key == nil or type(key) == "string" and key:byte() ~= 36 and
         bson.codes[getmetatable(update) or 0] ~= 3 and
         not update.text then
         api.module("error").raise(("an update requires operators " ..
            "such as $set, not %s (replace_one() replaces a document)"):format(
            tostring(key)))
      end
   end
end

local check_update = build.check_update

-- Commands ----------------------------------------------------------------
--
-- methods[name](coll, ...) writes the command after bson.begin() and returns
-- its length.

local methods = {}
build.methods = methods

-- part: as for put_options().
local function begin(name, coll, options, part)
   put(name, coll.name)
   if options then
      put_options(options, part)
   end
end

build.begin = begin

local function begin_find(coll, filter, options)
   begin("find", coll)
   put_document("filter", filter)
   if options then
      put_options(options)
   end
end

function methods.find(coll, filter, options)
   begin_find(coll, filter, options)
   return finish()
end

function methods.find_one(coll, filter, options)
   begin_find(coll, filter, options)
   put("limit", 1)
   put("singleBatch", true)
   return finish()
end

function methods.insert_one(coll, document, options)
   need(document, "a document to insert")
   begin("insert", coll, options)
   open(ARRAY, "documents")
   put_document("0", document)
   finish()
   return finish()
end

-- Writes one element of "updates".
function build.put_update(filter, update, options, multi)
   put_document("q", filter)
   put_document("u", update)
   if options then
      put_options(options, true)
   end
   if multi then
      put("multi", true)
   end
end

-- Writes one element of "deletes".
function build.put_delete(filter, options, limit)
   put_document("q", filter)
   put("limit", limit)
   if options then
      put_options(options, true)
   end
end

-- Writes a command with one element, which put_element(...) writes.
local function write(name, list, coll, options, put_element, ...)
   begin(name, coll, options, false)
   open(ARRAY, list)
   open(DOCUMENT, "0")
   put_element(...)
   finish()
   finish()
   return finish()
end

local function update(coll, filter, change, options, multi)
   return write("update", "updates", coll, options, build.put_update, filter,
                change, options, multi)
end

function methods.update_one(coll, filter, change, options)
   check_update(change)
   return update(coll, filter, change, options)
end

function methods.update_many(coll, filter, change, options)
   check_update(change)
   return update(coll, filter, change, options, true)
end

function methods.replace_one(coll, filter, document, options)
   need(document, "a document, after the filter")
   return update(coll, filter, document, options)
end

function methods.delete_one(coll, filter, options)
   return write("delete", "deletes", coll, options, build.put_delete, filter,
                options, 1)
end

function methods.delete_many(coll, filter, options)
   return write("delete", "deletes", coll, options, build.put_delete, filter,
                options, 0)
end

return build
