-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- insert_many(): many documents in few commands.

local api = ...
local lib = api.lib
local bson = api.module("bson")
local call = api.module("call")
local build = call.build
local collection = api.mongodb.collection
local put_document, finish = bson.put_document, bson.finish
local begin = build.begin
local ARRAY = 4 -- of BSON

jit.off(true, true) -- see mongodb.lua

local function fail(text)
   api.module("error").raise(text)
end

local BATCH, BATCH_BYTES = 1000, 12 * 1024 * 1024

-- Writes documents from number `first` on, at least one and up to the limits of
-- one command; returns the number of the next one.
local function put_batch(documents, first, stop)
   local i = first
   while i <= stop and i - first < BATCH do
      local value, before = documents[i], bson.length()
      if value == nil then
         fail(("insert_many(): document %d is nil"):format(i))
      end
      put_document(tostring(i - first), value)
      if i > first and bson.length() > BATCH_BYTES then
         bson.cut(before)
         break
      end
      i = i + 1
   end
   return i
end

local function build_insert(coll, documents, options, first, stop)
   begin("insert", coll, options)
   bson.open(ARRAY, "documents")
   local next_one = put_batch(documents, first, stop)
   finish()
   return finish(), next_one
end

function build.methods.insert_many(coll, documents, options)
   local length, next_one = build_insert(coll, documents, options, 1,
                                         #documents)
   if next_one <= #documents then
      fail("too many documents for one command: use a bulk")
   end
   return length
end

call.endings.insert_many = call.endings.insert_one
build.options_at.insert_many = 2

-- Unordered: if documents were refused, the others are sent too, and the first
-- error is raised at the end. If the command was not executed, such as after a
-- cancel or in a transaction that was aborted, nothing else is sent.
function collection:insert_many(documents, options)
   build.need(documents, "an array of documents")
   if type(documents) == "table" and documents[1] == nil and
      next(documents) ~= nil then
      fail("insert_many() requires an array of documents (insert_one() " ..
           "inserts one document)")
   end
   local db, first, stop = self.db, 1, #documents
   local goes_on = options and options.ordered == false
   local inserted, failed = 0, nil
   while first <= stop do
      bson.begin(db.con)
      local length, next_one = build_insert(self, documents, options, first,
                                            stop)
      local ok, err = pcall(call.run, db, length, options and options.op)
      if not ok then
         failed = failed or err
         if not goes_on or lib.sbmo_doc_reply_number(db.con, "ok") ~= 1 then
            break
         end
      end
      inserted = inserted + lib.sbmo_doc_affected(db.con)
      first = next_one
   end
   if failed then
      error(failed, 0)
   end
   return { inserted = inserted }
end
