-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The SQL of the workload vector on PostgreSQL, with the extension pgvector;
-- the entries are explained in sqlite_vector.lua.

local M = {
   indexes = {"hnsw", "ivfflat", "none"},
   text = "CAST(embedding AS TEXT)",
   -- Statement before the first table is created.
   before_create = "CREATE EXTENSION IF NOT EXISTS vector",
}

function M.column(opt)
   return string.format("VECTOR(%d) NOT NULL", opt.dimensions)
end

-- Returns the statement that creates the index.
function M.create_index(index, name, opt)
   local settings = {}
   local function add(setting, value)
      if value > 0 then
         settings[#settings + 1] = string.format("%s = %d", setting, value)
      end
   end
   if opt.index == "hnsw" then
      add("m", opt.index_m)
      add("ef_construction", opt.index_ef_construction)
   else
      add("lists", opt.index_lists > 0 and opt.index_lists or
         math.ceil(math.sqrt(opt.table_size)))
   end
   return string.format("CREATE INDEX %s ON %s USING %s " ..
      "(embedding vector_l2_ops)%s", index, name, opt.index, #settings > 0 and
      " WITH (" .. table.concat(settings, ", ") .. ")" or "")
end

function M.search(name, opt)
   return string.format("SELECT id FROM %s ORDER BY embedding <-> " ..
      "CAST(? AS VECTOR) LIMIT %d", name, opt.k)
end

-- The planner prefers a scan of a small table, which is exact: the recall of
-- the index would not be measured.
function M.settings(opt)
   if opt.index == "none" then
      return {"SET enable_indexscan = off"}
   end
   local list = {"SET enable_seqscan = off"}
   if opt.search_effort > 0 then
      list[2] = string.format("SET %s = %d", opt.index == "hnsw" and
         "hnsw.ef_search" or "ivfflat.probes", opt.search_effort)
   end
   return list
end

return M
