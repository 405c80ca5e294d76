#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The core workloads A to F of YCSB, on SQL databases and MongoDB. Each event
-- is one operation on records of one table: READ, UPDATE, INSERT, SCAN or
-- READ-MODIFY-WRITE.

local ycsb = require("sb.ycsb")

local rand = sysbench.rand
local retry = require("sb.retry")
local opt -- the settings

-- Access ---------------------------------------------------------------------

-- Returns a function that returns make(i), which it calls once per i.
local function on_demand(make)
   local list = {}
   return function(i)
      local made = list[i]
      if not made then
         made = make(i)
         list[i] = made
      end
      return made
   end
end

local verification = sysbench.op("VERIFY")

-- Raises an error if a record that READ returned has a wrong value. i: as in
-- read(). get: as for ycsb.wrong_field(); nil if there is no record.
local function verify(key, names, i, get)
   if not get then
      return -- the report counts reads that found nothing
   end
   local t = verification:start()
   local wrong = ycsb.wrong_field(opt, key, i == 0 and names or {names[i]}, get)
   verification:finish(t)
   if wrong then
      error(string.format("%s: the record %s has a wrong value in %s",
         opt.table_name, key, wrong), 0)
   end
end

-- Returns the operations on an SQL database. In read(key, i), update(key, i)
-- and scan(key, n, i), i is the number of the field, or 0 for all fields.
local function sql_operations(drv, names, format)
   local con = drv:connect()
   local kind, name = sysbench.sql.type, opt.table_name
   local _, longest = ycsb.lengths(opt)
   local to_close = {} -- statements

   local function statement(op, text, types)
      local stmt = con:prepare(text:format(name), op)
      local params = {}
      for i, t in ipairs(types) do
         params[i] = stmt:bind_create(t, t == kind.VARCHAR and
            math.max(longest, 255) or nil)
      end
      stmt:bind_param(unpack(params))
      to_close[#to_close + 1] = stmt
      return {stmt = stmt, params = params}
   end

   local function columns(i)
      return i == 0 and "*" or names[i]
   end

   local reads = on_demand(function(i)
      return statement("READ", "SELECT " .. columns(i) ..
         " FROM %s WHERE YCSB_KEY=?", {kind.VARCHAR})
   end)
   local updates = on_demand(function(i)
      local set, types = {}, {}
      for f = i == 0 and 1 or i, i == 0 and #names or i do
         set[#set + 1], types[#types + 1] = names[f] .. "=?", kind.VARCHAR
      end
      types[#types + 1] = kind.VARCHAR
      return statement("UPDATE", "UPDATE %s SET " .. table.concat(set, ", ") ..
         " WHERE YCSB_KEY=?", types)
   end)
   local scans = on_demand(function(i)
      return statement("SCAN", "SELECT " .. columns(i) .. " FROM %s " ..
         "WHERE YCSB_KEY >= ? ORDER BY YCSB_KEY LIMIT ?",
         {kind.VARCHAR, kind.BIGINT})
   end)
   local inserts = on_demand(function()
      local types = {}
      for i = 1, #names + 1 do
         types[i] = kind.VARCHAR
      end
      return statement("INSERT", "INSERT INTO %s (YCSB_KEY, " ..
         table.concat(names, ", ") .. ") VALUES (?" .. (", ?"):rep(#names) ..
         ")", types)
   end)

   local function set(param, key, field)
      if opt.data_integrity then
         param:set(ycsb.value(opt, key, names[field]))
      else
         param:set_rand_str(format())
      end
   end

   local db = {}
   function db.read(key, i)
      local s = reads(i)
      s.params[1]:set(key)
      local rs = s.stmt:execute()
      if opt.data_integrity then
         local row = rs and rs.nrows > 0 and rs:fetch_row()
         verify(key, names, i, row and function(field)
            return row[i == 0 and field + 1 or 1]
         end)
      end
   end
   function db.update(key, i)
      local s = updates(i)
      local n = #s.params
      for f = 1, n - 1 do
         set(s.params[f], key, i == 0 and f or i)
      end
      s.params[n]:set(key)
      s.stmt:execute()
   end
   function db.insert(key)
      local s = inserts(1)
      s.params[1]:set(key)
      for f = 1, #names do
         set(s.params[f + 1], key, f)
      end
      s.stmt:execute()
   end
   function db.scan(key, n, i)
      local s = scans(i)
      s.params[1]:set(key)
      s.params[2]:set(n)
      s.stmt:execute()
   end
   function db.close()
      for _, stmt in ipairs(to_close) do
         stmt:close()
      end
      con:disconnect()
   end
   return db
end

-- The same on MongoDB: the key is _id.
local function document_operations(drv, names, format)
   local mongodb = sysbench.mongodb
   local arg = mongodb.arg
   local own = mongodb.wrap(drv:connect())
   local coll = own:collection(opt.table_name)

   local function projection(i)
      return i > 0 and {[names[i]] = 1} or nil
   end

   local reads = on_demand(function(i)
      return coll:compile("find", {_id = arg(1)},
         {projection = projection(i), limit = 1, op = "READ"})
   end)
   local updates = on_demand(function(i)
      local set = {}
      for f = i == 0 and 1 or i, i == 0 and #names or i do
         set[names[f]] = arg(i == 0 and f + 1 or 2)
      end
      return coll:compile("update_one", {_id = arg(1)}, {["$set"] = set},
         {op = "UPDATE"})
   end)
   local scans = on_demand(function(i)
      return coll:compile("find", {_id = {["$gte"] = arg(1)}},
         {projection = projection(i), sort = {_id = 1},
         limit = arg(2, "int64"), op = "SCAN"})
   end)
   local inserts = on_demand(function()
      local doc = {_id = arg(1)}
      for i, name in ipairs(names) do
         doc[name] = arg(i + 1)
      end
      return coll:compile("insert_one", doc, {op = "INSERT"})
   end)

   -- Returns the values of the fields from..to.
   local function values(key, from, to)
      local list = {}
      for i = from, to do
         list[#list + 1] = opt.data_integrity and
            ycsb.value(opt, key, names[i]) or rand.string(format())
      end
      return unpack(list)
   end

   local db = {close = function() own:disconnect() end}
   function db.read(key, i)
      local found = reads(i):execute(key)
      if opt.data_integrity then
         local doc = found:next()
         verify(key, names, i, doc and function(field)
            return doc[names[i == 0 and field or i]]
         end)
      end
   end
   function db.update(key, i)
      updates(i):execute(key, values(key, i == 0 and 1 or i,
         i == 0 and #names or i))
   end
   function db.insert(key)
      inserts(1):execute(key, values(key, 1, #names))
   end
   function db.scan(key, n, i)
      scans(i):execute(key, n)
   end
   return db
end

-- Operations -----------------------------------------------------------------

-- Room of zipfian for new records, as a multiple of --table-size.
local MAX_ROOM = 100

local db, key, records, draw_record, draw_length, choose
local inserting -- number in `records` of the record of this user's INSERT

-- Returns a function that draws the number of a record in the table. Records
-- that users are inserting are not drawn.
local function drawer(insert_share)
   local size = opt.table_size
   if opt.request_distribution == "uniform" then
      return function() return rand.uniform(0, size - 1) end
   elseif opt.request_distribution == "latest" then
      return function()
         local last = records:finished() - 1
         return last > 0 and rand.latest(1, last) or 0
      end
   end
   -- The range has room for twice the expected number of inserts, so that the
   -- popular records stay the same while the table grows. With too much room,
   -- most draws would be of records that do not exist.
   local operations = opt.operation_count
   if operations == 0 then
      operations = opt.events > 0 and opt.events or size
   end
   local room = math.min(operations * insert_share * 2, size * MAX_ROOM)
   local last = size + math.floor(room)
   return function()
      local n
      repeat
         n = rand.scrambled_zipfian(0, last)
      until n < records:finished()
      return n
   end
end

-- Returns 0 for all fields, or the number of a random field.
local function field(all)
   return all and 0 or rand.uniform(1, opt.field_count)
end

local whole = sysbench.op("READ-MODIFY-WRITE")

-- Of the event: its operation, the key of the record, the fields to read or
-- scan and those to write (see field()), the number of records to scan, and the
-- measurement of READ-MODIFY-WRITE.
local operation, k, fields, written, length, token

-- Each has a function that draws what the operation does, and one that does it,
-- which may be called again.
local operations = {
   {
      function()
         k, fields = key(opt, draw_record()), field(opt.read_all_fields)
      end,
      function() db.read(k, fields) end
   }, {
      function()
         k, written = key(opt, draw_record()), field(opt.write_all_fields)
      end,
      function() db.update(k, written) end
   }, {
      function() end,
      function()
         if inserting then -- the last INSERT of this user failed
            records:finish(inserting)
         end
         inserting = records:next()
         db.insert(key(opt, inserting - 1))
         records:finish(inserting)
         inserting = nil
      end
   }, {
      function()
         k, length = key(opt, draw_record()), draw_length()
         fields = field(opt.read_all_fields)
      end,
      function() db.scan(k, length, fields) end
   }, {
      function()
         k, fields = key(opt, draw_record()), field(opt.read_all_fields)
         written = field(opt.write_all_fields)
         token = whole:start()
      end,
      function()
         db.read(k, fields)
         db.update(k, written)
         whole:finish(token)
      end
   },
}

function thread_init()
   opt = ycsb.normalize(sysbench.opt)
   local drv, shares = sysbench.sql.driver(), ycsb.shares(opt)
   local open = drv:dialect() == "mongodb" and document_operations or
      sql_operations
   db = open(drv, ycsb.fields(opt), ycsb.formats(opt))
   key, records = ycsb.key, ycsb.records()
   local total = 0
   for _, share in ipairs(shares) do
      total = total + share
   end
   draw_record = drawer(shares[3] / total)
   draw_length = ycsb.drawer(opt.scan_length_distribution,
      opt.min_scan_length, opt.max_scan_length)
   require("sb.ranks").refuse_if(shares[3] > 0, "ycsb", "if it inserts records")
   choose = require("sb.weights").chooser(shares)
end

function thread_done()
   db.close()
end

function event()
   if not retry.again() then
      operation = operations[choose()]
      operation[1]()
   end
   operation[2]()
end

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

sysbench.cmdline.options = ycsb.declarations()

require("sb.own_commands").declare("sb.ycsb_commands", ycsb.normalize)

-- New records continue after those in the table.
function init()
   require("sb.ycsb_commands").measure(ycsb.normalize(sysbench.opt))
end
