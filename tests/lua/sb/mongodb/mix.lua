-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The commands of the document OLTP workloads and the loops that execute them.
-- A command is compiled when it is first used on a collection.

local schema = require("sb.schema")

local M = {}

local mongodb, rand = sysbench.mongodb, sysbench.rand
local arg = mongodb.arg

local range = {_id = {["$gte"] = arg(1), ["$lte"] = arg(2)}}
local only_c = {c = 1, _id = 0}

-- The methods and their arguments, by the names under which executions are
-- reported.
M.commands = {
   point_selects = {"find", {_id = arg(1)},
      {projection = only_c, limit = 1, single_batch = true}},
   simple_ranges = {"find", range, {projection = only_c}},
   sum_ranges = {"aggregate", {
      {["$match"] = range},
      {["$group"] = {_id = mongodb.null, total = {["$sum"] = "$k"}}},
   }, {}},
   order_ranges = {"find", range, {projection = only_c, sort = {c = 1}}},
   distinct_ranges = {"distinct", "c", range, {}},
   index_updates = {"update_one", {_id = arg(1)}, {["$inc"] = {k = 1}}, {}},
   non_index_updates = {"update_one", {_id = arg(1)},
      {["$set"] = {c = arg(2)}}, {}},
   inserts = {"find_one_and_replace", {_id = arg(1)},
      {k = arg(2), c = arg(3), pad = arg(4)}, {upsert = true}},
   new_rows = {"insert_one",
      {_id = arg(1), k = arg(2), c = arg(3), pad = arg(4)}, {}},
}

local Mix = {}
Mix.__index = Mix

local function compile(db, n, opt, key)
   local definition = {unpack(M.commands[key])}
   local options = {}
   for name, value in pairs(definition[#definition]) do
      options[name] = value
   end
   options.op = key == "new_rows" and "inserts" or key
   definition[#definition] = options
   return db:collection(schema.name(opt, n)):compile(unpack(definition))
end

-- Returns an object that executes the commands on the collections of opt over
-- the connection db.
function M.new(db, opt)
   local ops = setmetatable({}, {__index = function(list, n)
      list[n] = setmetatable({}, {__index = function(of, key)
         of[key] = compile(db, n, opt, key)
         return of[key]
      end})
      return list[n]
   end})
   return setmetatable({db = db, opt = opt, ops = ops}, Mix)
end

local function draw(opt)
   local size = opt.table_size
   return rand.default(1, size < 1 and 1 or size)
end

-- Executes the command under key, whose only value is a random id, `times`
-- times.
function Mix:by_id(n, key, times)
   if times < 1 then
      return
   end
   local opt, op = self.opt, self.ops[n][key]
   for _ = 1, times do
      op:execute(draw(opt))
   end
end

function Mix:range(n, key, times)
   if times < 1 then
      return
   end
   local opt, op = self.opt, self.ops[n][key]
   for _ = 1, times do
      local id = draw(opt)
      op:execute(id, id + opt.range_size - 1)
   end
end

function Mix:points(n)
   self:by_id(n, "point_selects", self.opt.point_selects)
end

function Mix:ranges(n)
   local opt = self.opt
   self:range(n, "simple_ranges", opt.simple_ranges)
   self:range(n, "sum_ranges", opt.sum_ranges)
   self:range(n, "order_ranges", opt.order_ranges)
   self:range(n, "distinct_ranges", opt.distinct_ranges)
end

function Mix:writes(n)
   local opt = self.opt
   self:by_id(n, "index_updates", opt.index_updates)
   for _ = 1, opt.non_index_updates do
      self.ops[n].non_index_updates:execute(draw(opt),
         rand.string(schema.c_format))
   end
   for _ = 1, opt.inserts do
      self:put(n, "inserts", draw(opt))
   end
end

-- Writes a whole document with this id. key: "inserts" replaces the document or
-- inserts it if missing; "new_rows" inserts it.
function Mix:put(n, key, id)
   self.ops[n][key]:execute(id, draw(self.opt), rand.string(schema.c_format),
      rand.string(schema.pad_format))
end

return M
