-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The classic OLTP mix on documents: the options, commands and parts of events
-- that mongodb/oltp.lua, oltp_ro.lua, ranges_ro.lua and write_only.lua share.

local collections = require("sb.mongodb.collections")

local rand = sysbench.rand

local M = {}

-- Options --------------------------------------------------------------------

local function int(help, default, min)
   return {help, default, sysbench.cmdline.ARG_INT, min = min or 0,
      max = 2147483647}
end

local parts = {}

function parts.reads()
   return {
      point_selects = int("Reads of a document by its id per transaction", 10),
   }
end

function parts.ranges()
   return {
      simple_ranges = int("Reads of a range of ids per transaction", 1),
      sum_ranges = int("Sums of k over a range per transaction", 1),
      order_ranges = int("Reads of a range, sorted by c, per transaction", 1),
      distinct_ranges = int("Reads of the distinct values of c of a range " ..
         "per transaction", 1),
      range_size = int("Number of ids in a range", 100, 1),
   }
end

function parts.writes()
   return {
      index_updates = int("Increments of the indexed field k per transaction",
         1),
      non_index_updates = int("Updates of c per transaction", 1),
      inserts = int("Documents replaced, or inserted if missing, per " ..
         "transaction", 1),
      transactions = {"Execute each event in a transaction", false},
      read_only = {"Do not execute writes", false},
   }
end

-- Returns the value for sysbench.cmdline.options. The arguments are the parts
-- of an event: "reads", "ranges", "writes".
function M.options(...)
   local list = {
      auto_inc = {"Ignored: the client always chooses the ids", true},
   }
   for _, part in ipairs{...} do
      for name, option in pairs(parts[part]()) do
         list[name] = option
      end
   end
   return collections.options(list)
end

-- For the global init().
function M.check()
   local db, opt = collections.open()
   collections.require_all(db, opt, {"k", "c", "pad"})
   collections.require_transactions(db, opt)
   db:disconnect()
end

-- Commands -------------------------------------------------------------------

-- Functions that compile a command for a collection, by the option that sets
-- how often it is executed. Commands that a run does not execute are not
-- compiled, which saves 2 KB per user and command.
local compile = {}

function compile.point_selects(coll, arg)
   return coll:compile("find", {_id = arg(1)},
      {projection = {c = 1, _id = 0}, limit = 1, single_batch = true,
      op = "point_selects"})
end

local function range(arg)
   return {_id = {["$gte"] = arg(1), ["$lte"] = arg(2)}}
end

function compile.simple_ranges(coll, arg)
   return coll:compile("find", range(arg),
      {projection = {c = 1, _id = 0}, op = "simple_ranges"})
end

function compile.sum_ranges(coll, arg)
   return coll:compile("aggregate", {
      {["$match"] = range(arg)},
      {["$group"] = {_id = sysbench.mongodb.null, total = {["$sum"] = "$k"}}},
   }, {op = "sum_ranges"})
end

function compile.order_ranges(coll, arg)
   return coll:compile("find", range(arg),
      {projection = {c = 1, _id = 0}, sort = {c = 1}, op = "order_ranges"})
end

function compile.distinct_ranges(coll, arg)
   return coll:compile("distinct", "c", range(arg), {op = "distinct_ranges"})
end

function compile.index_updates(coll, arg)
   return coll:compile("update_one", {_id = arg(1)}, {["$inc"] = {k = 1}},
      {op = "index_updates"})
end

function compile.non_index_updates(coll, arg)
   return coll:compile("update_one", {_id = arg(1)},
      {["$set"] = {c = arg(2)}}, {op = "non_index_updates"})
end

function compile.inserts(coll, arg)
   return coll:compile("find_one_and_replace", {_id = arg(1)},
      {k = arg(2), c = arg(3), pad = arg(4)}, {upsert = true, op = "inserts"})
end

-- Users ----------------------------------------------------------------------

local Mix = {}
Mix.__index = Mix

-- Opens a connection for a user. Returns an object with the parts of an event.
function M.open()
   local db, opt = collections.open()
   return setmetatable({db = db, opt = opt,
      collections = collections.per_collection(db, opt, function(coll)
         return setmetatable({}, {__index = function(commands, name)
            commands[name] = compile[name](coll, sysbench.mongodb.arg)
            return commands[name]
         end})
      end)}, Mix)
end

function Mix:close()
   self.db:disconnect()
end

-- Draws the collection of the event.
function Mix:begin()
   local opt = self.opt
   self.commands = self.collections[rand.uniform(1, opt.tables)]
   if opt.transactions then
      self.db:start_transaction()
   end
end

function Mix:commit()
   if self.opt.transactions then
      self.db:commit()
   end
end

local draw_id = collections.draw_id

function Mix:point_selects()
   local opt, commands = self.opt, self.commands
   for _ = 1, opt.point_selects do
      commands.point_selects:execute(draw_id(opt))
   end
end

local function execute_ranges(opt, commands, name)
   for _ = 1, opt[name] do
      local first = draw_id(opt)
      commands[name]:execute(first, first + opt.range_size - 1)
   end
end

function Mix:ranges()
   local opt, commands = self.opt, self.commands
   execute_ranges(opt, commands, "simple_ranges")
   execute_ranges(opt, commands, "sum_ranges")
   execute_ranges(opt, commands, "order_ranges")
   execute_ranges(opt, commands, "distinct_ranges")
end

function Mix:writes()
   local opt, commands = self.opt, self.commands
   if opt.read_only then
      return
   end
   for _ = 1, opt.index_updates do
      commands.index_updates:execute(draw_id(opt))
   end
   for _ = 1, opt.non_index_updates do
      commands.non_index_updates:execute(draw_id(opt),
         rand.string(collections.c_format))
   end
   for _ = 1, opt.inserts do
      commands.inserts:execute(draw_id(opt), draw_id(opt),
         rand.string(collections.c_format),
         rand.string(collections.pad_format))
   end
end

return M
