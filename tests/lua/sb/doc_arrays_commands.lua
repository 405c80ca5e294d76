-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- mongodb/arrays: creates and checks its documents.

local arrays = require("sb.doc_arrays")
local tables = require("sb.doc_tables")

local own = {}

function own.indexes(_, n)
   return {{{tags = 1}, {name = "tags_" .. n}},
      {{["items.sku"] = 1}, {name = "sku_" .. n}}}
end

function own.loader(con, opt, n)
   local mongodb = sysbench.mongodb
   return tables.documents(con, opt, n, {_id = mongodb.arg(1),
      tags = mongodb.arg(2), items = mongodb.arg(3), set = mongodb.array{},
      pushed = 0, popped = 0, counted = 0})
end

function own.fill(loader, opt, n, first, last)
   local rand = sysbench.rand
   for id = first, last do
      local tags, items = {}, {}
      rand.row(n, id)
      for i = 1, opt.array_size do
         tags[i] = rand.uniform(1, arrays.TAGS)
         items[i] = {n = i, sku = rand.uniform(1, arrays.SKUS), qty = 0}
      end
      loader:put(id, tags, items)
   end
   rand.resume()
end

local function wrong_set(doc)
   local seen = {}
   for _, v in ipairs(doc.set) do
      if seen[v] then
         return "its set has the value " .. v .. " twice"
      elseif v < 1 or v > arrays.SET then
         return "its set has the invalid value " .. v
      end
      seen[v] = true
   end
end

function own.wrong(doc, opt)
   local tags = opt.array_size + doc.pushed - doc.popped
   if #doc.tags ~= tags then
      return string.format("it has %d tags, expected %d + %d pushed - %d " ..
         "popped", #doc.tags, opt.array_size, doc.pushed, doc.popped)
   end
   return tables.wrong_items(doc, opt, "qty", doc.counted) or wrong_set(doc)
end

return require("sb.doc_commands").of(tables.derive(own))
