#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The core workloads A to F of YCSB, on SQL databases and MongoDB. Each event
-- is one operation on records of one table: READ, UPDATE, INSERT, SCAN or
-- READ-MODIFY-WRITE. The table has a key and --field-count fields:
--
--    CREATE TABLE usertable (YCSB_KEY VARCHAR(255) NOT NULL,
--       FIELD0 TEXT, FIELD1 TEXT, ..., PRIMARY KEY (YCSB_KEY))
--
-- On MongoDB it is a collection, and the key is _id. Records have numbers from
-- 0; a key is "user" and the hash of the number, or the number itself.

local collections = require("sb.mongodb.collections")
local options = require("sb.options")
local retry = require("sb.retry")
local tables = require("sb.tables")
local weights = require("sb.weights")

local rand = sysbench.rand

local opt    -- the settings
local fields -- the names of the fields
local con    -- the connection
local d      -- the SQL dialect; only in commands and in init()
local coll   -- the collection, on MongoDB

-- Options --------------------------------------------------------------------

local operations = {"read", "update", "insert", "scan", "read_modify_write"}
local INSERT = 3 -- index of "insert"

-- The shares of the operations, and the distribution of the keys.
local workloads = {
   a = {read = 0.5, update = 0.5, keys = "zipfian"},
   b = {read = 0.95, update = 0.05, keys = "zipfian"},
   c = {read = 1, keys = "zipfian"},
   d = {read = 0.95, insert = 0.05, keys = "latest"},
   e = {scan = 0.95, insert = 0.05, keys = "zipfian"},
   f = {read = 0.5, read_modify_write = 0.5, keys = "zipfian"},
}

local function validate_workload(_, value)
   if not workloads[value:lower()] then
      error(string.format("--workload must be a, b, c, d, e or f, not '%s'",
         value:lower()), 0)
   end
   return true
end

local function validate_distribution(_, value)
   if value ~= "" and value ~= "uniform" and value ~= "zipfian" and
      value ~= "latest"
   then
      error(string.format("--request-distribution must be uniform, zipfian " ..
         "or latest, not '%s'", value), 0)
   end
   return true
end

local function validate_share(name, value)
   local share = tonumber(value)
   if value ~= "" and not (share and share >= 0 and share <= 1e6) then
      error(string.format("--%s must be a number from 0 to 1000000, not '%s'",
         name:gsub("_", "-"), value), 0)
   end
   return true
end

local int, text = sysbench.cmdline.ARG_INT, sysbench.cmdline.ARG_STRING

local declared = options.with_table_options{
   workload = {"Core workload, a to f: a: READ and UPDATE, b: mostly READ, " ..
      "c: READ, d: READ of new records and INSERT, e: SCAN and INSERT, f: " ..
      "READ and READ-MODIFY-WRITE", "a", text, validate_workload},
   request_distribution = {"Distribution of the keys: uniform, zipfian or " ..
      "latest; empty: that of the workload", "", text,
      validate_distribution},
   operation_count = {"Expected number of operations of a run, with which " ..
      "zipfian leaves room for keys to be inserted; 0: --events or, without " ..
      "it, --table-size", 0, int, min = 0, max = 1e12},
   table_size = {"Records that prepare inserts", 10000, int, min = 1,
      max = 1e12},
   table_name = {"Name of the table or collection", "usertable", text,
      options.validate_table_name},
   insert_order = {"hashed: keys are hashes of the record's number; " ..
      "ordered: keys are the number", "hashed",
      values = {"hashed", "ordered"}},
   zero_padding = {"Minimum number of digits in a key", 1, int, min = 1,
      max = 100},
   field_count = {"Fields per record", 10, int, min = 1, max = 500},
   field_length = {"Length of a field, in characters", 100, int, min = 1,
      max = 65000},
   min_field_length = {"Minimum length of a field, unless " ..
      "--field-length-distribution=constant", 1, int, min = 0, max = 65000},
   field_length_distribution = {"Distribution of the lengths of fields: " ..
      "constant, uniform or zipfian", "constant",
      values = {"constant", "uniform", "zipfian"}},
   read_all_fields = {"Read all fields, not one", true},
   write_all_fields = {"Update all fields, not one", false},
   min_scan_length = {"Minimum number of records per SCAN", 1, int, min = 1,
      max = 1e6},
   max_scan_length = {"Maximum number of records per SCAN", 100, int, min = 1,
      max = 1e6},
   scan_length_distribution = {"Distribution of the lengths of scans: " ..
      "uniform or zipfian", "uniform", values = {"uniform", "zipfian"}},
   data_integrity = {"Write values that depend only on the key and the " ..
      "field, and compare what READ returns with them", false},
}

