-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Lua values to BSON and back: bytes from the specification and its test
-- corpus, every type, errors, and memory use. The tests need neither a server
-- nor a driver.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local is, ok, raises = tap.is, tap.ok, tap.raises
local mongodb = sysbench.mongodb
local encode, decode, doc = mongodb.encode, mongodb.decode, mongodb.doc

local function hex(bytes)
   return (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

local function bytes(text)
   text = text:gsub("%s", "")
   return (text:gsub("..", function(two)
      return string.char(tonumber(two, 16))
   end))
end

-- Checks that a document is encoded to these bytes, and that decoding and
-- encoding them again gives the same bytes.
local function vector(what, value, want)
   want = want:gsub("%s", ""):lower()
   is(hex(encode(value)), want, what)
   is(hex(encode(decode(bytes(want), true))), want, what .. ": and back")
end

local function vectors()
   vector("the empty document", {}, "05000000 00")
   vector("a string", {hello = "world"},
      "16000000 02 68656c6c6f00 06000000 776f726c6400 00")
   vector("an array", {BSON = {"awesome", 5.05, 1986}},
      "31000000 04 42534f4e00 26000000 02 3000 08000000 617765736f6d6500" ..
      "01 3100 3333333333331440 10 3200 c2070000 00 00")
   vector("a nested document", {a = {b = {c = true}}},
      "19000000 03 6100 11000000 03 6200 09000000 08 6300 01 00 00 00")
   vector("an empty array", {a = mongodb.array()},
      "0d000000 04 6100 0500000000 00")
   vector("an empty document inside", {a = {}},
      "0d000000 03 6100 0500000000 00")
   vector("int32", {a = 1}, "0c000000 10 6100 01000000 00")
   vector("the smallest int32", {a = -2147483648},
      "0c000000 10 6100 00000080 00")
   vector("the greatest int32", {a = 2147483647},
      "0c000000 10 6100 ffffff7f 00")
   vector("int64 by size", {a = 2147483648},
      "10000000 12 6100 0000008000000000 00")
   vector("a negative int64", {a = -2147483649},
      "10000000 12 6100 ffffff7fffffffff 00")
   vector("int64 by cdata", {a = 1LL}, "10000000 12 6100 0100000000000000 00")
   vector("the smallest int64", {a = -0x7fffffffffffffffLL - 1},
      "10000000 12 6100 0000000000000080 00")
   vector("int64()", {a = mongodb.int64(5)},
      "10000000 12 6100 0500000000000000 00")
   vector("double", {d = 1.2345678921232E+18},
      "10000000 01 6400 2a1bf5f41022b143 00")
   vector("double()", {d = mongodb.double(1)},
      "10000000 01 6400 000000000000f03f 00")
   vector("minus zero", {d = -0.0}, "10000000 01 6400 0000000000000080 00")
   vector("zero", {d = 0}, "0c000000 10 6400 00000000 00")
   vector("infinity", {d = -math.huge}, "10000000 01 6400 000000000000f0ff 00")
   vector("2^53", {d = 2 ^ 53}, "10000000 01 6400 0000000000004043 00")
   vector("false", {b = false}, "09000000 08 6200 00 00")
   vector("null", {a = mongodb.null}, "08000000 0a 6100 00")
   vector("minkey", {a = mongodb.minkey}, "08000000 ff 6100 00")
   vector("maxkey", {a = mongodb.maxkey}, "08000000 7f 6100 00")
   vector("objectid", {a = mongodb.objectid("56e1fc72e0c917e9c4714161")},
      "14000000 07 6100 56e1fc72e0c917e9c4714161 00")
   vector("date", {a = mongodb.date(1356351330501)},
      "10000000 09 6100 c5d8d6cc3b010000 00")
   vector("a date before 1970", {a = mongodb.date(-284643869501)},
      "10000000 09 6100 c33ce7b9bdffffff 00")
   vector("timestamp", {a = mongodb.timestamp(123456789, 42)},
      "10000000 11 6100 2a00000015cd5b07 00")
   vector("binary", {x = mongodb.binary("\255\255")},
      "0f000000 05 7800 02000000 00 ffff 00")
   vector("binary of the old subtype", {x = mongodb.binary("\255\255", 2)},
      "13000000 05 7800 06000000 02 02000000 ffff 00")
   vector("regex", {a = mongodb.regex("abc", "mi")},
      "0f000000 0b 6100 61626300 696d00 00")
   vector("code", {a = mongodb.code("b")}, "0e000000 0d 6100 02000000 6200 00")
   vector("a string with a zero", {a = "a\0b"},
      "10000000 02 6100 04000000 61006200 00")
   vector("ordered", doc("b", 1, "a", 2),
      "13000000 10 6200 01000000 10 6100 02000000 00")
   vector("BSON inside", {a = mongodb.bson(bytes("0500000000"))},
      "0d000000 03 6100 0500000000 00")
   vector("BSON as a whole", mongodb.bson(bytes("0c0000001061000100000000")),
      "0c000000 10 6100 01000000 00")
   -- Types without a constructor.
   for what, text in pairs{
      undefined = "08000000 06 6100 00",
      symbol = "0e000000 0e 6100 02000000 6200 00",
      ["a pointer"] = "1a000000 0c 6100 02000000 6200" ..
         "56e1fc72e0c917e9c4714161 00",
      ["code with scope"] = "17000000 0f 6100 0f000000 02000000 6200" ..
         "0500000000 00",
      ["a NaN of its own"] = "10000000 01 6400 120000000000f87f 00" }
   do
      is(hex(encode(decode(bytes(text), true))), (text:gsub("%s", "")), what)
   end
end

local function decimals()
   for text, want in pairs{
      ["0.1"] = "0100000000000000000000000000 3e30",
      ["0"] = "0000000000000000000000000000 4030",
      ["-0"] = "0000000000000000000000000000 40b0",
      ["NaN"] = "0000000000000000000000000000 007c",
      ["Infinity"] = "0000000000000000000000000000 0078",
      ["-Infinity"] = "0000000000000000000000000000 00f8",
      ["1234567890123456789012345678901234"] =
         "f2af967ed05c82de3297ff6fde3c 4030",
      ["9.999999999999999999999999999999999E+6144"] =
         "ffffffff638e8d37c087adbe09ed ff5f",
      ["1E-6176"] = "0100000000000000000000000000 0000",
      ["-7.50"] = "ee02000000000000000000000000 3cb0" }
   do
      want = want:gsub("%s", "")
      local value = mongodb.decimal(text)
      is(hex(encode{d = value}), "18000000136400" .. want .. "00",
         "decimal " .. text)
      is(tostring(value), text, "its text")
   end
   is(tostring(mongodb.decimal("1.0E+2")), "1.0E+2", "trailing zeros are kept")
   is(tostring(mongodb.decimal("100e0")), "100", "a zero exponent")
   is(tostring(mongodb.decimal("0.00000012")), "1.2E-7",
      "a small number with exponent")
   is(tostring(mongodb.decimal("0.000012")), "0.000012",
      "a small number without exponent")
   is(tostring(mongodb.decimal(".5")), "0.5", "without a zero in front")
   is(tostring(mongodb.decimal("1E6112")), "1.0E+6112",
      "an exponent so large that digits are added")
   raises(function() mongodb.decimal("12a") end,
      "test_bson.lua:%d+: document: not a decimal number, or out of range: " ..
      "12a", "not a number")
   raises(function() mongodb.decimal(("1"):rep(35)) end, "out of range",
      "35 digits")
   raises(function() mongodb.decimal("1E7000") end, "out of range",
      "too large")
end

local function reading()
   local t = decode(encode(doc("i", 5, "l", 2 ^ 40, "big",
      9007199254740993LL, "d", 1.5, "one", mongodb.double(1), "s", "x\0y",
      "t", true, "n", mongodb.null, "a", {1, "two", {three = 3}}, "e",
      mongodb.array(), "o", {k = "v"})))
   is(t.i, 5, "int32")
   is(t.l, 2 ^ 40, "int64 as a number")
   ok(t.big == 9007199254740993LL and type(t.big) == "cdata",
      "int64 that a Lua number cannot represent")
   is(t.d, 1.5, "double")
   is(t.one, 1, "a double with an integral value")
   is(t.s, "x\0y", "string")
   is(t.t, true, "boolean")
   ok(t.n == mongodb.null, "null")
   is(tostring(t.n), "null", "its tostring()")
   is(#t.a, 3, "array")
   is(t.a[3].three, 3, "a document in an array")
   is(t.o.k, "v", "document")
   is(hex(encode{e = t.e}), "0d0000000465000500000000" .. "00",
      "an empty array stays an array")
   is(#decode(encode{a = {1, nil, 3}}).a, 3, "holes in an array count")
   ok(decode(encode{a = {1, nil, 3}}).a[2] == mongodb.null, "and are null")
   is(next(decode(encode{a = nil})), nil, "a field that is nil is absent")
   local keys = {}
   for i = 1, 40 do
      keys[2 * i - 1], keys[2 * i] = "key" .. (i * 7 % 41), i
   end
   is(hex(encode(decode(encode(doc(unpack(keys))), true))),
      hex(encode(doc(unpack(keys)))),
      "decoding to an ordered document keeps the order of keys")
   local list = {}
   for i = 1, 2000 do list[i] = i end
   list = decode(encode{a = list}).a
   ok(#list == 2000 and list[2000] == 2000, "a long array")
end

local function objects()
   local before = os.time()
   local id = mongodb.objectid()
   is(#id.hex, 24, "a new ObjectId")
   ok(id ~= mongodb.objectid(), "the next ObjectId differs")
   local made = tonumber(id.hex:sub(1, 8), 16)
   ok(made >= before and made <= os.time(), "an ObjectId begins with the time")
   ok(id == mongodb.objectid(id.hex), "== compares ObjectIds by value")
   is(tostring(id), id.hex, "tostring() of an ObjectId")
   local back = decode(encode{
      d = mongodb.date(1356351330501), b = mongodb.binary("xyz", 128),
      r = mongodb.regex("^a.b$", "i"), t = mongodb.timestamp(7, 8),
      c = mongodb.code("f()"), o = mongodb.binary("old", 2) })
   is(back.d.ms, 1356351330501, "date.ms")
   is(tostring(back.d), "2012-12-24T12:15:30.501Z", "tostring() of a date")
   is(back.b.data, "xyz", "binary.data")
   is(back.b.subtype, 128, "binary.subtype")
   is(back.o.data, "old", "binary.data of the old subtype")
   is(back.r.pattern .. back.r.options, "^a.b$i", "regex")
   is(tostring(back.r), "/^a.b$/i", "tostring() of a regex")
   is(back.t.seconds + 100 * back.t.increment, 807, "timestamp")
   is(back.c.text, "f()", "code")
   is(mongodb.int32(5).value, 5, "int32()")
   is(tostring(mongodb.double(2)), "2", "double()")
   before = os.time()
   made = math.floor(mongodb.date().ms / 1000)
   ok(made >= before and made <= os.time(), "date() is now")
   local o = doc("a", 1)
   o.b, o.a = 2, nil
   o.a = 3
   is(hex(encode(o)), "1300000010610003000000106200" .. "0200000000",
      "fields of an ordered document")
end

local function errors()
   local deep = {}
   local function fails(what, value, pattern)
      raises(function() encode(value) end, "test_bson.lua:%d+: document: " ..
         pattern, what)
   end
   fails("a function", {a = {b = {c = print}}},
      "unsupported value %(a function%) at a.b.c")
   fails("in an array", {a = {1, {x = print}}},
      "unsupported value %(a function%) at a.1.x")
   fails("another cdata", {a = ffi.new("int[2]")}, "unsupported value %(.*at a")
   fails("a uint64 that is too large", {a = 0xffffffffffffffffULL},
      "unsupported value %(18446744073709551615ULL%) at a")
   fails("a zero in a key", {a = {["b\0c"] = 1}},
      "a NUL byte in a key at a.b\\0c")
   fails("a number as key", {a = {[7] = 1}},
      "the key must be a string, not a number at a.%[7%]")
   fails("an array with a key", {a = {1, 2, x = 3}},
      "an array with an invalid key at a.x")
   for _, name in ipairs{"x", "y", "z", "a", "b"} do
      local mixed = {x = 1, y = 2, z = 3, a = 4, b = 5}
      for other in pairs(mixed) do
         if other ~= name then
            mixed[other] = nil
         end
      end
      mixed[1] = "first" -- in the place of a key that was removed
      fails("an array with the key " .. name, {v = mixed},
         "an array with an invalid key at v." .. name)
   end
   fails("an array with a hole before its last", {a = {1, [5] = 5}},
      "an array with an invalid key at a.5")
   local copy = setmetatable({a = 1}, getmetatable(doc("a", 1)))
   fails("a copy of an ordered document", {q = copy},
      "a copy of an ordered document, without its order at q")
   fails("such a copy as the document itself", copy,
      ".*without its order at top")
   fails("a document that writes another one",
      {v = setmetatable({}, {__index = function() encode{q = 1} end})},
      "another document was started while a metamethod of this one ran")
   local id = mongodb.objectid()
   id.bytes = nil
   fails("an ObjectId without its bytes", {v = id},
      "unsupported value %(a table%) at v")
   deep.x = deep
   fails("a table inside itself", deep,
      "documents are nested more than 100 levels deep, or a table contains " ..
      "itself at x.x.x.x.x.x.x.x%.%.%.%.$")
   fails("an array as the document", {1},
      "an array or another value instead of a document at top")
   fails("a number as the document", 5, "a number instead of a document")
   fails("a placeholder", {a = mongodb.arg(1)},
      "a placeholder outside of a compiled command at a")
   raises(function() encode('{"a": 1}') end, "JSON requires a connection",
      "JSON without a connection")
   is(hex(encode{a = 1}), "0c0000001061000100000000",
      "encode() works after errors")
   local function rejects(what, pattern, f, ...)
      local args = {...}
      raises(function() return f(unpack(args)) end, pattern, what)
   end
   rejects("an ObjectId of 23 digits", "24 hexadecimal digits",
      mongodb.objectid, ("a"):rep(23))
   rejects("int32 of 2^31", "int32: 2147483648 is not", mongodb.int32, 2 ^ 31)
   rejects("int32 of 0.5", "int32: 0.5 is not", mongodb.int32, 0.5)
   rejects("int64 of 2^63", "int64: 9.2", mongodb.int64, 2 ^ 63)
   rejects("int64 of a string", "int64: not a number: x", mongodb.int64, "x")
   rejects("double of a string", "double: not a number: x", mongodb.double, "x")
   rejects("doc() with three arguments", "a value for each key", doc, "a", 1,
      "b")
   rejects("doc() with a number as key", "a string as key", doc, 1, 2)
   rejects("bson() of a string that is not BSON", "not a BSON document",
      mongodb.bson, "xyz")
   rejects("arg(0)", "placeholder number: 0", mongodb.arg, 0)
   rejects("arg() of a type", "unknown placeholder type: text", mongodb.arg, 1,
      "text")
   rejects("decode() of an empty string", "not valid BSON", decode, "")
end

-- Whatever the bytes are, decode() reads nothing outside them.
local function junk()
   local whole = encode(doc("s", "text", "a", {1, {x = 2}}, "b",
      mongodb.binary("bin"), "r", mongodb.regex("p", "i"), "d", 1.5))
   local good, rejects = 0, 0
   for n = 0, #whole - 1 do
      local ran = pcall(decode, whole:sub(1, n))
      rejects = rejects + (ran and 0 or 1)
   end
   is(rejects, #whole, "every truncated document is rejected")
   for i = 1, #whole do
      for _, c in ipairs{0, 1, 127, 128, 255} do
         local ran, err = pcall(decode, whole:sub(1, i - 1) ..
            string.char(c) .. whole:sub(i + 1))
         if ran or tostring(err):find("not valid BSON") then
            good = good + 1
         end
      end
   end
   is(good, 5 * #whole, "a document with a wrong byte is decoded or rejected")
end

-- Encoding and decoding leave nothing in the Lua state of a user: no code, no
-- traces, no machine code.
local function small()
   local out, err = tap.with([[
local stitched = 0
local util = require("jit.util")
local function note(what, tr)
   if what == "stop" and util.traceinfo(tr).linktype == "stitch" then
      stitched = stitched + 1
   end
end
local mongodb = sysbench.mongodb
local row = {_id = 1, k = 2, c = "text", pad = 0.5, big = 2 ^ 40, b = true,
             id = mongodb.objectid(), l = {1, 2, 3}, o = {x = 1}}
local list = mongodb.doc("find", "c", "filter", row)
local function live()
   collectgarbage() collectgarbage()
   return collectgarbage("count")
end
local before
function thread_init()
   require("jit").attach(note, "trace")
   mongodb.decode(mongodb.encode(list)) -- loads what there is
   before = live()
end
local size = 0
function event()
   row._id = row._id + 1
   local bytes = mongodb.encode(list)
   size = size + #bytes
   assert(mongodb.decode(bytes).filter._id == row._id)
end
function thread_done()
   local grown = live() - before
   print("small", stitched, size, grown < 8, grown)
end]],
      "run --events=20000 --time=0")
   local stitched, size, same = out:match("small\t(%d+)\t(%d+)\t(%a+)")
   is(tonumber(stitched), 0, "calls are not part of traces")
   is(tonumber(size), 20000 * 148, "20,000 documents")
   is(same, "true", "a user's memory does not grow: " .. out .. err)
end

-- Users share no data.
local function users()
   local out, err, rc = tap.with([[
local seen = {}
function event(id)
   local mongodb = sysbench.mongodb
   for i = 1, 200 do
      local one = mongodb.objectid().hex
      assert(not seen[one])
      seen[one] = true
      local t = mongodb.decode(mongodb.encode{id = id, i = i,
         s = ("x"):rep(i * 100)})
      assert(t.id == id and t.i == i and #t.s == i * 100)
   end
end]], "run --threads=4 --time=0 --events=40")
   is(rc, 0, "four users at the same time", out .. err)
end

-- The pause of the garbage collector in users that decode documents.
local function pauses()
   local script = [[
function thread_init() %s end
function event()
   sysbench.mongodb.decode(sysbench.mongodb.encode{a = 1})
   print("pause " .. collectgarbage("setpause", 200))
end]]
   local read = 'sysbench.mongodb.decode("\\5\\0\\0\\0\\0") '
   local own = 'collectgarbage("setpause", 170) '
   for code, pause in pairs{[""] = 110, [read] = 110, [own] = 170,
                            [own .. read] = 170, [read .. own] = 170} do
      local out, err = tap.with(script:format(code), "run --time=0 --events=1")
      tap.like(out, "pause " .. pause, "the pause after: " .. code .. err)
   end
end

function event()
   tap.run(function()
      for _, body in ipairs{vectors, decimals, reading, objects, errors, junk,
                            small, users, pauses}
      do
         body()
      end
   end)
   return true
end
