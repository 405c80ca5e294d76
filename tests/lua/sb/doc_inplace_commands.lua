-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- mongodb/inplace: creates and checks its documents.

local inplace = require("sb.doc_inplace")
local schema = require("sb.schema")
local tables = require("sb.doc_tables")

local own = {}

function own.indexes()
   return {}
end

function own.loader(con, opt, n)
   local mongodb = sysbench.mongodb
   local arg = mongodb.arg
   local items = {}
   for i = 1, opt.array_size do
      items[i] = {n = i, v = 0}
   end
   return tables.documents(con, opt, n, {_id = arg(1), c = arg(2),
      c_twin = arg(2), first = arg(3), low = arg(3), high = arg(3),
      items = items, list = mongodb.array{}, n = 0, n_log = 0, pushes = 0,
      v_log = 0})
end

function own.fill(loader, _, n, first, last)
   local rand = sysbench.rand
   for id = first, last do
      rand.row(n, id)
      loader:put(id, rand.string(schema.c_format),
         rand.uniform(1, inplace.VALUES))
   end
   rand.resume()
end

local function wrong_list(doc, opt)
   local length = math.min(doc.pushes, opt.list_size)
   if #doc.list ~= length then
      return string.format("it has %d values in its list, expected %d",
         #doc.list, length)
   end
end

function own.wrong(doc, opt)
   if doc.n ~= doc.n_log then
      return string.format("n is %d, but n_log is %d", doc.n, doc.n_log)
   elseif doc.c ~= doc.c_twin then
      return "c and c_twin differ"
   elseif #doc.c ~= #schema.c_format then
      return "c is not a string of " .. #schema.c_format .. " characters"
   elseif doc.low > doc.first or doc.high < doc.first then
      return string.format("first is %d, not between low (%d) and high (%d)",
         doc.first, doc.low, doc.high)
   end
   return wrong_list(doc, opt) or
      tables.wrong_items(doc, opt, "v", doc.v_log)
end

return require("sb.doc_commands").of(tables.derive(own))