for _, operation in ipairs(operations) do
   declared[operation .. "_proportion"] = {"Share of the operation " ..
      operation:upper():gsub("_", "-") .. "; empty: that of the workload", "",
      text, validate_share}
end

sysbench.cmdline.options = declared

-- Returns the share of each element of `operations`, and their sum.
local function shares()
   local list, total = {}, 0
   for i, operation in ipairs(operations) do
      local given = opt[operation .. "_proportion"]
      list[i] = given == "" and workloads[opt.workload][operation] or
         tonumber(given) or 0
      total = total + list[i]
   end
   if total == 0 then
      error("the shares of all operations are 0", 0)
   end
   return list, total
end

-- Records --------------------------------------------------------------------

local key_format

-- Returns the key of record n.
local function key_of(n)
   return key_format:format(opt.insert_order == "hashed" and rand.fnv(n) or n)
end

local function draw_number(distribution, min, max)
   if min == max then
      return max
   elseif distribution == "zipfian" then -- min is the most frequent number
      return min + max - rand.latest(min, max)
   end
   return rand.uniform(min, max)
end

local min_length     -- of a field
local longest_format -- the format of the longest field, for rand.string()

-- Returns the format of a random value of a field.
local function value_format()
   return longest_format:sub(1, draw_number(opt.field_length_distribution,
      min_length, opt.field_length))
end

