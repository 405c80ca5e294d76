-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Methods of collections that read, other than find() and find_one().

local api = ...
local bson = api.module("bson")
local call = api.module("call")
local build = call.build
local methods, options_at = build.methods, build.options_at
local endings = call.endings
local put, put_document, finish = bson.put, bson.put_document, bson.finish
local put_options, begin = build.put_options, build.begin

jit.off(true, true) -- see mongodb.lua

function methods.aggregate(coll, pipeline, options)
   local batch
   begin("aggregate", coll)
   if pipeline == nil then
      api.module("error").raise("aggregate() requires a pipeline")
   elseif type(pipeline) == "table" and pipeline[1] == nil then
      pipeline = bson.codes[getmetatable(pipeline) or 0] and pipeline or
         api.module("bson_types").make.array(pipeline) -- {}: an empty pipeline
   end
   put_document("pipeline", pipeline)
   if options then
      api.module("error").options(options)
      batch = options.batch_size or options.batchSize
      for key, value in pairs(options) do
         if key ~= "batch_size" and key ~= "batchSize" then
            put_options({ [key] = value })
         end
      end
   end
   put("cursor", { batchSize = batch })
   return finish()
end

endings.aggregate, options_at.aggregate = endings.find, 2

function methods.distinct(coll, key, filter, options)
   begin("distinct", coll)
   put("key", key)
   put_document("query", filter)
   put_options(options or {})
   return finish()
end

function endings.distinct(db)
   return bson.field(db.con, "values") or {}
end

options_at.distinct = 3

function methods.count(coll, filter, options)
   begin("count", coll)
   put_document("query", filter)
   put_options(options or {})
   return finish()
end

function methods.estimated_count(coll, options)
   begin("count", coll, options)
   return finish()
end

function endings.count(db)
   return bson.field(db.con, "n")
end

endings.estimated_count = endings.count
options_at.count, options_at.estimated_count = 2, 1

for _, name in ipairs{"aggregate", "distinct", "count", "estimated_count"} do
   call.define(name)
end
