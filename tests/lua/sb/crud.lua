-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- crud: its options, and the values of its rows. The code of its commands is in
-- sb/crud_commands.lua.

local rand = sysbench.rand

local M = {
   columns = "id, owner, code, price, quantity, total, data",
   CODE_LENGTH = 19,
   MAX_PRICE = 1000,
   MAX_QUANTITY = 1000,
   ROWS_PER_OWNER = 10, -- on average, in the tables of prepare
}

-- The operations, in the order of their explanation.
M.operations = {
   "insert", "insert_batch",
   "read_pk", "read_index", "read_range", "read_in", "read_match",
   "update_pk", "update_index", "update_range", "update_in", "update_match",
   "delete_pk", "delete_range", "delete_in", "delete_match",
}

-- As many rows are inserted as deleted, with the default sizes.
local WEIGHTS = "insert:10,insert_batch:0.4,read_pk:40,read_index:8," ..
   "read_range:6,read_in:6,read_match:8,update_pk:10,update_index:1," ..
   "update_range:0.5,update_in:0.5,update_match:3,delete_pk:10," ..
   "delete_range:0.5,delete_in:0.5,delete_match:5"

-- name = {help, default, min, max}
local numbers = {
   tables = {"Number of tables", 8, 1, 1e6},
   table_size = {"Rows per table that prepare inserts", 10000, 1, 1e12},
   batch_size = {"Rows per INSERT of insert_batch", 50, 1, 1000},
   range_size = {"Ids that a range covers", 20, 1, 1e6},
   in_size = {"Ids in an IN list", 10, 1, 1000},
   data_length = {"Length of the column data, in characters", 100, 0, 16000},
}

local function declare()
   local cmdline = sysbench.cmdline
   local options = {
      table_name = {"Prefix of the names of the tables; their numbers are " ..
         "appended", "crud", cmdline.ARG_STRING},
      weights = {"Operations and their weights; those that are not named " ..
         "are not executed. " .. table.concat(M.operations, ", "), WEIGHTS,
         cmdline.ARG_STRING},
   }
   return require("sb.settings").declare(options, numbers)
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

function M.normalize(opt)
   require("sb.settings").check(opt, numbers)
   M.weights(opt)
   return opt
end

-- Returns the weights of the operations, by name.
function M.weights(opt)
   return require("sb.weights").parse("weights", opt.weights, M.operations)
end

-- Returns the name of table n.
function M.name(opt, n)
   return opt.table_name .. n
end

-- Returns the name of the index on a column of table n. It is unique, because
-- some databases require that.
function M.index_name(opt, n, column)
   return M.name(opt, n):gsub("%.", "_") .. "_" .. column
end

-- Rows -----------------------------------------------------------------------

-- Owner, code and price depend on the id alone, so that check can verify them.

-- Returns the greatest owner.
function M.owners(opt)
   return math.ceil(opt.table_size / M.ROWS_PER_OWNER)
end

function M.owner(opt, id)
   return rand.scatter((id - 1) % opt.table_size + 1, 1, opt.table_size) %
      M.owners(opt) + 1
end

function M.code(id)
   return ("%019d"):format(rand.fnv(id))
end

function M.price(id)
   return id % M.MAX_PRICE + 1
end

function M.quantity()
   return rand.uniform(1, M.MAX_QUANTITY)
end

-- The rows of table n have the ids after `oldest`:last() up to
-- `newest`:finished(). The arguments are minimum values of the two sequences.
function M.ids(opt, n, newest, oldest)
   local name = M.name(opt, n)
   return sysbench.sequence("crud newest " .. name, newest),
      sysbench.sequence("crud oldest " .. name, oldest)
end

return M
