-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Bulks: writes that C collects and sends together.

local api = ...
local lib = api.lib
local ffi = require("ffi")
local bson = api.module("bson")
local my = api.mongodb
local build = my.build()
local statement_meta, bind = my.statement_meta, my.bind
local INSERT, UPDATE, DELETE = 105, 117, 100 -- letters
local bulk = {}
local bulk_meta = { __index = bulk }

local counts = ffi.new("struct sbmo_doc_bulk_result")

local function add(self, kind, length)
   if lib.sbmo_doc_bulk_add(self.con, self.handle, kind, bson.buffer(),
                            length) ~= 0 then
      my.raise(self.con)
   end
end

jit.off(add) -- see mongodb.lua

local function insert(self, document)
   build.need(document, "a document to insert")
   bson.begin(self.con)
   add(self, INSERT, bson.root(document))
end

jit.off(insert)

-- document: a document, or a compiled one followed by its values.
function bulk:insert(document, ...)
   if getmetatable(document) == statement_meta then
      bind(document, ...)
      if lib.sbmo_doc_bulk_add_op(self.con, self.handle, INSERT, document.op,
                                  document.slots, document.n) ~= 0 then
         my.raise(self.con)
      end
   else
      insert(self, document)
   end
end

local function update(self, filter, change, options, multi)
   bson.begin(self.con)
   build.put_update(filter, change, options, multi)
   add(self, UPDATE, bson.finish())
end

jit.off(update)

function bulk:update_one(filter, change, options)
   build.check_update(change)
   update(self, filter, change, options)
end

function bulk:update_many(filter, change, options)
   build.check_update(change)
   update(self, filter, change, options, true)
end

function bulk:replace_one(filter, document, options)
   build.need(document, "a document, after the filter")
   update(self, filter, document, options)
end

local function delete(self, filter, options, limit)
   bson.begin(self.con)
   build.put_delete(filter, options, limit)
   add(self, DELETE, bson.finish())
end

jit.off(delete)

function bulk:delete_one(filter, options)
   delete(self, filter, options, 1)
end

function bulk:delete_many(filter, options)
   delete(self, filter, options, 0)
end

function bulk:count()
   return lib.sbmo_doc_bulk_count(self.handle)
end

function bulk:execute()
   api.call(self.con, lib.sbmo_doc_bulk_execute, self.handle)
   return self:result()
end

-- What the last execution did, also if it failed.
function bulk:result()
   lib.sbmo_doc_bulk_result(self.handle, counts)
   return {
      inserted = counts.inserted, matched = counts.matched,
      modified = counts.modified, upserted = counts.upserted,
      deleted = counts.removed
   }
end

-- Other options are an error, because they would be ignored.
local function check_options(options)
   for name, value in pairs(api.module("error").options(options)) do
      if name ~= "ordered" and (name ~= "op" or value ~= "") then
         api.module("error").raise(("bulk() supports `ordered' and " ..
            "`op = \"\"', not `%s = %s'"):format(name, tostring(value)))
      end
   end
end

function my.collection:bulk(options)
   local con = self.db.con
   check_options(options)
   local mode = (not options or options.ordered ~= false) and 1 or 0
   if options and options.op == "" then
      mode = mode + 2 -- not counted, see sbmo_doc_bulk_open()
   end
   local handle = lib.sbmo_doc_bulk_open(con, self.name, mode)
   if handle == nil then
      my.raise(con)
   end
   return setmetatable({
      db = self.db, con = con, handle = api.object(handle)
   }, bulk_meta)
end
