-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- ycsb: creates, fills, checks and drops its table or collection. The users of
-- a run never load this.

local build = require("sb.build")
local doc_tables = require("sb.mongodb.collections")
local parallel = require("sb.prepare")
local ycsb = require("sb.ycsb")

local print_line = build.print_line

-- Counters of sysbench.parallel.ticket() for commands that are not prepare.
local BLOCK_KEY, FIRST_KEY, LAST_KEY = 0, 1, 2

local BLOCK = 500 -- records that one statement of check reads
local PAGE = 5000 -- documents that warmup reads at a time

local function fill(loader, opt, n, first, last)
   local rand = sysbench.rand
   local format, names = ycsb.formats(opt), ycsb.fields(opt)
   for id = first, last do
      local key = ycsb.key(opt, id - 1)
      rand.row(n, id)
      loader:text(key)
      for i = 1, opt.field_count do
         if opt.data_integrity then
            loader:text(ycsb.value(opt, key, names[i]))
         else
            loader:random_text(format())
         end
      end
   end
   rand.resume()
end

local function block()
   return 1000
end

local function field_list(opt)
   return table.concat(ycsb.fields(opt), ",")
end

-- SQL ------------------------------------------------------------------------

local tables = {fill = fill, block = block, key = ycsb.KEY}

function tables.name(opt)
   return opt.table_name
end

function tables.columns(opt)
   return ycsb.KEY .. "," .. field_list(opt)
end

function tables.define(d, opt, con)
   return string.format("YCSB_KEY VARCHAR(%d) NOT NULL, %s TEXT",
      d.key_length(con, 255), (field_list(opt):gsub(",", " TEXT, ")))
end

-- MySQL stores rows in the order of the primary key. Hashed keys would be
-- inserted everywhere in the table.
function tables.key_after_rows(d, opt)
   return d.name == "mysql" and opt.insert_order == "hashed"
end

require("sb.own_tables").derive(tables)

-- Access for the commands: SQL or MongoDB.
local Sql = {tables = tables}
Sql.__index = Sql

local function in_list(keys)
   return "YCSB_KEY IN ('" .. table.concat(keys, "','") .. "')"
end

-- Returns how many of the keys exist.
function Sql:count(keys)
   local count = self.con:query_row(string.format("SELECT COUNT(*) FROM %s%s",
      self.opt.table_name, keys and " WHERE " .. in_list(keys) or ""))
   return tonumber(count) or 0 -- the null driver has no results
end

-- Returns the condition for records that this workload does not write.
local function impossible(opt)
   local min, max = ycsb.lengths(opt)
   local parts = {}
   for i, name in ipairs(ycsb.fields(opt)) do
      parts[i] = string.format("%s IS NULL OR LENGTH(%s) < %d OR " ..
         "LENGTH(%s) > %d", name, name, min, name, max)
   end
   return "(" .. table.concat(parts, " OR ") .. ")"
end

-- Returns the first key of these whose record has a wrong value, and what is
-- wrong with it.
function Sql:wrong_value(keys)
   local opt = self.opt
   local names = ycsb.fields(opt)
   local rs = self.con:query(string.format("SELECT * FROM %s WHERE %s",
      opt.table_name, in_list(keys)))
   for _ = 1, rs and rs.nrows or 0 do
      local row = rs:fetch_row()
      local field = ycsb.wrong_field(opt, row[1], names,
         function(i) return row[i + 1] end)
      if field then
         return row[1], "has a wrong value in " .. field
      end
   end
end

-- Returns the number of records with these keys, the first key whose record is
-- wrong, and what is wrong with it.
function Sql:verify(keys)
   self.impossible = self.impossible or impossible(self.opt)
   local count, wrong = self.con:query_row(string.format("SELECT COUNT(*), " ..
      "MIN(CASE WHEN %s THEN YCSB_KEY END) FROM %s WHERE %s", self.impossible,
      self.opt.table_name, in_list(keys)))
   local why = "has a field of the wrong length"
   if not wrong and self.opt.data_integrity then
      wrong, why = self:wrong_value(keys)
   end
   return tonumber(count) or 0, wrong, why
end

function Sql:exists()
   local find = self.d.find_table
   return not find or
      tonumber(self.con:query_row(find:format(self.opt.table_name)) or 1) > 0
