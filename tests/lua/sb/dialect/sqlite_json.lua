-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The SQL of the workload json on SQLite, and what the entries of all databases
-- mean. The other databases have the same entries.

local M = {
   -- Type of the column doc.
   column = "TEXT NOT NULL CHECK (json_valid(doc))",
   -- Definitions of further columns, with a comma before each.
   generated = "",
   -- A document as parameter.
   document = "?",
   -- New value of doc that changes stock in place; parameters: count, value.
   update = "json_replace(doc, '$.stock.count', ?, '$.stock.value', ?)",
   -- Whether --containment-index may name an operator class.
   operator_classes = false,
   -- Function that returns the statement that creates the index for contains,
   -- or nil; nil: the database has none.
   containment_index = nil,
   -- Function that returns the loader of a table, or nil for con:load(); nil:
   -- always con:load().
   loader = nil,
   -- Statements between those of before_index (dialect/generic.lua) and those
   -- that read through the index for contains.
   before_contains = {},
}

-- Returns the expression of a member as text, for example of "stock.count".
function M.value(path)
   return "json_extract(doc, '$." .. path .. "')"
end

-- Returns what sku and category are selected by and indexed by.
M.key = M.value

-- Condition for documents of a category that have a tag.
M.contains = M.key("category") .. "=? AND EXISTS (SELECT 1 FROM " ..
   "json_each(doc, '$.tags') WHERE value=?)"

-- Returns the parameters of contains.
function M.contained(category, tag)
   return category, tag
end

-- Elements of items of all documents of a category, and their value. %s: table.
M.aggregate = "SELECT COUNT(*), SUM(json_extract(value, '$.price') * " ..
   "json_extract(value, '$.quantity')) FROM %s, json_each(doc, '$.items') " ..
   "WHERE " .. M.key("category") .. "=?"

return M
