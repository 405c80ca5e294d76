-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.mongodb on a server, as a workload that prints TAP.
-- tests/db/test_documents runs it with the options to connect. --lacks names
-- the features that the server does not have; their tests are skipped.

local tap = dofile(os.getenv("SB_SRCDIR") .. "/tests/spec/lib/tap.lua")
local is, ok, like, raises = tap.is, tap.ok, tap.like, tap.raises
local mongodb = sysbench.mongodb
local doc, arg, null = mongodb.doc, mongodb.arg, mongodb.null
local db, coll

sysbench.cmdline.options = {
   lacks = {"What the server does not have", {}}
}

-- Runs the tests of a feature, or prints a line that they are skipped.
local function feature(name, body)
   for _, lacking in ipairs(sysbench.opt.lacks) do
      if lacking == name then
         tap.count = tap.count + 1
         print(("ok %d - %s # SKIP not in this server"):format(tap.count,
                                                               name))
         return
      end
   end
   body()
end

local function ids(list)
   local text = {}
   for i, one in ipairs(list) do
      text[i] = tostring(one._id)
   end
   return table.concat(text, ",")
end

local function sorted(list)
   table.sort(list, function(a, b) return a._id < b._id end)
   return ids(list)
end

-- Databases -----------------------------------------------------------------

