-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Commands of the methods that nearly every script calls, or compiles: then
-- they are here only until the collector comes.

local sb = ...
local bson = sb.module("bson")
local put, put_document = bson.put, bson.put_document
local open, finish = bson.open, bson.finish
local DOCUMENT, ARRAY = 3, 4 -- of BSON

jit.off(true, true) -- see mongodb.lua

-- Which argument of a method the options are.
local build = {
   options_at = {
      find = 2, find_one = 2, insert_one = 2, update_one = 3, update_many = 3,
      replace_one = 3, delete_one = 2, delete_many = 2
   }
}

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

-- Puts options; part: true those of a write, false the others, nil all.
local function put_options(options, part)
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

-- What a write cannot do without: an empty document is no stand-in.
function build.need(value, what)
   if value == nil then
      sb.module("mongodb_error").raise("this needs " .. what)
   end
end

local need = build.need

-- What an update that is a table must begin with: without it, it would
-- replace the document.
function build.check_update(update)
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

local check_update = build.check_update

-- Commands ----------------------------------------------------------------
--
-- methods[name](coll, ...) writes the command, which was begun, and returns
-- its length.

local methods = {}
build.methods = methods

-- part: of the options, see above.
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

-- One element of "updates".
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

-- One element of "deletes".
function build.put_delete(filter, options, limit)
   put_document("q", filter)
   put("limit", limit)
   if options then
      put_options(options, true)
   end
end

-- A command with one element: put(filter, ...) writes it.
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
