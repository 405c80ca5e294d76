-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Creates collections for sb/prepare.lua, as sb/build.lua does tables. A
-- workload with other documents overrides some of these functions.

local build = require("sb.build")
local schema = require("sb.schema")

local M = {}

M.name = schema.name
M.table_word, M.rows_word = "collection", "documents"
M.print_line = build.print_line
M.fill = build.fill -- exactly the same rows as the SQL workloads

-- Rows that a thread takes at a time: the documents of one insert command.
-- Inserting documents is slow, so with more the last thread would end later.
function M.block(opt)
   return opt.bulk_size
end

function M.loader(con, opt, n)
   local loader = con:load(schema.name(opt, n), "_id,k,c,pad")
   loader:block(opt.bulk_size)
   return loader
end

-- Returns a loader for documents that are not rows: put(...) takes the values
-- for the placeholders in `document`.
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
   M.print_line("Creating collection '%s'...", name)
   db:create_collection(name)
end

function M.announce_rows(opt, n)
   M.print_line("Inserting %d documents into '%s'", opt.table_size,
      schema.name(opt, n))
end

-- Returns the secondary indexes of collection n: a list of arguments for
-- create_index().
function M.indexes(_, n)
   return {{{k = 1}, {name = "k_" .. n}}}
end

-- Returns what is wrong with a document; nil if it is correct.
function M.wrong(doc, opt)
   if type(doc._id) ~= "number" then
      return "_id is not a number"
   elseif type(doc.k) ~= "number" then
      return "k is not a number"
   elseif type(doc.c) ~= "string" or #doc.c ~= #schema.c_format then
      return "c is not a string of " .. #schema.c_format .. " characters"
   elseif type(doc.pad) ~= "string" or #doc.pad ~= #schema.pad_format then
      return "pad is not a string of " .. #schema.pad_format .. " characters"
   elseif not opt.new_rows and
      (doc._id < 1 or doc._id > opt.table_size) then
      return "_id is not from 1 to " .. opt.table_size
   end
end

-- Returns what is wrong with doc.items; nil if it is correct. There must be
-- --array-size items {n = 1, ...}, {n = 2, ...} and so on, and the sum of their
-- `field` must be `counted`.
function M.wrong_items(doc, opt, field, counted)
   local sum = 0
   if #doc.items ~= opt.array_size then
      return string.format("it has %d items, expected %d", #doc.items,
         opt.array_size)
   end
   for i, item in ipairs(doc.items) do
      if item.n ~= i then
         return "item " .. i .. " is not in its place"
      end
      sum = sum + item[field]
   end
   if sum ~= counted then
      return string.format("the sum of the items' %s is %d, expected %d",
         field, sum, counted)
   end
end

local function create_indexes(con, opt, n, indexes)
   local name = schema.name(opt, n)
   local coll = sysbench.mongodb.wrap(con):collection(name)
   for _, index in ipairs(indexes) do
      M.print_line("Creating a secondary index on '%s'...", name)
      coll:create_index(unpack(index))
   end
end

-- Returns the functions for a workload's collections; own overrides those here.
function M.derive(own)
   local t = setmetatable(own, {__index = M})
   t.finish = t.finish or function(con, _, opt, n)
      if opt.create_secondary then
         create_indexes(con, opt, n, t.indexes(opt, n))
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
