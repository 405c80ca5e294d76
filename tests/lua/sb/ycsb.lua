-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- ycsb: its options, and the keys and values of its records. The code of its
-- commands is in sb/ycsb_commands.lua.

local rand = sysbench.rand

local M = {KEY = "YCSB_KEY"}

-- The operations, and the options for their shares.
M.operations = {"READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE"}

local function proportion(operation)
   return operation:lower():gsub("-", "_") .. "_proportion"
end

-- The shares of the operations in their order, and the distribution of keys.
local workloads = {
   a = {0.5, 0.5, 0, 0, 0, "zipfian"},
   b = {0.95, 0.05, 0, 0, 0, "zipfian"},
   c = {1, 0, 0, 0, 0, "zipfian"},
   d = {0.95, 0, 0.05, 0, 0, "latest"},
   e = {0, 0, 0.05, 0.95, 0, "zipfian"},
   f = {0.5, 0, 0, 0, 0.5, "zipfian"},
}

-- name = {help, default, min, max}
local numbers = {
   table_size = {"Records that prepare inserts", 10000, 1, 1e12},
   field_count = {"Fields per record", 10, 1, 500},
   field_length = {"Length of a field, in characters", 100, 1, 65000},
   min_field_length = {"Minimum length of a field, unless " ..
      "--field-length-distribution=constant", 1, 0, 65000},
   min_scan_length = {"Minimum number of records per SCAN", 1, 1, 1e6},
   max_scan_length = {"Maximum number of records per SCAN", 100, 1, 1e6},
   zero_padding = {"Minimum number of digits in a key", 1, 1, 100},
   operation_count = {"Expected number of operations of a run, with which " ..
      "zipfian leaves room for keys to be inserted; 0: --events or, without " ..
      "it, --table-size", 0, 0, 1e12},
}

local words = {
   workload = {"a", "b", "c", "d", "e", "f"},
   field_length_distribution = {"constant", "uniform", "zipfian"},
   scan_length_distribution = {"uniform", "zipfian"},
   insert_order = {"hashed", "ordered"},
   request_distribution = {"uniform", "zipfian", "latest"},
}

local function declare()
   local cmdline = sysbench.cmdline
   local function text(help, default)
      return {help, default, cmdline.ARG_STRING}
   end
   local options = {
      workload = text("Core workload, a to f: a: READ and UPDATE, b: mostly " ..
         "READ, c: READ, d: READ of new records and INSERT, e: SCAN and " ..
         "INSERT, f: READ and READ-MODIFY-WRITE", "a"),
      table_name = text("Name of the table or collection", "usertable"),
      field_length_distribution = text("Distribution of the lengths of " ..
         "fields: constant, uniform or zipfian", "constant"),
      scan_length_distribution = text("Distribution of the lengths of " ..
         "scans: uniform or zipfian", "uniform"),
      insert_order = text("hashed: keys are hashes of the record's number; " ..
         "ordered: keys are the number", "hashed"),
      request_distribution = text("Distribution of the keys: uniform, " ..
         "zipfian or latest; empty: that of the workload", ""),
      read_all_fields = {"Read all fields, not one", true, cmdline.ARG_BOOL},
      data_integrity = {"Write values that depend only on the key and the " ..
         "field, and compare what READ returns with them", false,
         cmdline.ARG_BOOL},
      write_all_fields = {"Update all fields, not one", false,
         cmdline.ARG_BOOL},
   }
   for _, operation in ipairs(M.operations) do
      options[proportion(operation)] = text("Share of the operation " ..
         operation .. "; empty: that of the workload", "")
   end
   return require("sb.settings").declare(options, numbers)
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

-- Returns the shares of the operations, in their order.
function M.shares(opt)
   local shares, total = {}, 0
   for i, operation in ipairs(M.operations) do
      local name = proportion(operation)
      local share = opt[name] == "" and workloads[opt.workload][i] or
         tonumber(opt[name])
      if not share or not (share >= 0 and share <= 1e6) then
         error(string.format("--%s must be a number from 0 to 1000000, " ..
            "not '%s'", name:gsub("_", "-"), opt[name]), 0)
      end
      shares[i], total = share, total + share
   end
   if total == 0 then
      error("the shares of all operations are 0", 0)
   end
   return shares
end

function M.normalize(opt)
   local bounds, settings = require("sb.bounds"), require("sb.settings")
   settings.check(opt, numbers)
   opt.workload = opt.workload:lower()
   bounds.one_of(opt, "workload", words.workload)
   if opt.request_distribution == "" then
      opt.request_distribution = workloads[opt.workload][6]
   end
   for name, list in pairs(words) do
      bounds.one_of(opt, name, list)
   end
   settings.order(opt, "min_scan_length", "max_scan_length")
   if opt.field_length_distribution ~= "constant" then
      settings.order(opt, "min_field_length", "field_length")
   end
   M.shares(opt)
   if opt.data_integrity and opt.field_length_distribution ~= "constant" then
      error("--data-integrity requires --field-length-distribution=constant",
         0)
   end
   opt.tables = 1
   return opt
end

-- Records --------------------------------------------------------------------

-- Returns the key of record n, n >= 0.
function M.key(opt, n)
   local padded = "user%0" .. opt.zero_padding .. "d"
   return padded:format(opt.insert_order == "hashed" and rand.fnv(n) or n)
end

-- Returns the names of the fields.
function M.fields(opt)
   local names = {}
   for i = 1, opt.field_count do
      names[i] = "FIELD" .. i - 1
   end
   return names
end

-- Returns the bounds of the length of a field.
function M.lengths(opt)
   local max = opt.field_length
   return opt.field_length_distribution == "constant" and max or
      opt.min_field_length, max
end

-- Returns a function that draws a number from min to max.
function M.drawer(distribution, min, max)
   if min == max then
      return function() return max end
   elseif distribution == "zipfian" then -- min is the most frequent number
      return function() return min + max - rand.latest(min, max) end
   end
   return function() return rand.uniform(min, max) end
end

-- Returns a function that returns formats of random values, for rand.string().
function M.formats(opt)
   local min, max = M.lengths(opt)
   local draw = M.drawer(opt.field_length_distribution, min, max)
   local longest = ("@"):rep(max)
   return function()
      return longest:sub(1, draw())
   end
end

-- Returns the value of a field with --data-integrity.
function M.value(opt, key, field)
   local part = key .. ":" .. field .. ":"
   return part:rep(math.ceil(opt.field_length / #part)):sub(1,
      opt.field_length)
end

-- Returns the name of the first field of a record that has a wrong value with
-- --data-integrity; nil if there is none. get(i): returns field i.
function M.wrong_field(opt, key, names, get)
   for i, name in ipairs(names) do
      if get(i) ~= M.value(opt, key, name) then
         return name
      end
   end
end

-- Returns the shared sequence of the records: its number n stands for record
-- n - 1, and it is finished when the record is in the table.
function M.records(after)
   return sysbench.sequence("ycsb records", after)
end

return M
