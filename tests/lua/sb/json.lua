-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- json: its options, and the values of its documents. The code of its commands
-- is in sb/json_commands.lua.

local rand = sysbench.rand

local M = {
   MAX_PRICE = 1000,
   MAX_COUNT = 1000,
   TAGS = 60,
   CATEGORY_SIZE = 20, -- documents per category on average, after prepare
}

-- The operations, in the order of their explanation.
M.operations = {"insert", "read", "lookup", "contains", "aggregate", "update",
   "replace"}

-- name = {help, default, min, max}
local numbers = {
   tables = {"Number of tables", 1, 1, 1e6},
   table_size = {"Documents per table that prepare inserts", 10000, 1, 1e12},
   items = {"Elements of the array items of a document", 10, 0, 1000},
   note_length = {"Length of the member note, in characters", 100, 0, 16000},
}

local indexes = {"auto", "jsonb_path_ops", "jsonb_ops", "none"}

local function declare()
   local cmdline = sysbench.cmdline
   local options = {
      table_name = {"Prefix of the names of the tables; their numbers are " ..
         "appended", "json", cmdline.ARG_STRING},
      weights = {"Operations and their weights; those that are not named " ..
         "are not executed. " .. table.concat(M.operations, ", "),
         "insert:10,read:30,lookup:25,contains:5,aggregate:5,update:20," ..
         "replace:5", cmdline.ARG_STRING},
      containment_index = {"Index for contains that prepare creates: auto: " ..
         "GIN with jsonb_path_ops on PostgreSQL, a multi-valued index on " ..
         "MySQL from 8.0.17; jsonb_path_ops, jsonb_ops: GIN with that " ..
         "operator class; none", "auto", cmdline.ARG_STRING},
   }
   return require("sb.settings").declare(options, numbers)
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

function M.normalize(opt)
   require("sb.settings").check(opt, numbers)
   require("sb.bounds").one_of(opt, "containment_index", indexes)
   M.weights(opt)
   return opt
end

-- Returns the weights of the operations, by name.
function M.weights(opt)
   return require("sb.weights").parse("weights", opt.weights, M.operations)
end

-- Returns the name of table n.
function M.name(opt, n)
   return opt.table_name .. n
end

-- Returns the SQL of documents for a driver: see sb/dialect/sqlite_json.lua.
function M.dialect(drv)
   local name = require("sb.dialect").of(drv).name
   if not name then
      error(string.format("json does not support the driver %s", drv:name()),
         0)
   end
   return require("sb.dialect." .. (name == "null" and "sqlite" or name) ..
      "_json")
end

-- Documents ------------------------------------------------------------------

-- All members but stock and note depend on the id alone, so that check can
-- verify them.

function M.sku(id)
   return ("%019d"):format(rand.fnv(id))
end

-- Documents of one category are spread over the table.
function M.category(opt, id)
   local categories = math.ceil(opt.table_size / M.CATEGORY_SIZE)
   return "c" .. rand.scatter((id - 1) % opt.table_size + 1, 1,
      opt.table_size) % categories + 1
end

function M.price(id)
   return id % M.MAX_PRICE + 1
end

-- Returns the three tags of a document; they are different.
function M.tags(id)
   local hash = rand.fnv(id)
   local first = tonumber(hash % M.TAGS)
   local second = first + 1 + tonumber(hash / M.TAGS % 20)
   local third = first + 21 + tonumber(hash / (20 * M.TAGS) % 20)
   return "t" .. first, "t" .. second % M.TAGS, "t" .. third % M.TAGS
end

-- Returns the price and the quantity of element i of the array items.
function M.item(id, i)
   return M.price(id) + i, (id + i) % 10 + 1
end

function M.count()
   return rand.uniform(0, M.MAX_COUNT)
end

-- Returns a document as text, with a random stock and note.
function M.document(opt, id)
   local items, total = {}, 0
   for i = 1, opt.items do
      local price, quantity = M.item(id, i)
      items[i] = string.format('{"seller":"s%d","price":%d,"quantity":%d}', i,
         price, quantity)
      total = total + price * quantity
   end
   local price, count = M.price(id), M.count()
   local first, second, third = M.tags(id)
   return string.format('{"sku":"%s","category":"%s","price":%d,' ..
      '"stock":{"count":%d,"value":%d},"tags":["%s","%s","%s"],' ..
      '"items":[%s],"total":%d,"note":"%s"}', M.sku(id),
      M.category(opt, id), price, count, count * price, first, second, third,
      table.concat(items, ","), total,
      rand.string(("@"):rep(opt.note_length)))
end

-- The ids of table n are those up to `ids`:finished(). newest: their minimum.
function M.ids(opt, n, newest)
   return sysbench.sequence("json " .. M.name(opt, n), newest)
end

return M
