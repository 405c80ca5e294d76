-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- mongodb/inplace: its options and commands. The documents are
--
--    {_id, n, n_log, c, c_twin, list: [int], pushes, first, low, high,
--     items: [{n: 1, v}, ...], v_log}
--
-- where n equals n_log, c equals c_twin, list has the last --list-size of
-- `pushes` values, first is between low and high, and v_log is the sum of v.

local M = {VALUES = 1000000} -- values of list, low and high: 1 to VALUES

function M.options(kind)
   return {
      list_size = kind.int("Number of elements that $slice keeps in the list",
         10),
      array_size = kind.int("Number of elements of items", 10),
      incs = kind.int("$inc of two fields per event", 1),
      sets = kind.int("$set of two strings per event", 1),
      pushes = kind.int("$push with $slice per event", 1),
      bounds = kind.int("$min and $max per event", 1),
      filtered_updates = kind.int("Updates of an item by arrayFilters per " ..
         "event", 1),
   }
end

local some = {0, 1e6}

M.bounds = {list_size = {1, 1e5}, array_size = {1, 1e5}, incs = some,
   sets = some, pushes = some, bounds = some, filtered_updates = some}

-- Operators that some servers do not support.
function M.needs(opt)
   local list = {}
   if opt.filtered_updates > 0 then
      list[#list + 1] = {name = "update by arrayFilters",
         without = "--filtered-updates=0",
         try = function(coll)
            coll:update_one({_id = -1}, {["$inc"] = {["items.$[e].v"] = 1}},
               {array_filters = {{["e.n"] = 1}}})
         end}
   end
   if opt.pushes > 0 then
      list[#list + 1] = {name = "push with $slice", without = "--pushes=0",
         try = function(coll)
            local id = sysbench.mongodb.objectid() -- used by no other document
            coll:update_one({_id = id}, {["$push"] = {list =
               {["$each"] = {1, 2}, ["$slice"] = -1}}}, {upsert = true})
            local kept = coll:find_one({_id = id}).list
            coll:delete_one({_id = id})
            if #kept ~= 1 then
               error("it does not remove any values", 0)
            end
         end}
   end
   return list
end

-- Compiles the commands for a collection.
function M.compile(coll)
   local arg, opt = sysbench.mongodb.arg, sysbench.opt
   local by_id = {_id = arg(1)}
   return {
      incs = coll:compile("update_one", by_id,
         {["$inc"] = {n = arg(2), n_log = arg(3)}}, {op = "incs"}),
      sets = coll:compile("update_one", by_id,
         {["$set"] = {c = arg(2), c_twin = arg(2)}}, {op = "sets"}),
      pushes = coll:compile("update_one", by_id,
         {["$push"] = {list = {["$each"] = {arg(2)},
            ["$slice"] = -opt.list_size}}, ["$inc"] = {pushes = 1}},
         {op = "pushes"}),
      bounds = coll:compile("update_one", by_id,
         {["$min"] = {low = arg(2)}, ["$max"] = {high = arg(3)}},
         {op = "bounds"}),
      filtered_updates = coll:compile("update_one", by_id,
         {["$inc"] = {["items.$[e].v"] = 1, v_log = 1}},
         {array_filters = {{["e.n"] = arg(2)}}, op = "filtered_updates"}),
   }
end

return M
