-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The SQL of the workload json on MySQL and MariaDB; the entries are explained
-- in sqlite_json.lua. JSON_UNQUOTE(JSON_EXTRACT()) has no shorter form that
-- both servers support.

local M = {
   column = "JSON NOT NULL",
   document = "?",
   update = "JSON_REPLACE(doc, '$.stock.count', ?, '$.stock.value', ?)",
   before_contains = {},
   contains = "category=? AND JSON_CONTAINS(JSON_EXTRACT(doc, '$.tags'), ?)",
   aggregate = "SELECT COUNT(*), SUM(i.price * i.quantity) FROM %s AS t, " ..
      "JSON_TABLE(t.doc, '$.items[*]' COLUMNS (price INT PATH '$.price', " ..
      "quantity INT PATH '$.quantity')) AS i WHERE t.category=?",
}

function M.value(path)
   return "JSON_UNQUOTE(JSON_EXTRACT(doc, '$." .. path .. "'))"
end

M.generated = ", sku VARCHAR(19) GENERATED ALWAYS AS (" .. M.value("sku") ..
   ") VIRTUAL, category VARCHAR(19) GENERATED ALWAYS AS (" ..
   M.value("category") .. ") VIRTUAL"

-- The generated column of that name.
function M.key(path)
   return path
end

function M.contained(category, tag)
   return category, '"' .. tag .. '"'
end

-- MySQL rejects documents from LOAD DATA with CHARACTER SET binary, which
-- con:load() uses. MariaDB's documents are text.
function M.loader(con, name)
   if (con:query_row("SELECT VERSION()") or "MariaDB"):find("MariaDB") then
      return nil
   end
   local loader, row = {}, {}
   con:bulk_insert_init("INSERT INTO " .. name .. " (id, doc) VALUES")
   function loader.int(_, value)
      row[#row + 1] = string.format("%.0f", value)
   end
   function loader.text(_, value) -- the last column
      row[#row + 1] = con:quote(value)
      con:bulk_insert_next("(" .. table.concat(row, ",") .. ")")
      row = {}
   end
   function loader.close(_, commit)
      if commit ~= false then
         con:bulk_insert_done()
      end
   end
   return loader
end

-- MariaDB has no multi-valued indexes.
function M.containment_index(con, _, index, name)
   local version = con:query_row("SELECT VERSION()") or ""
   local major, minor, patch = version:match("^(%d+)%.(%d+)%.(%d+)")
   if major and not version:find("MariaDB") and
      major * 1e6 + minor * 1e3 + patch >= 8000017
   then
      return string.format("CREATE INDEX %s ON %s " ..
         "((CAST(JSON_EXTRACT(doc, '$.tags') AS CHAR(8) ARRAY)))", index, name)
   end
end

return M
