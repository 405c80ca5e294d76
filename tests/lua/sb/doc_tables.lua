-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Collections for sb/prepare.lua: what sb/build.lua is for tables. A workload
-- with documents of its own puts its functions over these.

local build = require("sb.build")
local schema = require("sb.schema")

local M = {}

M.name = schema.name
M.table_word, M.rows_word = "collection", "documents"
M.say = build.say
M.fill = build.fill -- the rows of the SQL workloads, to the last character

-- As many documents as are sent together: to take more would only make the
-- last thread end later, as documents are slow to insert.
function M.block(opt)
   return opt.bulk_size
end

function M.loader(con, opt, n)
   local loader = con:load(schema.name(opt, n), "_id,k,c,pad")
   loader:block(opt.bulk_size)
   return loader
end

-- A loader for documents that are no rows: put(...) takes the values of
-- `document`, which has placeholders.
function M.documents(con, opt, n, document)
   local mongodb = sysbench.mongodb
   local db = mongodb.wrap(con)
   local compiled = mongodb.compile_document(db, document)
   local bulk = db:collection(schema.name(opt, n)):bulk{ordered = false}
   local loader = {}
   function loader.put(_, ...)
      bulk:insert(compiled, ...)
      if bulk:count() >= opt.bulk_size then
         bulk:execute()
      end
   end
   function loader.close(_, commit)
      if commit ~= false and bulk:count() > 0 then
         bulk:execute()
      end
   end
   return loader
end

function M.create(con, _, opt, n)
   local name = schema.name(opt, n)
   local db = sysbench.mongodb.wrap(con)
   if db:collection(name):exists() then
      error(string.format("Collection '%s' exists already. Remove it with " ..
         "the 'cleanup' command, or use another database.", name), 0)
   end
   M.say("Creating collection '%s'...", name)
   db:create_collection(name)
end

function M.announce_rows(opt, n)
   M.say("Inserting %d documents into '%s'", opt.table_size,
      schema.name(opt, n))
end

-- The keys of the secondary indexes and their options, as create_index()
-- takes them.
function M.indexes(_, n)
   return {{{k = 1}, {name = "k_" .. n}}}
end

-- What is wrong with a document, as text; nil for nothing.
function M.wrong(doc, opt)
   if type(doc._id) ~= "number" then
      return "_id is no number"
   elseif type(doc.k) ~= "number" then
      return "k is no number"
   elseif type(doc.c) ~= "string" or #doc.c ~= #schema.c_format then
      return "c is not a text of " .. #schema.c_format .. " characters"
   elseif type(doc.pad) ~= "string" or #doc.pad ~= #schema.pad_format then
      return "pad is not a text of " .. #schema.pad_format .. " characters"
   elseif not opt.new_rows and
      (doc._id < 1 or doc._id > opt.table_size) then
      return "_id is not from 1 to " .. opt.table_size
   end
end

-- What is wrong with doc.items, {n = 1, ...} and so on, --array-size of them:
-- `field` of all sums up to what was counted. nil for nothing.
function M.wrong_items(doc, opt, field, counted)
   local sum = 0
   if #doc.items ~= opt.array_size then
      return string.format("%d items where %d should be", #doc.items,
         opt.array_size)
   end
   for i, item in ipairs(doc.items) do
      if item.n ~= i then
         return "item " .. i .. " is out of its place"
      end
      sum = sum + item[field]
   end
   if sum ~= counted then
      return string.format("the items' %s sums up to %d, %d were counted",
         field, sum, counted)
   end
end

-- Collections of a workload's own: own has the functions that differ.
function M.derive(own)
   local t = setmetatable(own, {__index = M})
   function t.finish(con, _, opt, n)
      local name = schema.name(opt, n)
      local coll = sysbench.mongodb.wrap(con):collection(name)
      if opt.create_secondary then
         for _, index in ipairs(t.indexes(opt, n)) do
            M.say("Creating a secondary index on '%s'...", name)
            coll:create_index(unpack(index))
         end
      end
   end
   return t
end

function M.discard(con, opt, n)
   pcall(con.reset, con)
   return (pcall(function()
      sysbench.mongodb.wrap(con):collection(schema.name(opt, n)):drop()
   end))
end

return M
