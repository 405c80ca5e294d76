-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.sql on a server with MongoDB's protocol; test_mongodb runs it.

local tap = dofile(os.getenv("SB_SRCDIR") .. "/tests/spec/lib/tap.lua")
local is, ok, like, raises = tap.is, tap.ok, tap.like, tap.raises
local con

-- All rows of a result, as text.
local function dump(rs)
   local lines = {}
   for i = 1, rs.nrows do
      local row, cells = rs:fetch_row(), {}
      for k = 1, rs.nfields do
         cells[k] = row[k] == nil and "NULL" or row[k]
      end
      lines[i] = table.concat(cells, "|")
   end
   return table.concat(lines, "\n")
end

local function ask(json)
   return dump(con:query(json))
end

local function documents(from, to)
   local list = {}
   for i = from, to do
      list[#list + 1] = ('{"_id": %d, "k": %d}'):format(i, i % 10)
   end
   return table.concat(list, ",")
end

local function writes()
   is(con:query('{"insert": "w", "documents": [{"_id": 1, "a": "x"}]}'), nil,
      "an insert has no rows")
   is(ask('{"find": "w"}'), "1|x", "find returns the inserted document")
   raises(function()
      con:query('{"insert": "w", "documents": [{"_id": 1}]}')
   end, "11000", "a duplicate key")
   raises(function()
      con:query('{"insert": "w", "ordered": false, "documents": ' ..
         '[{"_id": 1}, {"_id": 2}, {"_id": 1}]}')
   end, "1 further statement", "one command with two errors")
   is(ask('{"count": "w"}'), "2", "the document between them is inserted")
   con:query('{"update": "w", "updates": [{"q": {"_id": 1}, ' ..
      '"u": {"$set": {"a": "y"}}}]}')
   con:query('{"findAndModify": "w", "query": {"_id": 2}, ' ..
      '"update": {"$set": {"a": "z"}}}')
   is(ask('{"find": "w", "sort": {"_id": 1}}'), "1|y\n2|z", "updates")
   con:query('{"delete": "w", "deletes": [{"q": {}, "limit": 0}]}')
   is(ask('{"count": "w"}'), "0", "deletes")
end

local function cells()
   con:query('{"insert": "c", "documents": [{"_id": 1, "s": "text", ' ..
      '"i": 7, "l": {"$numberLong": "9007199254740993"}, "d": 0.1, ' ..
      '"b": true, "n": null, "o": {"x": [1, "}"]}, "y": [{"z": 2}], ' ..
      '"t": {"$date": {"$numberLong": "1500"}}, ' ..
      '"u": {"$oid": "0123456789abcdef01234567"}}, ' ..
      '{"_id": 2, "d": 3, "s": "second", "new": 1}]}')
   is(ask('{"find": "c", "sort": {"_id": 1}}'),
      '1|text|7|9007199254740993|0.1|true|NULL|{ "x" : [ 1, "}" ] }|' ..
      '[ { "z" : 2 } ]|1970-01-01 00:00:01.500|0123456789abcdef01234567\n' ..
      "2|second|NULL|NULL|3|NULL|NULL|NULL|NULL|NULL|NULL",
      "values of every type; the columns are the fields of the first document")
   local rs = con:query('{"find": "c", "filter": {"_id": 7}}')
   is(rs.nrows .. " " .. rs.nfields, "0 0", "no documents")
   is(con:query_row('{"find": "c", "filter": {"_id": 2}, ' ..
      '"projection": {"s": 1}}'), "2", "query_row")
   is(select(2, con:query_row('{"find": "c", "filter": {"_id": 2}, ' ..
      '"projection": {"s": 1}}')), "second", "query_row, second column")
end

local function cursors()
   con:query('{"insert": "many", "documents": [' .. documents(1, 700) .. "]}")
   for _, batch in ipairs{"", ', "batchSize": 7', ', "batchSize": 0'} do
      local rs = con:query('{"find": "many"' .. batch .. "}")
      is(rs.nrows, 700, "find: all batches" .. batch)
      local sum = 0
      for _ = 1, rs.nrows do
         sum = sum + tonumber(rs:fetch_row()[1])
      end
      is(sum, 700 * 701 / 2, "find: each document once" .. batch)
   end
   is(con:query('{"aggregate": "many", "pipeline": [{"$match": ' ..
      '{"_id": {"$gt": 100}}}], "cursor": {"batchSize": 11}}').nrows, 600,
      "aggregate: all batches")
   is(ask('{"count": "many", "query": {"k": 3}}'), "70", "count")
   local list = {}
   local rs = con:query('{"distinct": "many", "key": "k"}')
   for i = 1, rs.nrows do list[i] = rs:fetch_row()[1] end
   table.sort(list)
   is(table.concat(list, " "), "0 1 2 3 4 5 6 7 8 9", "distinct")
   is(con:query('{"listIndexes": "many"}').nrows, 1, "listIndexes")
   ok(con:query('{"listCollections": 1}').nrows >= 2, "listCollections")
   is(con:query('{"ping": 1}'), nil, "other commands have no rows")
end

local function errors()
   raises(function() con:query("SELECT 1") end, "JSON documents, not SQL",
      "SQL")
   raises(function() con:query('{"find": ') end, "not a JSON document",
      "an incomplete document")
   raises(function() con:query("{}") end, "whose first field is its name",
      "an empty document")
   raises(function() con:query('{"nosuchcommand": 1}') end, "nosuchcommand",
      "an unknown command")
   is(ask('{"count": "many", "$db": "sb_nosuch"}'), "0",
      "a command on another database")
   like(con:server_info(), "^%a+ [%d.]+", "server_info")
end

local function loading()
   local ld = con:load("loaded", "_id,k,c")
   for i = 1, 2500 do
      ld:int(i)
      ld:int(i == 1 and 5000000000 or i)
      if i == 2 then ld:null() else ld:text("row " .. i) end
   end
   ld:close()
   is(ask('{"count": "loaded"}'), "2500", "the rows of a load")
   is(ask('{"find": "loaded", "filter": {"_id": {"$in": [1, 2, 2500]}}, ' ..
      '"sort": {"_id": 1}}'),
      "1|5000000000|row 1\n2|2|NULL\n2500|2500|row 2500",
      "their values")
   is(ask('{"count": "loaded", "query": {"k": {"$type": "int"}}}') .. " " ..
      ask('{"count": "loaded", "query": {"k": {"$type": "long"}}}'),
      "2499 1", "integers have the smallest possible type")
   ld = con:load("loaded", "_id")
   ld:int(1)
   raises(function() ld:close() end, "11000", "a load with a duplicate key")
end

function event()
   con = sysbench.sql.driver():connect()
   tap.run(function()
      for _, part in ipairs{writes, cells, cursors, errors, loading} do
         part()
      end
      con:query('{"dropDatabase": 1}')
   end)
   return true
end