-- Returns the value of a field with --data-integrity.
local function fixed_value(key, field)
   local part = key .. ":" .. field .. ":"
   return part:rep(math.ceil(opt.field_length / #part)):sub(1,
      opt.field_length)
end

-- Raises the error that a record is damaged. damage: the end of the message.
local function damaged(key, damage)
   error(string.format("%s: the record %s %s", opt.table_name, key, damage), 0)
end

-- Raises an error unless the fields have their values of --data-integrity.
local function require_values(key, names, values)
   for i, field in ipairs(names) do
      if values[i] ~= fixed_value(key, field) then
         damaged(key, "has a wrong value in " .. field)
      end
   end
end

local verification = sysbench.op("VERIFY")

-- Does the same for the values that a READ has returned, as an operation of the
-- report.
local function verify(key, names, values)
   local token = verification:start()
   require_values(key, names, values)
   verification:finish(token)
end

-- An operation is on one field or on ALL, which is also the list of columns of
-- a SELECT.
local ALL = "*"

-- Returns a table whose elements are created when they are first used, by
-- create(field). field: the name of a field, or ALL. An element is a statement
-- or command of an operation, for example.
local function on_first_use(create)
   return setmetatable({}, {__index = function(list, field)
      list[field] = create(field)
      return list[field]
   end})
end

-- fields_of[field] is an array of the names of these fields.
local fields_of = on_first_use(function(field)
   return field == ALL and fields or {field}
end)

-- Completes the options, and computes the variables above.
local function read_options(given)
   opt = given
   opt.workload = opt.workload:lower()
   if opt.request_distribution == "" then
      opt.request_distribution = workloads[opt.workload].keys
   end
   options.require_order(opt, "min_scan_length", "max_scan_length")
   local constant = opt.field_length_distribution == "constant"
   if not constant then
      options.require_order(opt, "min_field_length", "field_length")
      if opt.data_integrity then
         error("--data-integrity requires " ..
            "--field-length-distribution=constant", 0)
      end
   end
   shares() -- raises an error if all are 0
   opt.tables = 1 -- for tables.prepare()
   fields = {}
   for i = 1, opt.field_count do
      fields[i] = "FIELD" .. i - 1
   end
   key_format = "user%0" .. opt.zero_padding .. "d"
   longest_format = ("@"):rep(opt.field_length)
   min_length = constant and opt.field_length or opt.min_field_length
end

-- SQL ------------------------------------------------------------------------

-- `sql` and `mongodb`, which follows, have the same functions. connect() sets
-- `access` to one of them.
local sql = {}

-- Prepares a statement. text_count: the number of its parameters that are keys
-- or values of fields; has_number: true if one more parameter is a number.
local function prepare(operation, statement, text_count, has_number)
   local types = sysbench.sql.type
   local stmt = con:prepare(statement:format(opt.table_name), operation)
   local params = {}
   for i = 1, text_count do
      params[i] = stmt:bind_create(types.VARCHAR,
         math.max(opt.field_length, 255))
   end
   if has_number then
      params[#params + 1] = stmt:bind_create(types.BIGINT)
   end
   stmt:bind_param(unpack(params))
   return {stmt = stmt, params = params}
end

-- Sets parameters, from number `first` on, to new values of fields.
local function set_values(params, first, key, names)
   for i, field in ipairs(names) do
      if opt.data_integrity then
         params[first + i - 1]:set(fixed_value(key, field))
      else
         params[first + i - 1]:set_rand_str(value_format())
      end
   end
end

local function without_key(row)
   return {unpack(row, 2, #fields + 1)}
end

local reads = on_first_use(function(field)
   return prepare("READ", "SELECT " .. field .. " FROM %s WHERE YCSB_KEY=?", 1)
end)

function sql.read(key, field)
   local read = reads[field]
   read.params[1]:set(key)
   local rows = read.stmt:execute()
   if opt.data_integrity and rows and rows.nrows > 0 then
      local row = rows:fetch_row()
      verify(key, fields_of[field], field == ALL and without_key(row) or row)
   end
end

local updates = on_first_use(function(field)
   local names = fields_of[field]
   return prepare("UPDATE", "UPDATE %s SET " .. table.concat(names, "=?, ") ..
      "=? WHERE YCSB_KEY=?", #names + 1)
end)

function sql.update(key, field)
   local update, names = updates[field], fields_of[field]
   set_values(update.params, 1, key, names)
   update.params[#names + 1]:set(key)
   update.stmt:execute()
end

local inserts = on_first_use(function()
   return prepare("INSERT", "INSERT INTO %s (YCSB_KEY, " ..
      table.concat(fields, ", ") .. ") VALUES (?" .. (", ?"):rep(#fields) ..
      ")", #fields + 1)
end)

function sql.insert(key)
   local insert = inserts[ALL]
   insert.params[1]:set(key)
   set_values(insert.params, 2, key, fields)
   insert.stmt:execute()
end

local scans = on_first_use(function(field)
   return prepare("SCAN", "SELECT " .. field .. " FROM %s " ..
      "WHERE YCSB_KEY >= ? ORDER BY YCSB_KEY LIMIT ?", 1, true)
end)

function sql.scan(key, length, field)
   local scan = scans[field]
   scan.params[1]:set(key)
   scan.params[2]:set(length)
   scan.stmt:execute()
end

-- For commands and init() ---

function sql.exists()
   return not d.find_table or
      tonumber(con:query_row(d.find_table:format(opt.table_name)) or 1) > 0
end

-- Returns false if there is no index on the key, as after a prepare that was
-- killed.
function sql.has_key()
   -- PostgreSQL stores names in lower case.
   local column = d.name == "pgsql" and "ycsb_key" or "YCSB_KEY"
   return not d.index_of or d.indexes == false or
      con:query_row(d.index_of:format(opt.table_name, column)) ~= nil
end

-- Returns SQL: the key is one of these.
local function is_one_of(keys)
   return "YCSB_KEY IN ('" .. table.concat(keys, "','") .. "')"
end

-- Returns how many of the keys exist; without keys, the number of all records.
function sql.count(keys)
   local count = con:query_row("SELECT COUNT(*) FROM " .. opt.table_name ..
      (keys and " WHERE " .. is_one_of(keys) or ""))
   return tonumber(count) or 0 -- the null driver has no results
end

-- Returns SQL: a field of the record has a wrong length.
local function wrong_length()
   local parts = {}
   for i, field in ipairs(fields) do
      parts[i] = string.format("%s IS NULL OR LENGTH(%s) < %d OR " ..
         "LENGTH(%s) > %d", field, field, min_length, field, opt.field_length)
   end
   return table.concat(parts, " OR ")
end

-- Returns how many of the keys exist; raises an error if a record is wrong.
function sql.check(keys)
   local count, wrong = con:query_row(string.format("SELECT COUNT(*), " ..
      "MIN(CASE WHEN %s THEN YCSB_KEY END) FROM %s WHERE %s", wrong_length(),
      opt.table_name, is_one_of(keys)))
   if wrong then
      damaged(wrong, "has a field of the wrong length")
   end
   if opt.data_integrity then
      local rows = con:query(string.format("SELECT * FROM %s WHERE %s",
         opt.table_name, is_one_of(keys)))
      for _ = 1, rows and rows.nrows or 0 do
         local row = rows:fetch_row()
         require_values(row[1], fields, without_key(row))
      end
   end
   return tonumber(count) or 0
end

function sql.read_all()
   con:query("SELECT SUM(LENGTH(" .. table.concat(fields, ") + LENGTH(") ..
      ")) FROM " .. opt.table_name)
end

function sql.drop()
   con:query("DROP TABLE IF EXISTS " .. opt.table_name)
end

-- MongoDB --------------------------------------------------------------------

local mongodb = {}

-- The driver is loaded only if it is used.
local function arg(n)
   return sysbench.mongodb.arg(n)
end

local function projection(field)
   return field ~= ALL and {[field] = 1} or nil
end

-- Returns new values of fields.
local function new_values(key, names)
   local values = {}
   for i, field in ipairs(names) do
      values[i] = opt.data_integrity and fixed_value(key, field) or
         rand.string(value_format())
   end
   return unpack(values)
end

local function values_of(doc, names)
   local values = {}
   for i, field in ipairs(names) do
      values[i] = doc[field]
   end
   return values
end

local finds = on_first_use(function(field)
   return coll:compile("find", {_id = arg(1)},
      {projection = projection(field), limit = 1, op = "READ"})
end)

function mongodb.read(key, field)
   local found = finds[field]:execute(key)
   local doc = opt.data_integrity and found:next()
   if doc then
      verify(key, fields_of[field], values_of(doc, fields_of[field]))
   end
end

local sets = on_first_use(function(field)
   local set = {}
   for i, name in ipairs(fields_of[field]) do
      set[name] = arg(i + 1)
   end
   return coll:compile("update_one", {_id = arg(1)}, {["$set"] = set},
      {op = "UPDATE"})
end)

function mongodb.update(key, field)
   sets[field]:execute(key, new_values(key, fields_of[field]))
end

local new_documents = on_first_use(function()
   local document = {_id = arg(1)}
   for i, field in ipairs(fields) do
      document[field] = arg(i + 1)
   end
   return coll:compile("insert_one", document, {op = "INSERT"})
end)

function mongodb.insert(key)
   new_documents[ALL]:execute(key, new_values(key, fields))
end

local ranges = on_first_use(function(field)
   return coll:compile("find", {_id = {["$gte"] = arg(1)}},
      {projection = projection(field), sort = {_id = 1},
      limit = arg(2, "int64"), op = "SCAN"})
end)

function mongodb.scan(key, length, field)
   ranges[field]:execute(key, length)
end

-- For commands and init() ---

function mongodb.exists()
   return coll:exists()
end

function mongodb.has_key()
   return true
end

function mongodb.count(keys)
   return coll:count(keys and {_id = {["$in"] = keys}} or {})
end

function mongodb.check(keys)
   local count = 0
   for doc in coll:find({_id = {["$in"] = keys}}) do
      count = count + 1
      for _, field in ipairs(fields) do
         local value = doc[field]
         if type(value) ~= "string" or #value < min_length or
            #value > opt.field_length
         then
            damaged(doc._id, "has a field of the wrong length")
         end
      end
      if opt.data_integrity then
         require_values(doc._id, fields, values_of(doc, fields))
      end
   end
   return count
end

function mongodb.read_all()
   for _ in coll:find({}, {sort = {_id = 1}, batch_size = 5000}) do
   end
end

function mongodb.drop()
   coll:drop()
end

-- prepare, warmup, cleanup ---------------------------------------------------

-- The sequence from which all users take records to insert: its number n is the
-- record n - 1. It is finished when the record is in the table.
local RECORDS = "ycsb records"

local access -- `sql` or `mongodb`
local commands = {}

-- Opens the connection. A command (or init()) connects to the first server of a
-- list that answers; a user of a run connects to the next one of the list.
local function connect(is_command)
   local drv = sysbench.sql.driver()
   if drv:dialect() == "mongodb" then
      access, con = mongodb, drv:connect()
      coll = sysbench.mongodb.wrap(con):collection(opt.table_name)
   elseif is_command then
      access, con, d = sql, tables.connect("ycsb", opt)
   else
      access, con = sql, drv:connect()
   end
end

-- Writes the rows first to last, which are the records first - 1 to last - 1.
local function fill(loader, _, n, first, last)
   for id = first, last do
      local key = key_of(id - 1)
      rand.row(n, id) -- the random values of a row depend only on n and id
      loader:text(key)
      for _, field in ipairs(fields) do
         if opt.data_integrity then
            loader:text(fixed_value(key, field))
         else
            loader:random_text(value_format())
         end
      end
   end
   rand.resume()
end

local function load_size() -- records that a user loads at a time
   return 1000
end

-- The description of the table for tables.prepare().
function sql.definition()
   return tables.describe{
      key = "YCSB_KEY", fill = fill, block = load_size,
      name = function() return opt.table_name end,
      columns = function()
         return "YCSB_KEY," .. table.concat(fields, ",")
      end,
      define = function()
         return string.format("YCSB_KEY VARCHAR(%d) NOT NULL, %s TEXT",
            d.key_length(con, 255), table.concat(fields, " TEXT, "))
      end,
      -- MySQL stores rows in the order of the primary key: rows with hashed
      -- keys would be inserted everywhere in the table.
      key_after_rows = function()
         return d.name == "mysql" and opt.insert_order == "hashed"
      end,
   }
end

function mongodb.definition()
   return collections.describe{
      fill = fill, block = load_size, finish = function() end,
      loader = function()
         local loader = con:load(opt.table_name, "_id," ..
            table.concat(fields, ","))
         loader:block(1000)
         return loader
      end,
   }
end

-- Declares a command: f() is called with an open connection.
local function command(name, f)
   commands[name] = function()
      connect(true)
      f()
      con:disconnect()
   end
end

command("prepare", function()
   tables.prepare(con, d, opt, access.definition())
end)

command("warmup", function()
   if sysbench.parallel.ticket("warmup") == 0 then
      tables.print("Preloading %s", opt.table_name)
      access.read_all()
   end
end)

command("cleanup", function()
   tables.print("Dropping '%s'...", opt.table_name)
   access.drop()
end)

-- Before a run ---------------------------------------------------------------

local BATCH = 500 -- records that one statement of init() or check looks for

-- Returns the keys of the records first..last.
local function keys_of(first, last)
   local keys = {}
   for n = first, last do
      keys[#keys + 1] = key_of(n)
   end
   return keys
end

-- Returns the number of the next record to insert: from --table-size on, the
-- first of BATCH records in a row that are all missing. Records are inserted in
-- the order of their numbers, but failed events and runs that end leave gaps,
-- so one missing record is not the end.
local function next_record()
   local function any_from(n)
      return access.count(keys_of(n, n + BATCH - 1)) > 0
   end
   local low, high, step = opt.table_size - 1, opt.table_size, BATCH
   while any_from(high) do
      low, high, step = high, high + step, 2 * step
   end
   while high - low > 1 do
      local middle = math.floor((low + high) / 2)
      if any_from(middle) then
         low = middle
      else
         high = middle
      end
   end
   return high
end

local function require_table()
   if not access.exists() then
      error(string.format("'%s' does not exist: create it with: %s",
         opt.table_name, sysbench.cmdline.command_line("prepare")), 0)
   end
end

-- Checks that the records of prepare exist, by the first and the last one.
local function require_records()
   local name = opt.table_name
   require_table()
   if access.count({key_of(0)}) == 0 then
      error(string.format("'%s' has no record %s: use the same " ..
         "--insert-order and --zero-padding as prepare, or create it with: %s",
         name, key_of(0), sysbench.cmdline.command_line("prepare")), 0)
   elseif not access.has_key() then
      sysbench.warning(string.format("'%s' has no index on YCSB_KEY: was " ..
         "prepare interrupted?", name))
   elseif access.count({key_of(opt.table_size - 1)}) == 0 then
      sysbench.warning(string.format("'%s' has fewer records than " ..
         "--table-size=%.0f: operations on missing records find nothing and " ..
         "look fast", name, opt.table_size))
   end
end

-- New records continue after those in the table.
function init()
   read_options(sysbench.opt)
   connect(true)
   local stored = access == mongodb or d.find_table -- false: null driver
   if stored and opt.check_tables then
      require_records()
   end
   sysbench.sequence(RECORDS, stored and next_record() or opt.table_size)
   con:disconnect()
end

-- Events ---------------------------------------------------------------------

local records        -- the sequence RECORDS
local draw_operation -- a function that returns an index of `operations`

-- Zipfian draws from the records 0..zipfian_last: there is room for twice the
-- expected number of INSERTs, so that the popular records stay the same while
-- the table grows. With more room than MAX_ROOM times --table-size, most draws
-- would be of records that do not exist.
local zipfian_last
local MAX_ROOM = 100

local function leave_room(insert_share)
   local size, count = opt.table_size, opt.operation_count
   if count == 0 then
      count = opt.events > 0 and opt.events or size
   end
   zipfian_last = size + math.floor(math.min(count * insert_share * 2,
      size * MAX_ROOM))
end

-- Draws the number of a record, as YCSB does. `uniform` draws only records that
-- prepare created. `latest` draws record 0 only if there is no other. No
-- distribution draws a record that a user is still inserting.
local function draw_record()
   if opt.request_distribution == "uniform" then
      return rand.uniform(0, opt.table_size - 1)
   elseif opt.request_distribution == "latest" then
      local last = records:finished() - 1
      return last > 0 and rand.latest(1, last) or 0
   end
   local n = rand.scrambled_zipfian(0, zipfian_last)
   while n >= records:finished() do
      n = rand.scrambled_zipfian(0, zipfian_last)
   end
   return n
end

local function draw_field(all)
   return all and ALL or fields[rand.uniform(1, opt.field_count)]
end

-- Of the event: the operation, the key of the record, the field to read or
-- scan, the field to write, and the number of records to scan.
local operation, key, read_field, written_field, scan_length

local read_modify_write = sysbench.op("READ-MODIFY-WRITE")
local token -- of its measurement, which includes retries

-- Draws the operation of an event, and its parameters.
local function choose()
   operation = operations[draw_operation()]
   if operation == "insert" then
      return
   end
   key = key_of(draw_record())
   if operation == "scan" then
      scan_length = draw_number(opt.scan_length_distribution,
         opt.min_scan_length, opt.max_scan_length)
   end
   if operation ~= "update" then
      read_field = draw_field(opt.read_all_fields)
   end
   if operation == "update" or operation == "read_modify_write" then
      written_field = draw_field(opt.write_all_fields)
   end
   if operation == "read_modify_write" then
      token = read_modify_write:start()
   end
end

local inserting -- the number of the record that this user inserts

local function insert()
   if inserting then -- it failed, and its record stays missing
      records:finish(inserting)
   end
   inserting = records:next()
   access.insert(key_of(inserting - 1))
   records:finish(inserting)
   inserting = nil
end

-- Executes the operation that choose() has drawn; again if the event is
-- retried, but an INSERT then takes another record.
local function execute()
   if operation == "read" then
      access.read(key, read_field)
   elseif operation == "update" then
      access.update(key, written_field)
   elseif operation == "insert" then
      insert()
   elseif operation == "scan" then
      access.scan(key, scan_length, read_field)
   else
      access.read(key, read_field)
      access.update(key, written_field)
      read_modify_write:finish(token)
   end
end

function thread_init()
   read_options(sysbench.opt)
   local list, total = shares()
   local inserts_share = list[INSERT] / total
   if inserts_share > 0 then
      options.refuse_ranks("ycsb", "if it inserts records")
   end
   connect()
   records = sysbench.sequence(RECORDS)
   draw_operation = weights.chooser(list)
   leave_room(inserts_share)
end

-- is_retry() returns whether the event is another try of the last one.
local is_retry = retry.watch()

function event()
   if not is_retry() then
      choose()
   end
   execute()
end

function thread_done()
   con:disconnect()
end

-- check ----------------------------------------------------------------------

-- Counters of all users: the records that check has found, and next_record().
local FOUND, NEXT = "ycsb found", "ycsb next"

-- Raises an error about the first of these records that is missing.
local function refuse_missing(first, last)
   for n = first, last do
      if access.count({key_of(n)}) == 0 then
         error(string.format("%s: record %.0f is missing, its key is %s " ..
            "(with --insert-order=%s)", opt.table_name, n, key_of(n),
            opt.insert_order), 0)
      end
   end
end

-- Raises an error if one of these records is wrong. The records of prepare, up
-- to --table-size, must all exist; runs may leave gaps between the later ones.
local function check_batch(first, last)
   local last_prepared = opt.table_size - 1
   if first <= last_prepared and last > last_prepared then
      check_batch(first, last_prepared)
      check_batch(last_prepared + 1, last)
      return
   end
   local count = access.check(keys_of(first, last))
   if last <= last_prepared and count < last - first + 1 then
      refuse_missing(first, last)
   end
   if count > 0 then
      sysbench.parallel.add(FOUND, count)
   end
end

-- One user finds the end of the records, all users check batches of them; then
-- one user counts all records, to find records with other keys.
command("check", function()
   local name = opt.table_name
   require_table()
   if not access.has_key() then
      error(name .. " has no index on YCSB_KEY", 0)
   end
   if sysbench.parallel.ticket("first in check") == 0 then
      sysbench.parallel.add(NEXT, next_record())
   end
   sysbench.parallel.barrier()
   local total = sysbench.parallel.add(NEXT, 0)
   tables.divide_work("check", math.ceil(total / BATCH), function(n)
      local first = (n - 1) * BATCH
      check_batch(first, math.min(first + BATCH, total) - 1)
   end)
   sysbench.parallel.barrier()
   if sysbench.parallel.ticket("last in check") == 0 then
      local all, known = access.count(), sysbench.parallel.add(FOUND, 0)
      if all ~= known then
         error(string.format("%s: %.0f records have keys that this workload " ..
            "does not insert with --insert-order=%s and --zero-padding=%d",
            name, all - known, opt.insert_order, opt.zero_padding), 0)
      end
      tables.print("%s: %.0f records, all correct; %.0f of them were " ..
         "inserted by runs", name, all, all - opt.table_size)
   end
end)

tables.declare_commands(commands, read_options)