end

-- Returns false if there is no index on the key, as after a prepare that was
-- killed.
function Sql:has_key()
   local d = self.d
   local column = d.name == "pgsql" and ycsb.KEY:lower() or ycsb.KEY
   return not d.index_of or d.indexes == false or self.con:query_row(
      d.index_of:format(self.opt.table_name, column)) ~= nil
end

function Sql:drop()
   build.drop(self.con, self.opt, 1)
end

function Sql:read_all()
   self.con:query(string.format("SELECT SUM(LENGTH(%s)) FROM %s",
      field_list(self.opt):gsub(",", ") + LENGTH("), self.opt.table_name))
end

-- MongoDB --------------------------------------------------------------------

local collections = setmetatable({fill = fill, block = block},
   {__index = doc_tables})

function collections.loader(con, opt)
   local loader = con:load(opt.table_name, "_id," .. field_list(opt))
   loader:block(1000)
   return loader
end

function collections.finish()
end

local Documents = {tables = collections}
Documents.__index = Documents

function Documents:count(keys)
   return self.coll:count(keys and {_id = {["$in"] = keys}} or {})
end

function Documents:verify(keys)
   local opt, count, wrong, why = self.opt, 0, nil, nil
   local min, max = ycsb.lengths(opt)
   local names = ycsb.fields(opt)
   for doc in self.coll:find({_id = {["$in"] = keys}}) do
      count = count + 1
      for _, name in ipairs(names) do
         local value = doc[name]
         if type(value) ~= "string" or #value < min or #value > max then
            wrong, why = doc._id, "has a field of the wrong length"
         elseif opt.data_integrity and
            value ~= ycsb.value(opt, doc._id, name)
         then
            wrong, why = doc._id, "has a wrong value in " .. name
         end
      end
   end
   return count, wrong, why
end

function Documents:exists()
   return self.coll:exists()
end

function Documents.has_key()
   return true
end

function Documents:drop()
   self.coll:drop()
end

function Documents:read_all()
   local filter, last = {}, nil
   repeat
      local read = 0
      for doc in self.coll:find(filter, {sort = {_id = 1}, limit = PAGE}) do
         read, last = read + 1, doc._id
      end
      filter = {_id = {["$gt"] = last}}
   until read < PAGE
end

-- Commands -------------------------------------------------------------------

local function open(opt)
   require("sb.databases").refuse_several("ycsb")
   local drv = sysbench.sql.driver()
   local access = {opt = opt, con = drv:connect()}
   if drv:dialect() == "mongodb" then
      access.coll = sysbench.mongodb.wrap(access.con):collection(opt.table_name)
      return setmetatable(access, Documents)
   end
   access.d = require("sb.dialect").of(drv)
   if access.d.check_engine then
      access.d.check_engine(access.con, opt)
   end
   return setmetatable(access, Sql)
end

