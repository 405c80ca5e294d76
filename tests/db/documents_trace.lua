-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Finds documents by _id and prints what LuaJIT's compiler did: "traces", the
-- number compiled, the number aborted, the number that end at a function that
-- cannot be compiled, and the reasons.

local made, aborted, stitched, why = 0, 0, 0, ""
local util = require("jit.util")
local known, vmdef = pcall(require, "jit.vmdef")

-- The code cannot be compiled, or was tried too often. Other reasons to abort
-- a trace depend on chance: which of several places becomes hot first, or
-- whether a C function was called before. The next trace includes these.
local function hopeless(text)
   return text:find("NYI") or text:find("blacklisted")
end

local function note(what, tr, func, pc, code, reason)
   if what == "stop" then
      made = made + 1
      if util.traceinfo(tr).linktype == "stitch" then
         stitched = stitched + 1
      end
   elseif what == "abort" then
      local text = known and vmdef.traceerr[code] or "NYI?"
      if hopeless(text) then
         local info = util.funcinfo(func, pc)
         aborted = aborted + 1
         why = why .. " " .. tostring(info.loc or info.source) .. ":" ..
            text .. ":" .. tostring(reason)
      end
   end
end

sysbench.cmdline.options = {
   way = {"compiled or tables", "compiled"}
}

local compiled, tables, find, update, r

function thread_init()
   local mongodb = sysbench.mongodb
   local coll = mongodb.connect():collection("traces")
   coll:drop()
   for i = 1, 10 do
      coll:insert_one({_id = i, c = "text " .. i})
   end
   find = coll:compile("find", {_id = mongodb.arg(1)},
      {projection = {c = 1, _id = 0}})
   update = coll:compile("update_one", {_id = mongodb.arg(1)},
      {["$set"] = {c = mongodb.arg(2)}})
   local only = {projection = {c = 1, _id = 0}}
   function compiled(i)
      assert(find:execute(i):count() == 1)
      r = update:execute(i, "new")
   end
   function tables(i)
      assert(coll:find({_id = i}, only):count() == 1)
   end
   require("jit").attach(note, "trace")
end

local n = 0

function event()
   n = n % 10 + 1
   if sysbench.opt.way == "tables" then
      tables(n)
   else
      compiled(n)
   end
end

function thread_done()
   assert(not r or r.matched == 1)
   print("traces", made, aborted, stitched, why)
end
