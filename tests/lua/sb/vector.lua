-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- vector: its options. The code of its commands is in sb/vector_commands.lua.

local M = {}

-- name = {help, default, min, max}
local numbers = {
   table_size = {"Vectors that prepare inserts", 10000, 1, 1e9},
   dimensions = {"Components per vector", 32, 1, 2000},
   clusters = {"Clusters of the vectors", 100, 1, 1e6},
   queries = {"Query vectors for which prepare finds the neighbours", 100, 1,
      1e5},
   neighbours = {"Nearest neighbours that prepare finds for each query; the " ..
      "maximum of --k", 100, 1, 1000},
   k = {"Neighbours that an event searches", 10, 1, 1000},
   search_effort = {"Search effort: hnsw.ef_search or ivfflat.probes on " ..
      "PostgreSQL, mhnsw_ef_search on MariaDB; 0: the server's default", 0, 0,
      1e6},
   index_m = {"M of the index hnsw: edges per node; 0: the server's default",
      0, 0, 200},
   index_ef_construction = {"ef_construction of the index hnsw on " ..
      "PostgreSQL; 0: the server's default", 0, 0, 1000},
   index_lists = {"Lists of the index ivfflat; 0: the square root of " ..
      "--table-size", 0, 0, 32768},
}

local function declare()
   local cmdline = sysbench.cmdline
   local options = {
      table_name = {"Name of the table; _queries is appended to that of the " ..
         "queries", "vectors", cmdline.ARG_STRING},
      spread = {"Standard deviation of the components within a cluster; the " ..
         "centres of the clusters are in a cube with edges of length 2", 0.3,
         cmdline.ARG_DOUBLE},
      index = {"Index on the vectors: hnsw (PostgreSQL, MariaDB), ivfflat " ..
         "(PostgreSQL), none: searches are exact; auto: hnsw where the " ..
         "database has it", "auto", cmdline.ARG_STRING},
      sqlite_vec = {"File of the extension sqlite-vec, for SQLite", "vec0.so",
         cmdline.ARG_STRING},
   }
   return require("sb.settings").declare(options, numbers)
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

-- Returns the SQL of vectors for the driver: see sb/dialect/sqlite_vector.lua.
function M.dialect()
   require("sb.options").need_storage("vector")
   local drv = sysbench.sql.driver()
   local name = require("sb.dialect").of(drv).name
   if not name then
      error(string.format("vector does not support the driver %s", drv:name()),
         0)
   end
   return require("sb.dialect." .. name .. "_vector")
end

local function contains(list, word)
   for _, w in ipairs(list) do
      if w == word then
         return true
      end
   end
   return false
end

-- Checks the options, and replaces --index=auto. To be called before
-- connections are opened.
function M.normalize(opt)
   local settings = require("sb.settings")
   settings.check(opt, numbers)
   settings.order(opt, "k", "neighbours")
   settings.order(opt, "neighbours", "table_size")
   if not (opt.spread >= 0.01 and opt.spread <= 100) then
      error("--spread must be from 0.01 to 100, not " .. opt.spread, 0)
   end
   local sql = M.dialect()
   opt.index = opt.index == "auto" and sql.indexes[1] or opt.index
   if not contains(sql.indexes, opt.index) then
      error(string.format("--index must be auto or %s with this database, " ..
         "not '%s'", table.concat(sql.indexes, " or "), opt.index), 0)
   elseif opt.search_effort > 0 and opt.index == "none" then
      error("--search-effort needs an index: searches without one are exact",
         0)
   end
   opt.tables = 2 -- vectors and queries
   if sql.open then
      sql.open(opt)
   end
   return opt
end

-- Returns the name of an index on the vectors.
function M.index_name(opt, index)
   return opt.table_name:gsub("%.", "_") .. "_" .. index
end

-- Returns the name of table n: 1: vectors, 2: queries.
function M.name(opt, n)
   return opt.table_name .. (n == 2 and "_queries" or "")
end

return M
