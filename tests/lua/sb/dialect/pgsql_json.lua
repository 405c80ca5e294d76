-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The SQL of the workload json on PostgreSQL; the entries are explained in
-- sqlite_json.lua.

local M = {
   column = "JSONB NOT NULL",
   generated = "",
   document = "CAST(? AS JSONB)",
   update = "jsonb_set(doc, '{stock}', jsonb_build_object('count', " ..
      "CAST(? AS INTEGER), 'value', CAST(? AS INTEGER)))",
   operator_classes = true,
   -- GIN supports no other scan.
   before_contains = {"SET enable_bitmapscan = on"},
   contains = "doc @> CAST(? AS JSONB)",
}

function M.value(path)
   return "(doc #>> '{" .. path:gsub("%.", ",") .. "}')"
end

M.key = M.value

function M.contained(category, tag)
   return string.format('{"category": "%s", "tags": ["%s"]}', category, tag)
end

M.aggregate = "SELECT COUNT(*), SUM(i.price * i.quantity) FROM %s, " ..
   "jsonb_to_recordset(doc -> 'items') AS i(price INTEGER, " ..
   "quantity INTEGER) WHERE " .. M.key("category") .. "=?"

function M.containment_index(_, opt, index, name)
   local class = opt.containment_index
   return string.format("CREATE INDEX %s ON %s USING GIN (doc %s)", index,
      name, class == "auto" and "jsonb_path_ops" or class)
end

return M