-- Returns the keys of the records first..last.
local function keys_of(opt, first, last)
   local keys = {}
   for n = first, last do
      keys[#keys + 1] = ycsb.key(opt, n)
   end
   return keys
end

-- Returns the number of the first record after which BLOCK records are missing;
-- it is at least `size`. Records are inserted in the order of their numbers,
-- but runs that end may leave gaps.
local function count_records(access, opt, size)
   local function any(first, last)
      return access:count(keys_of(opt, first, last)) > 0
   end
   if not any(size, size + BLOCK - 1) then
      return size
   end
   -- There are records in the block at `low`, and none in that at `high`.
   local low, high, step = size, size + BLOCK, BLOCK
   while any(high, high + BLOCK - 1) do
      low, high, step = high, high + 2 * step, 2 * step
   end
   while high - low > BLOCK do
      local middle = math.floor((low + high) / 2)
      if any(middle, middle + BLOCK - 1) then
         low = middle
      else
         high = middle
      end
   end
   while high - low > 1 do -- find the last one
      local middle = math.floor((low + high) / 2)
      if any(middle, high - 1) then
         low = middle
      else
         high = middle
      end
   end
   return high
end

local M = {}

function M.prepare(opt)
   local access = open(opt)
   parallel.prepare(access.con, access.d, opt, nil, nil, access.tables)
   access.con:disconnect()
end

function M.warmup(opt)
   local access = open(opt)
   if sysbench.parallel.ticket(BLOCK_KEY) == 0 then
      print_line("Preloading %s", opt.table_name)
      access:read_all()
   end
   access.con:disconnect()
end

M.prewarm = M.warmup

-- Raises an error that names the first of these records that is missing.
local function name_missing(access, opt, first, last)
   for n = first, last do
      local key = ycsb.key(opt, n)
      if access:count({key}) == 0 then
         error(string.format("%s: record %.0f is missing, its key is %s " ..
            "(with --insert-order=%s)", opt.table_name, n, key,
            opt.insert_order), 0)
      end
   end
end

local FOUND, LAST = "ycsb found", "ycsb last" -- counters of all users

local function check_block(access, opt, first, last)
   local count, wrong, why = access:verify(keys_of(opt, first, last))
   if wrong then
      error(string.format("%s: the record %s %s", opt.table_name, wrong, why),
         0)
   end
   local required = math.min(last, opt.table_size - 1)
   if count < required - first + 1 then
      name_missing(access, opt, first, required)
   end
   if count > 0 then
      sysbench.parallel.add(FOUND, count)
   end
end

local function require_table(access, opt)
   if not access:exists() then
      error(string.format("'%s' does not exist: create it with: %s",
         opt.table_name, sysbench.cmdline.command_line("prepare")), 0)
   end
end

-- All users check blocks of records; then one of them counts all records, to
-- find those with other keys.
function M.check(opt)
   local access, name = open(opt), opt.table_name
   require_table(access, opt)
   if not access:has_key() then
      error(name .. " has no index on " .. ycsb.KEY, 0)
   end
   if sysbench.parallel.ticket(FIRST_KEY) == 0 then
      sysbench.parallel.add(LAST, count_records(access, opt, opt.table_size))
   end
   sysbench.parallel.barrier()
   local total = sysbench.parallel.add(LAST, 0)
   parallel.share(BLOCK_KEY, math.ceil(total / BLOCK), function(n)
      local first = (n - 1) * BLOCK
      check_block(access, opt, first, math.min(first + BLOCK, total) - 1)
   end)
   sysbench.parallel.barrier()
   if sysbench.parallel.ticket(LAST_KEY) == 0 then
      local all, known = access:count(), sysbench.parallel.add(FOUND, 0)
      if all ~= known then
         error(string.format("%s: %.0f records have keys that this workload " ..
            "does not insert with --insert-order=%s and --zero-padding=%d",
            name, all - known, opt.insert_order, opt.zero_padding), 0)
      end
      print_line("%s: %.0f records, all correct; %.0f of them were inserted " ..
         "by runs", name, all, all - opt.table_size)
   end
   access.con:disconnect()
end

function M.cleanup(opt)
   local access = open(opt)
   print_line("Dropping '%s'...", opt.table_name)
   access:drop()
   access.con:disconnect()
end

-- Checks that the records of prepare exist, by the first and the last one.
local function require_records(access, opt)
   require_table(access, opt)
   if access:count({ycsb.key(opt, 0)}) == 0 then
      error(string.format("'%s' has no record %s: use the same " ..
         "--insert-order and --zero-padding as prepare, or create it with: %s",
         opt.table_name,
         ycsb.key(opt, 0), sysbench.cmdline.command_line("prepare")), 0)
   elseif not access:has_key() then
      sysbench.warning(string.format("'%s' has no index on %s: was prepare " ..
         "interrupted?", opt.table_name, ycsb.KEY))
   elseif access:count({ycsb.key(opt, opt.table_size - 1)}) == 0 then
      sysbench.warning(string.format("'%s' has fewer records than " ..
         "--table-size=%.0f: operations on missing records find nothing and " ..
         "look fast", opt.table_name, opt.table_size))
   end
end

-- Sets the sequence of records to the number of those that exist.
function M.measure(opt)
   local access = open(opt)
   local known = access.coll or access.d.find_table
   if known and opt.check_tables then
      require_records(access, opt)
   end
   ycsb.records(known and count_records(access, opt, opt.table_size) or
      opt.table_size)
   access.con:disconnect()
end

return M
