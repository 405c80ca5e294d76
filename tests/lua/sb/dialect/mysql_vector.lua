-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The SQL of the workload vector on MariaDB; the entries are explained in
-- sqlite_vector.lua and pgsql_vector.lua.

local M = {
   indexes = {"hnsw", "none"},
   text = "VEC_ToText(embedding)",
}

-- Raises an error if the server has no vectors. MySQL 9 has the type, but
-- neither an index nor, in its community edition, distances.
function M.require(con)
   local version = con:query_row("SELECT VERSION()") or ""
   local major, minor = version:match("^(%d+)%.(%d+)")
   if not version:find("MariaDB") or major * 100 + minor < 1107 then
      local why = not version:find("MariaDB") and major + 0 >= 9 and
         ", which stores vectors but has no function for their distance" or ""
      error(string.format("vector requires MariaDB 11.7 or later; the " ..
         "server is %s%s", version, why), 0)
   end
end

function M.column(opt)
   return string.format("VECTOR(%d) NOT NULL", opt.dimensions)
end

-- Returns a loader: only an expression converts text to a vector.
function M.loader(con, name, columns)
   local loader, row = {}, {}
   con:bulk_insert_init(string.format("INSERT INTO %s (%s) VALUES", name,
      columns))
   function loader.int(_, value)
      row[#row + 1] = string.format("%.0f", value)
   end
   function loader.text(_, value) -- the last column
      row[#row + 1] = "VEC_FromText('" .. value .. "')"
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

function M.create_index(index, name, opt)
   return string.format("CREATE VECTOR INDEX %s ON %s (embedding)%s " ..
      "DISTANCE=euclidean", index, name, opt.index_m > 0 and
      " M=" .. opt.index_m or "")
end

function M.search(name, opt)
   return string.format("SELECT id FROM %s ORDER BY " ..
      "VEC_DISTANCE_EUCLIDEAN(embedding, VEC_FromText(?)) LIMIT %d", name,
      opt.k)
end

function M.settings(opt)
   return opt.search_effort > 0 and
      {"SET mhnsw_ef_search = " .. opt.search_effort} or {}
end

return M
