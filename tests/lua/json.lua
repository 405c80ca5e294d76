#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Documents in a column of type JSON: each event is one statement on one table,
-- chosen by --weights. It inserts a document, reads one by its id, finds
-- documents by a path or by what they contain, aggregates over the elements of
-- their arrays, changes one in place or replaces it.

local json = require("sb.json")
local retry = require("sb.retry")

local rand, kind = sysbench.rand, sysbench.sql.type
local opt -- the settings
local con, choose
local ids = {} -- the sequences of ids, by table
local sql -- the SQL of documents: see sb/dialect/sqlite_json.lua

-- Statements -----------------------------------------------------------------

-- Each returns the statement with %s for the table, and the types of its
-- parameters.
local texts = {
   insert = function()
      return "INSERT INTO %s (id, doc) VALUES (?, " .. sql.document .. ")",
         {kind.BIGINT, kind.VARCHAR}
   end,
   read = function()
      return "SELECT doc FROM %s WHERE id=?", {kind.BIGINT}
   end,
   lookup = function()
      return "SELECT doc FROM %s WHERE " .. sql.key("sku") .. "=?",
         {kind.VARCHAR}
   end,
   contains = function()
      local types = {}
      for i = 1, select("#", sql.contained("", "")) do
         types[i] = kind.VARCHAR
      end
      return "SELECT doc FROM %s WHERE " .. sql.contains, types
   end,
   aggregate = function()
      return sql.aggregate, {kind.VARCHAR}
   end,
   update = function()
      return "UPDATE %s SET doc=" .. sql.update .. " WHERE id=?",
         {kind.INT, kind.INT, kind.BIGINT}
   end,
   replace = function()
      return "UPDATE %s SET doc=" .. sql.document .. " WHERE id=?",
         {kind.VARCHAR, kind.BIGINT}
   end,
}

local statements = {} -- by table and operation, prepared at first use

local function statement(n, operation)
   statements[n] = statements[n] or {}
   local s = statements[n][operation]
   if not s then
      local text, types = texts[operation]()
      s = {stmt = con:prepare(text:format(json.name(opt, n)), operation),
         params = {}}
      for i, type_of in ipairs(types) do
         s.params[i] = s.stmt:bind_create(type_of,
            type_of == kind.VARCHAR and opt.max_document or nil)
      end
      s.stmt:bind_param(unpack(s.params))
      statements[n][operation] = s
   end
   return s
end

local function execute(n, operation, ...)
   local s = statement(n, operation)
   for i, param in ipairs(s.params) do
      param:set((select(i, ...)))
   end
   s.stmt:execute()
end

-- Operations -----------------------------------------------------------------

local operations = {}

-- Ids whose INSERT failed, by table. They are not drawn, and the next INSERT
-- uses them.
local unused = {}

local function finish(n, id)
   ids[n]:finish(id)
   unused[n] = nil
end

function operations.insert(n)
   local id = unused[n] or ids[n]:next()
   unused[n] = id
   local ok, err = pcall(execute, n, "insert", id, json.document(opt, id))
   -- If the connection is lost, the server may have inserted the document.
   if ok or not con:is_alive() then
      finish(n, id)
   end
   if not ok then
      error(err, 0)
   end
end

function operations.read(n, id)
   execute(n, "read", id)
end

function operations.lookup(n, id)
   execute(n, "lookup", json.sku(id))
end

function operations.contains(n, id)
   local tags = {json.tags(id)}
   execute(n, "contains", sql.contained(json.category(opt, id),
      tags[rand.uniform(1, #tags)]))
end

function operations.aggregate(n, id)
   execute(n, "aggregate", json.category(opt, id))
end

function operations.update(n, id)
   local count = json.count()
   execute(n, "update", count, count * json.price(id), id)
end

function operations.replace(n, id)
   execute(n, "replace", json.document(opt, id), id)
end

local list = {} -- functions of the operations that have a weight

function thread_init()
   opt = json.normalize(sysbench.opt)
   -- Enough for a document: the members other than items and note have less
   -- than 300 characters.
   opt.max_document = 300 + opt.items * 60 + opt.note_length
   local drv = sysbench.sql.driver()
   con, sql = drv:connect(), json.dialect(drv)
   for n = 1, opt.tables do
      ids[n] = json.ids(opt, n)
   end
   local by_name, weights = json.weights(opt), {}
   for _, operation in ipairs(json.operations) do
      if (by_name[operation] or 0) > 0 then
         list[#list + 1] = operations[operation]
         weights[#list] = by_name[operation]
      end
   end
   choose = require("sb.weights").chooser(weights)
end

local chosen, table_no, id -- of the event

function event()
   if not retry.again() then
      table_no = rand.uniform(1, opt.tables)
      chosen = list[choose()]
      local last = ids[table_no]:finished()
      -- --rand-type prefers new documents.
      id = last - rand.default(0, last - 1)
   end
   chosen(table_no, id)
end

function thread_done()
   -- Readers do not see the ids after an unfinished one.
   for n, unused_id in pairs(unused) do
      finish(n, unused_id)
   end
   for n = 1, opt.tables do
      for _, operation in ipairs(json.operations) do
         local s = statements[n] and statements[n][operation]
         if s then
            s.stmt:close()
         end
      end
   end
   con:disconnect()
end

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

sysbench.cmdline.options = json.declarations()

require("sb.own_commands").declare("sb.json_commands", json.normalize)

-- New ids continue after the highest existing id.
function init()
   require("sb.json_commands").measure(json.normalize(sysbench.opt))
end