local function databases()
   is(db:command("ping"):next().ok, 1, "command() with a name")
   is(db:command('{"ping": 1}'):next().ok, 1, "command() with JSON")
   is(db:command(doc("ping", 1)):reply().ok, 1,
      "command() with a document; reply()")
   is(db:command({ping = 1}):next().ok, 1, "command() with a table of one key")
   is(db:admin_command("ping"):next().ok, 1, "admin_command()")
   raises(function() db:command({ping = 1, x = 2}) end,
      "keys of a Lua table have no order", "a table of two keys is rejected")
   like(db:name(), "^%w+", "name()")
   ok(sysbench.mongodb == mongodb, "the module is loaded once")
   local con = sysbench.sql.driver("mongodb"):connect()
   is(mongodb.wrap(con):command("ping"):next().ok, 1, "wrap()")
   raises(function() mongodb.wrap() end,
      "wrap%(%) requires a connection, not nil",
      "wrap() without a connection")
   raises(function() local none = mongodb.connect{nosuch = 1} return none end,
      "documents_api.lua:%d+: connection creation failed",
      "connect() fails at the line of the script")
   con:disconnect()
   db:create_collection("api_made")
   ok(db:collection("api_made"):exists(), "create_collection(), exists()")
   is(#db:list_collections({name = "api_made"}), 1, "list_collections()")
   is(db:collection("api_made"):drop(), true, "drop() of a collection")
   is(db:collection("api_made"):drop(), false,
      "drop() of a collection that does not exist")
   raises(function() db:collection("") end, "invalid collection name",
      "a collection without a name")
end

-- Reading and writing ---------------------------------------------------------

local function inserts()
   is(coll:insert_one({_id = 1, k = 10, c = "one"}).inserted, 1,
      "insert_one()")
   is(coll:insert_one('{"_id": 2, "k": 20, "c": "two"}').inserted, 1,
      "insert_one() with JSON")
   local list = {}
   for i = 3, 2510 do
      list[#list + 1] = {_id = i, k = 10 * i, c = "many" .. i}
   end
   is(coll:insert_many(list).inserted, 2508,
      "insert_many() with several commands")
   is(coll:count(), 2510, "count()")
   is(coll:estimated_count(), 2510, "estimated_count()")
   is(coll:count({_id = {["$gt"] = 2500}}), 10, "count() with a filter")
   raises(function() coll:insert_one({_id = 1}) end, "api_docs",
      "a duplicate key is an error")
   is(db.con.sql_errno, 11000, "sql_errno of a duplicate key")
   raises(function()
      coll:insert_many({{_id = 1}, {_id = 5000}}, {ordered = false})
   end, "database error, errno = 11000: ",
      "unordered insert_many() with a duplicate key")
   is(coll:count({_id = 5000}), 1, "its other documents are inserted")
   raises(function() coll:insert_many({{_id = 1}, {_id = 5001}}) end,
      "errno = 11000", "ordered insert_many() with a duplicate key")
   feature("ordered", function()
      is(coll:count({_id = 5001}), 0, "later documents are not inserted")
   end)
   coll:delete_many({_id = 5001})
   list = {{_id = 1}}
   for i = 1, 1500 do
      list[#list + 1] = {_id = 6000 + i}
   end
   raises(function() coll:insert_many(list, {ordered = false}) end,
      "errno = 11000", "unordered: the first command fails")
   is(coll:count({_id = {["$gt"] = 6000}}), 1500,
      "unordered: the next command is sent, too")
   is(coll:delete_many({_id = {["$gte"] = 5000}}).deleted, 1501,
      "delete_many()")
   local large = ("x"):rep(5 * 1024 * 1024)
   is(coll:insert_many({
      {_id = 7001, c = large}, {_id = 7002, c = large}, {_id = 7003, c = large}
   }).inserted, 3, "insert_many() with more bytes than a command may have")
   coll:delete_many({_id = {["$gte"] = 7000}})
end

local function finds()
   local seen = 0
   for one in coll:find() do
      seen = seen + one._id
   end
   is(seen, 2510 * 2511 / 2, "find() returns all documents")
   seen = 0
   for one in coll:find(nil, {batch_size = 7, sort = {_id = -1}}) do
      seen = seen + 1
      ok(seen > 1 or one._id == 2510, "sort")
      if seen > 30 then break end
   end
   is(ids(coll:find({_id = {["$in"] = {7, 3, 5}}}, {sort = {_id = 1}}):all()),
      "3,5,7", "$in with a Lua array; all()")
   is(coll:find({_id = {["$in"] = mongodb.array()}}):count(), 0,
      "$in with an empty array")
   is(ids(coll:find('{"_id": {"$lte": 4}}', {
      sort = '{"_id": -1}', skip = 1, limit = 2
   }):all()), "3,2", "find() with JSON, skip and limit")
   local one = coll:find_one({_id = 9}, {projection = {c = 1, _id = 0}})
   ok(one.c == "many9" and one._id == nil and one.k == nil, "projection")
   is(coll:find_one({_id = -1}), nil, "find_one() without a match")
   is(coll:find_one({_id = 4}, {maxTimeMS = 60000}).k, 40,
      "options with the server's names")
   is(coll:find_one({_id = 4}, {max_time_ms = 60000}).k, 40,
      "options with underscores")
   is(coll:find_one(doc("_id", doc("$gt", 1, "$lt", 3))).c, "two",
      "an ordered filter")
   is(coll:find_one(mongodb.bson(mongodb.encode({_id = 2}))).c, "two",
      "BSON as a filter")
   is(coll:find_one({_id = mongodb.json('{"$eq": 2}')}).c, "two",
      "JSON inside a table")
   is(mongodb.decode(coll:find({_id = 2}):raw()).c, "two", "raw()")
   local r = coll:find({_id = 2})
   is(r:next()._id, 2, "next() of a result")
   is(r:next(), nil, "next() after the last document")
   is(r:count(), 1, "count() of a result")
   is(tostring(r:reply().ok), "1", "reply() of a result")
   coll:find({_id = 1})
   db.con:query('{"ping": 1}')
   raises(function() r:next() end, "no longer available",
      "the next command ends a result")
   raises(function() coll:find({_id = {["$nosuch"] = 1}}) end, "nosuch",
      "an error from the server")
   raises(function() coll:find(5) end, "a number instead of a document",
      "a number instead of a filter")
   raises(function() coll:find("{bad") end, "JSON", "invalid JSON")
   raises(function()
      coll:find({a = mongodb.json('{"b": 1}, "c": 2')})
   end, "JSON that is not one value at filter.a", "JSON with a second value")
   is(coll:find_one({_id = 1}).c, "one",
      "the connection can be used after errors")
end

local function types()
   local big = mongodb.int64(9007199254740993LL)
   local id = mongodb.objectid()
   local values = doc("_id", id, "i", 1, "l", 2 ^ 40, "big", big, "d", 0.5,
      "s", "text", "t", true, "n", null, "a", {1, {x = "y"}},
      "e", mongodb.array(), "date", mongodb.date(1356351330501),
      "b", mongodb.binary("a\0b"), "o", {p = 1},
      "ts", mongodb.timestamp(5, 6))
   coll:insert_one(values)
   local back = coll:find_one({_id = id})
   ok(back._id == id, "ObjectId")
   is(back.i, 1, "int32")
   is(back.l, 2 ^ 40, "int64")
   ok(back.big == big, "an int64 beyond 2^53")
   is(back.d .. back.s .. tostring(back.t), "0.5texttrue",
      "double, string, boolean")
   ok(back.n == null, "null")
   is(back.a[2].x, "y", "array")
   is(mongodb.encode({e = back.e}), mongodb.encode({e = mongodb.array()}),
      "an empty array stays an array")
   is(back.date.ms, 1356351330501, "date")
   is(back.b.data, "a\0b", "binary")
   is(back.ts.seconds, 5, "timestamp")
   coll:delete_one({_id = id})
   feature("decimal", function()
      coll:insert_one({_id = "dec", d = mongodb.decimal("1.50")})
      is(tostring(coll:find_one({_id = "dec"}).d), "1.50", "decimal")
      coll:delete_one({_id = "dec"})
   end)
   coll:insert_one({_id = "re", c = "needle in hay"})
   is(coll:count({c = mongodb.regex("^NEEDLE", "i")}), 1, "regex")
   coll:delete_one({_id = "re"})
end

local function updates()
   local r = coll:update_one({_id = 1}, {["$set"] = {c = "uno"}})
   is(r.matched .. "/" .. r.modified .. "/" .. r.upserted, "1/1/0",
      "update_one()")
   r = coll:update_one({_id = 1}, {["$set"] = {c = "uno"}})
   is(r.matched .. "/" .. r.modified, "1/0",
      "update_one() that changes nothing")
   r = coll:update_many({_id = {["$lte"] = 5}}, '{"$inc": {"k": 1}}')
   is(r.matched .. "/" .. r.modified, "5/5", "update_many() with JSON")
   r = coll:update_one({_id = 9000}, {["$set"] = {c = "new"}}, {upsert = true})
   is(r.matched .. "/" .. r.upserted .. "/" .. tostring(r.upserted_id),
      "0/1/9000", "update_one() with upsert")
   r = coll:replace_one({_id = 9000}, {c = "other", l = {1, 2, 3}})
   is(r.matched, 1, "replace_one()")
   is(coll:find_one({_id = 9000}).k, nil,
      "replace_one() removes other fields")
   coll:update_one({_id = 9000}, {["$push"] = {l = 4}})
   is(#coll:find_one({_id = 9000}).l, 4, "$push")
   feature("array filters", function()
      coll:update_one({_id = 9000}, {["$set"] = {["l.$[x]"] = 0}},
         {array_filters = {{x = {["$gte"] = 3}}}})
      local list = coll:find_one({_id = 9000}).l
      is(table.concat(list, ","), "1,2,0,0", "array filters")
   end)
   feature("pipeline updates", function()
      coll:update_one({_id = 9000}, {{["$set"] = {c = "piped"}}})
      is(coll:find_one({_id = 9000}).c, "piped", "an update with a pipeline")
   end)
   is(coll:delete_one({_id = 9000}).deleted, 1, "delete_one()")
   is(coll:delete_one({_id = 9000}).deleted, 0,
      "delete_one() without a match")
   raises(function() coll:update_one({_id = 1}, {c = "x"}) end,
      "an update requires operators such as $set, not c",
      "an update without operators")
   is(coll:find_one_and_update({_id = 2}, {["$set"] = {c = "dos"}}).c, "two",
      "find_one_and_update() returns the old document")
   is(coll:find_one_and_update({_id = 2}, {["$set"] = {c = "zwei"}},
      {new = true}).c, "zwei", "find_one_and_update() with new = true")
   feature("fields of findAndModify", function()
      is(coll:find_one_and_update({_id = 2}, {["$set"] = {c = "zwei"}},
         {projection = {c = 1, _id = 0}})._id, nil,
            "find_one_and_update() with a projection")
   end)
   is(coll:find_one_and_update({_id = 2}, {["$set"] = {c = "due"}},
      {return_document = "after"}).c, "due",
      "find_one_and_update() with return_document")
   is(coll:find_one_and_replace({_id = 2}, {c = "two"}).c, "due",
      "find_one_and_replace()")
   is(coll:find_one_and_delete({_id = 2}).c, "two", "find_one_and_delete()")
   is(coll:find_one_and_delete({_id = 2}), nil,
      "find_one_and_delete() without a match")
   is(coll:find_and_modify({query = {_id = 2}, update = {c = "two", k = 20},
      upsert = true, new = true})._id, 2, "find_and_modify()")
end

local function aggregates()
   local r = coll:aggregate({
      {["$match"] = {_id = {["$lte"] = 4}}},
      {["$group"] = doc("_id", null, "total", {["$sum"] = "$_id"})}})
   is(r:next().total, 10, "aggregate()")
   is(coll:aggregate([=[ [{"$match": {"_id": 3}}] ]=]):next().k, 31,
      "aggregate() with JSON")
   is(coll:aggregate({}, {batch_size = 50}):count(), 2510,
      "aggregate() with an empty pipeline returns all batches")
   local values = coll:distinct("k", {_id = {["$in"] = {3, 4}}})
   table.sort(values)
   is(table.concat(values, ","), "31,41", "distinct()")
   is(#coll:distinct("nosuch"), 0, "distinct() of a missing field")
   is(coll:count({_id = {["$lt"] = 100}}, {limit = 10, skip = 5}), 10,
      "count() with options")
end

local function indexes()
   local other = db:collection("api_indexes")
   other:drop()
   other:insert_one({_id = 1, a = 1, b = 2, c = "text", d = mongodb.date()})
   is(other:create_index("a"), "a_1", "create_index() with a field")
   is(other:create_index(doc("b", -1, "a", 1), {unique = true}), "b_-1_a_1",
      "create_index() with two keys, unique")
   is(other:create_index('{"c": 1}', {name = "mine"}), "mine",
      "create_index() with JSON and a name")
   raises(function() other:insert_one({_id = 2, a = 1, b = 2}) end,
      "11000", "the index is unique")
   feature("ttl", function()
      is(other:create_index("d", {ttl = 3600}), "d_1",
         "create_index() with ttl")
   end)
   feature("partial", function()
      other:create_index({p = 1}, {partial = {p = {["$gt"] = 5}}})
      local found
      for _, one in ipairs(other:list_indexes()) do
         found = found or one.partialFilterExpression ~= nil
      end
      ok(found, "create_index() with partial")
   end)
   feature("sparse", function()
      is(other:create_index("s", {sparse = true}), "s_1",
         "create_index() with sparse")
   end)
   feature("text", function()
      is(other:create_index({c = "text"}, {default_language = "english"}),
         "c_text", "text")
   end)
   feature("2dsphere", function()
      is(other:create_index({w = "2dsphere"}), "w_2dsphere", "2dsphere")
   end)
   feature("hashed", function()
      is(other:create_index({h = "hashed"}), "h_hashed", "hashed")
   end)
   is(table.concat(other:create_indexes({{keys = "x"}, {keys = {y = -1},
      name = "why"}}), ","), "x_1,why", "create_indexes()")
   local n = #other:list_indexes()
   ok(n >= 6, "list_indexes()")
   feature("drop index", function()
      other:drop_index("why")
      other:drop_index({x = 1})
      is(#other:list_indexes(), n - 2, "drop_index() by name and by keys")
      other:drop_indexes()
      is(#other:list_indexes(), 1, "drop_indexes()")
   end)
   feature("stats", function()
      is(other:stats().count, 1, "stats()")
   end)
   feature("rename", function()
      local target = db:collection("api_renamed")
      target:drop()
      is(other:rename("api_renamed").name, "api_renamed", "rename()")
      is(target:count(), 1, "the new name exists")
      is(other:exists(), false, "the old name does not")
      target:drop()
   end)
   other:drop()
end

-- Bulks, compiled commands --------------------------------------------------

local function bulks()
   local b = coll:bulk()
   b:insert({_id = 7001, k = 1})
   b:insert('{"_id": 7002, "k": 2}')
   b:update_one({_id = 7001}, {["$set"] = {k = 5}})
   b:update_many({_id = {["$gt"] = 7000}}, {["$inc"] = {k = 1}})
   b:replace_one({_id = 7003}, {k = 9}, {upsert = true})
   b:delete_one({_id = 7002})
   is(b:count(), 6, "count() of a bulk")
   local r = b:execute()
   is(("%d/%d/%d/%d/%d"):format(r.inserted, r.matched, r.modified, r.upserted,
      r.deleted), "2/3/3/1/1", "execute() of a bulk")
   is(coll:find_one({_id = 7001}).k, 6, "a bulk is executed in order")
   is(b:count(), 0, "a bulk is empty after execute()")
   is(b:execute().inserted, 0, "an empty bulk can be executed")
   b:insert({_id = 7001})
   b:insert({_id = 7010})
   raises(function() b:execute() end, "11000", "an ordered bulk fails")
   feature("ordered", function()
      is(coll:count({_id = 7010}), 0, "and stops at the first failure")
   end)
   coll:delete_many({_id = 7010})
   local u = coll:bulk{ordered = false}
   u:insert({_id = 7001})
   u:insert({_id = 7010})
   raises(function() u:execute() end, "11000", "an unordered bulk fails")
   is(coll:count({_id = 7010}), 1, "but executes the other writes")
   feature("counts of failures", function()
      is(u:result().inserted, 1, "result() after a failure")
   end)
   local row = mongodb.compile_document(db, doc("_id", arg(1), "k", arg(2),
      "l", {arg(3), "fixed"}))
   for i = 1, 3000 do
      u:insert(row, 8000 + i, i % 2 == 0 and "even" or i, {x = i})
   end
   is(u:execute().inserted, 3000, "compiled documents in a bulk")
   local one = coll:find_one({_id = 8002})
   is(one.k .. one.l[1].x .. one.l[2], "even2fixed",
      "the values of a compiled document")
   is(coll:find_one({_id = 8003}).k, 3, "the values of the next one")
   u:delete_many({_id = {["$gt"] = 7000}})
   is(u:execute().deleted, 3003, "delete_many() in a bulk")
   raises(function() coll:bulk():update_one({}, {k = 1}) end,
      "an update requires operators", "an update without operators in a bulk")
   for name, call in pairs{
      bulk = function() coll:bulk("ordered") end,
      find = function() coll:find({}, "limit=1") end,
      aggregate = function() coll:aggregate({}, "x") end,
      rename = function() coll:rename("y", "x") end,
      create_index = function() coll:create_index("k", "unique") end,
      find_one_and_update = function()
         coll:find_one_and_update({}, {["$set"] = {k = 1}}, "x")
      end
   } do
      raises(call, "options are a table, such as {upsert = true}, not a string",
         name .. "() with options that are a text")
   end
   raises(function() coll:create_indexes("k") end,
      "takes a list of indexes", "create_indexes() of a text")
end

local function compiled()
   local point = coll:compile("find", {_id = arg(1)},
      {projection = {c = 1, _id = 0}, op = "points"})
   local all = true
   for i = 3, 1000 do
      all = all and point:execute(i):next().c == "many" .. i
   end
   ok(all, "compiled find()")
   is(point:execute("x"):count(), 0, "a string as the value")
   is(point:execute(nil):count(), 0, "nil as the value")
   is(point:execute({["$in"] = {3, 4}}):count(), 2, "a table as the value")
   is(coll:compile("find_one", {_id = arg(1, "int64")}):execute(5).c, "many5",
      "compiled find_one()")
   local range = coll:compile("find", doc("_id",
      doc("$gte", arg(1), "$lt", arg(2))), {sort = {_id = 1}})
   is(ids(range:execute(3, 6):all()), "3,4,5",
      "a compiled command with two values")
   is(range:execute(5, 6):reply().ok, 1, "reply() of a compiled command")
   local put = coll:compile("insert_one", {_id = arg(1), v = arg(2),
      w = arg(3), x = arg(4), y = arg(5), z = {p = arg(6), q = arg(2)}})
   is(put:execute(7001, 1.5, true, null, {a = {1}},
      mongodb.date(5)).inserted, 1, "insert_one() with six types of values")
   local one = coll:find_one({_id = 7001})
   ok(one.v == 1.5 and one.w == true and one.x == null and one.y.a[1] == 1 and
      one.z.p.ms == 5 and one.z.q == 1.5, "they are stored unchanged")
   is(put:execute(7002, 5LL, mongodb.int32(1), nil, "s",
      mongodb.array()).inserted, 1, "insert_one() with other types of values")
   one = coll:find_one({_id = 7002})
   ok(one.v == 5 and one.w == 1 and one.x == null and one.y == "s" and
      #one.z.p == 0 and one.z.q == 5, "they are stored unchanged, too")
   local set = coll:compile("update_one", {_id = arg(1)},
      {["$set"] = {v = arg(2)}}, {upsert = true})
   local r = set:execute(7001, "new")
   is(r.matched .. "/" .. r.modified .. "/" .. r.upserted, "1/1/0",
      "compiled update_one()")
   is(set:execute(7003, "new").upserted_id, 7003, "its upsert")
   is(coll:compile("delete_one", {_id = arg(1)}):execute(7003).deleted, 1,
      "compiled delete_one()")
   is(coll:compile("count", {_id = {["$gt"] = arg(1)}}):execute(7000), 2,
      "compiled count()")
   is(coll:compile("distinct", "v", {_id = arg(1)}):execute(7001)[1], "new",
      "compiled distinct()")
   is(coll:compile("aggregate", {{["$match"] = {_id = arg(1)}}}):execute(7001)
      :next().v, "new", "compiled aggregate()")
   is(coll:compile("find_one_and_delete", {_id = arg(1)}):execute(7001).v,
      "new", "compiled find_one_and_delete()")
   is(db:compile(doc("find", coll.name, "filter", {_id = arg(1)}), "any")
      :execute(7002):next().v, 5, "db:compile()")
   is(db:compile('{"find": "' .. coll.name .. '", "filter": {"_id": ' ..
      '{"$arg": 1}}}'):execute(7002):next().v, 5, "db:compile() with JSON")
   coll:delete_many({_id = {["$gt"] = 7000}})
   raises(function() point:execute(print) end, "unsupported value",
      "a function as a value")
   raises(function()
      coll:compile("find", {_id = arg(1, "int32")}):execute("x")
   end, "int32", "a value of the wrong type")
   raises(function() coll:compile("find_one", {_id = arg(2)}):execute(1) end,
      "2 values are required, not 1", "a missing value")
   is(coll:compile("count", {_id = arg(1)}):execute(nil), 0,
      "nil counts as a value")
   raises(function() coll:compile("nosuch") end,
      "compile%(%) does not support the method nosuch", "no such method")
   raises(function() coll:find({_id = arg(1)}) end,
      "a placeholder outside of a compiled command",
      "a placeholder outside a compiled command")
   is(point:execute(3):next().c, "many3", "a command can be used after errors")
   collectgarbage()
   is(point:execute(4):next().c, "many4", "and after a garbage collection")
end

-- Errors, transactions --------------------------------------------------------

local function errors()
   local seen
   function sysbench.hooks.sql_error_ignorable(err)
      seen = err
      return true
   end
   local err = raises(function() coll:insert_one({_id = 1}) end, "",
      "the hook makes an error restartable")
   is(err.errcode, sysbench.error.RESTART_EVENT, "errcode")
   is(err.sql_errno, 11000, "sql_errno")
   like(err.query, '"?insert', "query contains the command")
   ok(seen == err and err.connection == db.con, "connection")
   sysbench.hooks.sql_error_ignorable = nil
   local _, text = pcall(function() coll:insert_one({_id = 1}) end)
   like(text, "documents_api.lua:%d+: ", "the message contains the line")
   like(text, "api_docs", "and the command")
end

local function transactions()
   feature("transactions", function()
      db:start_transaction()
      coll:insert_one({_id = 7001})
      db:abort()
      is(coll:count({_id = 7001}), 0, "abort()")
      db:start_transaction()
      coll:insert_one({_id = 7001})
      db:commit()
      is(coll:find_one({_id = 7001})._id, 7001, "commit()")
      is(db:transaction(function(id)
         return coll:delete_one({_id = id}).deleted
      end, 7001), 1, "transaction()")
      pcall(db.transaction, db, function()
         coll:insert_one({_id = 7001})
         error("mine")
      end)
      is(coll:find_one({_id = 7001}), nil, "an error aborts transaction()")
   end)
end

local function resident_kb()
   for line in io.lines("/proc/self/status") do
      local kb = line:match("^VmRSS:%s*(%d+)")
      if kb then
         return tonumber(kb)
      end
   end
end

-- A command of 900 KB does not keep as much memory for each compiled command.
local function memory()
   local list, long = {}, ("x"):rep(900000)
   for i = 1, 60 do
      list[i] = coll:compile("find_one", {_id = arg(1)})
   end
   is(list[1]:execute(long), nil, "a long value")
   local before = resident_kb()
   for i = 2, 60 do
      list[i]:execute(long)
   end
   local grown = resident_kb() - before
   ok(grown < 25000, "the commands of a connection share a buffer: " ..
      grown .. " KB for 59 commands")
   -- Commands that the script does not keep are freed before a later call.
   before = resident_kb()
   local pad = ("x"):rep(200000)
   for _ = 1, 300 do
      coll:compile("find_one", {_id = arg(1), pad = pad})
      collectgarbage()
      db:command("ping")
   end
   grown = resident_kb() - before
   ok(grown < 25000, "compiled commands are freed: " .. grown .. " KB")
end

-- Objects may be collected in any order.
local function lifetimes()
   local function make()
      local other = mongodb.connect()
      local c = other:collection("api_docs")
      local b = c:bulk()
      b:insert({_id = 1})
      return c:compile("find_one", {_id = arg(1)}), b
   end
   for _ = 1, 5 do
      local st = make()
      collectgarbage()
      is(st:execute(1)._id, 1, "a compiled command keeps its connection")
   end
   collectgarbage()
   collectgarbage()
   local st, b = make()
   st.db:disconnect()
   raises(function() st:execute(1) end, "closed",
      "a compiled command of a closed connection")
   raises(function() b:execute() end, "closed",
      "a bulk of a closed connection")
   collectgarbage()
end

function event()
   tap.run(function()
      db = mongodb.connect()
      coll = db:collection("api_docs")
      coll:drop()
      for _, body in ipairs{databases, inserts, finds, types, updates,
                            aggregates, indexes, bulks, compiled, errors,
                            transactions, memory, lifetimes}
      do
         body()
      end
      is(sorted(coll:find({_id = {["$lt"] = 4}}):all()), "1,2,3",
         "other documents are unchanged")
      coll:drop()
      db:disconnect()
   end)
   return true
end
