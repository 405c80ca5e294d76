#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Nearest-neighbour search: each event finds the --k vectors that are nearest
-- to a query vector, and counts how many of them are among the k nearest that
-- prepare found by an exact search: recall@k.

local dialect = require("sb.dialect")
local check = require("sb.check")
local options = require("sb.options")
local tables = require("sb.tables")

local rand = sysbench.rand

-- Options --------------------------------------------------------------------

local int = sysbench.cmdline.ARG_INT

sysbench.cmdline.options = options.with_table_options{
   table_name = {"Name of the table; _queries is appended to that of the " ..
      "queries", "vectors", nil, options.validate_table_name},
   table_size = {"Vectors that prepare inserts", 10000, int, min = 1,
      max = 1e9},
   dimensions = {"Components per vector", 32, int, min = 1, max = 2000},
   clusters = {"Clusters of the vectors", 100, int, min = 1, max = 1e6},
   spread = {"Standard deviation of the components within a cluster; the " ..
      "centres of the clusters are in a cube with edges of length 2", 0.3,
      min = 0.01, max = 100},
   queries = {"Query vectors for which prepare finds the neighbours", 100, int,
      min = 1, max = 1e5},
   neighbours = {"Nearest neighbours that prepare finds for each query; the " ..
      "maximum of --k", 100, int, min = 1, max = 1000},
   k = {"Neighbours that an event searches", 10, int, min = 1, max = 1000},
   index = {"Index on the vectors: hnsw (PostgreSQL, MariaDB), ivfflat " ..
      "(PostgreSQL), none: searches are exact; auto: hnsw where the " ..
      "database has it", "auto"},
   index_m = {"M of the index hnsw: edges per node; 0: the server's default",
      0, int, min = 0, max = 200},
   index_ef_construction = {"ef_construction of the index hnsw on " ..
      "PostgreSQL; 0: the server's default", 0, int, min = 0, max = 1000},
   index_lists = {"Lists of the index ivfflat; 0: the square root of " ..
      "--table-size", 0, int, min = 0, max = 32768},
   search_effort = {"Search effort: hnsw.ef_search or ivfflat.probes on " ..
      "PostgreSQL, mhnsw_ef_search on MariaDB; 0: the server's default", 0,
      int, min = 0, max = 1e6},
   sqlite_vec = {"File of the extension sqlite-vec, for SQLite", "vec0.so"},
}

sysbench.results = {
   recall = {better = "higher", headline = true},
}

-- SQL ------------------------------------------------------------------------

-- SQLite with the extension sqlite-vec, and what the entries of all databases
-- mean.
local sqlite = {
   -- Kinds of indexes that the database has; the first one is the default.
   indexes = {"none"},
   -- Expression of the vector as text, as in [0.5,-1].
   text = "vec_to_json(embedding)",
}

local opened = false

-- Called before connections are opened: makes new connections load the
-- extension. ffi.load() would unload it with the Lua state, while the driver
-- still opens connections; dlopen() without dlclose() does not.
function sqlite.open(opt)
   if opened then
      return
   end
   ffi.cdef [[
      void *dlopen(const char *, int);
      void *dlsym(void *, const char *);
      char *dlerror(void);
      int sqlite3_auto_extension(void (*)(void));
   ]]
   local RTLD_NOW = 2
   -- The first use of a name in ffi.C resets the message of dlerror().
   local dlsym, dlerror = ffi.C.dlsym, ffi.C.dlerror
   local library = ffi.C.dlopen(opt.sqlite_vec, RTLD_NOW)
   local start = library ~= nil and dlsym(library, "sqlite3_vec_init") or nil
   if start == nil then
      local reason = dlerror()
      error("--sqlite-vec: cannot load the extension: " .. (reason ~= nil and
         ffi.string(reason) or opt.sqlite_vec), 0)
   end
   ffi.load("libsqlite3.so.0").sqlite3_auto_extension(
      ffi.cast("void (*)(void)", start))
   opened = true
end

-- Returns the statement that creates the table of vectors, or nil: it is
-- created as other tables are, with the columns of sqlite.column().
function sqlite.create(name, opt)
   return string.format("CREATE VIRTUAL TABLE %s USING vec0(id INTEGER " ..
      "PRIMARY KEY, embedding FLOAT[%d], +checksum INTEGER)", name,
      opt.dimensions)
end

-- Returns the statements that prepare a connection for searches: they set the
-- search effort.
function sqlite.settings()
   return {}
end

-- Returns the statement that finds the nearest neighbours of a parameter.
function sqlite.search(name, opt)
   return string.format("SELECT id FROM %s WHERE embedding MATCH ? AND k=%d",
      name, opt.k)
end

-- PostgreSQL with the extension pgvector.
local pgsql = {
   indexes = {"hnsw", "ivfflat", "none"},
   text = "CAST(embedding AS TEXT)",
   -- Statement before the first table is created.
   before_create = "CREATE EXTENSION IF NOT EXISTS vector",
}

function pgsql.column(opt)
   return string.format("VECTOR(%d) NOT NULL", opt.dimensions)
end

-- Returns the statement that creates the index.
function pgsql.create_index(index, name, opt)
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

function pgsql.search(name, opt)
   return string.format("SELECT id FROM %s ORDER BY embedding <-> " ..
      "CAST(? AS VECTOR) LIMIT %d", name, opt.k)
end

-- The planner prefers a scan of a small table, which is exact: the recall of
-- the index would not be measured.
function pgsql.settings(opt)
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

-- MariaDB.
local mysql = {
   indexes = {"hnsw", "none"},
   text = "VEC_ToText(embedding)",
}

-- Raises an error if the server has no vectors. MySQL 9 has the type, but
-- neither an index nor, in its community edition, distances.
function mysql.require(con)
   local version = con:query_row("SELECT VERSION()") or ""
   local major, minor = version:match("^(%d+)%.(%d+)")
   if not version:find("MariaDB") or major * 100 + minor < 1107 then
      local why = not version:find("MariaDB") and major + 0 >= 9 and
         ", which stores vectors but has no function for their distance" or ""
      error(string.format("vector requires MariaDB 11.7 or later; the " ..
         "server is %s%s", version, why), 0)
   end
end

function mysql.column(opt)
   return string.format("VECTOR(%d) NOT NULL", opt.dimensions)
end

-- Returns a loader: only an expression converts text to a vector.
function mysql.loader(con, name, columns)
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

function mysql.create_index(index, name, opt)
   return string.format("CREATE VECTOR INDEX %s ON %s (embedding)%s " ..
      "DISTANCE=euclidean", index, name, opt.index_m > 0 and
      " M=" .. opt.index_m or "")
end

function mysql.search(name, opt)
   return string.format("SELECT id FROM %s ORDER BY " ..
      "VEC_DISTANCE_EUCLIDEAN(embedding, VEC_FromText(?)) LIMIT %d", name,
      opt.k)
end

function mysql.settings(opt)
   return opt.search_effort > 0 and
      {"SET mhnsw_ef_search = " .. opt.search_effort} or {}
end

-- Settings -------------------------------------------------------------------

local databases = {sqlite = sqlite, pgsql = pgsql, mysql = mysql}

-- Returns the SQL of the database in use.
local function sql_of_database()
   options.require_storage("vector")
   local drv = sysbench.sql.driver()
   local name = dialect.of(drv).name
   if not name then
      error(string.format("vector does not support the driver %s", drv:name()),
         0)
   end
   return databases[name]
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
local function settings()
   local opt = sysbench.opt
   options.require_order(opt, "k", "neighbours")
   options.require_order(opt, "neighbours", "table_size")
   local sql = sql_of_database()
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
local function index_name(opt, index)
   return opt.table_name:gsub("%.", "_") .. "_" .. index
end

-- Returns the name of table n: 1: vectors, 2: queries.
local function name_of(opt, n)
   return opt.table_name .. (n == 2 and "_queries" or "")
end

-- Vectors --------------------------------------------------------------------

-- Components are multiples of 1 / UNIT, so that text has their exact value.
-- Here they are integers.
local UNIT = 10000
local PAGE = 5000 -- vectors that check reads at a time

-- Tables of rand.row().
local VECTORS, QUERIES, CENTRES = 1, 2, 3

local function new_array(n)
   return ffi.new("double[?]", n)
end

-- Returns the centres of the clusters, one after the other.
local function make_centres(opt)
   local centres = new_array(opt.clusters * opt.dimensions)
   for c = 0, opt.clusters - 1 do
      rand.row(CENTRES, c)
      for i = 0, opt.dimensions - 1 do
         centres[c * opt.dimensions + i] = 2 * rand.uniform_double() - 1
      end
   end
   rand.resume()
   return centres
end

-- Writes the vector of a row to an array.
local function generate(opt, centres, table_number, id, out)
   local dimensions, spread = opt.dimensions, opt.spread
   rand.row(table_number, id)
   local at = rand.uniform(0, opt.clusters - 1) * dimensions
   for i = 0, dimensions - 1, 2 do
      -- Two independent numbers of a normal distribution (Box and Muller).
      local r = spread * math.sqrt(-2 * math.log(1 - rand.uniform_double()))
      local angle = 2 * math.pi * rand.uniform_double()
      out[i] = math.floor((centres[at + i] + r * math.cos(angle)) * UNIT + 0.5)
      if i + 1 < dimensions then
         out[i + 1] = math.floor((centres[at + i + 1] +
            r * math.sin(angle)) * UNIT + 0.5)
      end
   end
   rand.resume()
end

local function text_of(opt, v)
   local parts = {}
   for i = 1, opt.dimensions do
      parts[i] = string.format("%.4f", v[i - 1] / UNIT)
   end
   return "[" .. table.concat(parts, ",") .. "]"
end

-- Writes the components of a text to an array; returns their number.
local function parse(opt, text, out)
   local i = 0
   for number in text:gmatch("[^%[%],%s]+") do
      if i < opt.dimensions then
         out[i] = math.floor(tonumber(number) * UNIT + 0.5)
      end
      i = i + 1
   end
   return i
end

-- Returns a number that differs if a component is changed, or two different
-- ones are swapped.
local function checksum(opt, v)
   local sum = 0
   for i = 0, opt.dimensions - 1 do
      sum = sum + (i + 1) * v[i]
   end
   return sum
end

-- Exact search ---------------------------------------------------------------

-- Neighbours of one query vector: their squared distances in ascending order,
-- and their ids.
local function new_search(opt)
   return {v = new_array(opt.dimensions), count = 0,
      distance = new_array(opt.neighbours), id = new_array(opt.neighbours)}
end

local function squared_distance(a, b, dimensions)
   local sum = 0
   for i = 0, dimensions - 1 do
      local difference = a[i] - b[i]
      sum = sum + difference * difference
   end
   return sum
end

-- Adds a vector to the neighbours if it is one of the nearest so far.
local function consider(s, opt, id, v)
   local d = squared_distance(s.v, v, opt.dimensions)
   local i = s.count
   if i == opt.neighbours then
      if d >= s.distance[i - 1] then
         return
      end
      i = i - 1
   else
      s.count = i + 1
   end
   while i > 0 and s.distance[i - 1] > d do
      s.distance[i], s.id[i] = s.distance[i - 1], s.id[i - 1]
      i = i - 1
   end
   s.distance[i], s.id[i] = d, id
end

-- Returns the ids as text: "7 3 =9 5". "=" marks one that has the same distance
-- as the one before, so that a search may find either.
local function ids_of(s)
   local ids = {}
   for i = 1, s.count do
      local same = i > 1 and s.distance[i - 1] == s.distance[i - 2]
      ids[i] = string.format("%s%.0f", same and "=" or "", s.id[i - 1])
   end
   return table.concat(ids, " ")
end

-- Tables ---------------------------------------------------------------------

local vectors = {name = name_of, key = "id"}

-- A user fills one table after the other, in blocks.
local centres

function vectors.columns(_, n)
   return n == 2 and "id, neighbours, embedding" or "id, checksum, embedding"
end

function vectors.rows(opt, n)
   return n == 2 and opt.queries or opt.table_size
end

-- Each user searches the neighbours of one part of the queries, so it generates
-- the vectors once.
function vectors.block(opt, n)
   return n == 2 and math.ceil(opt.queries / sysbench.opt.threads) or nil
end

-- The table of queries is filled first, because that takes longer.
function vectors.weight(opt, n)
   return n == 2 and math.huge or opt.table_size
end

function vectors.define(d, opt, n)
   if n == 2 then
      return string.format("id %s, neighbours TEXT NOT NULL, " ..
         "embedding TEXT NOT NULL", d.big_id)
   end
   return string.format("id %s, checksum BIGINT NOT NULL, embedding %s",
      d.big_id, sql_of_database().column(opt))
end

local function fill_queries(loader, opt, first, last)
   local searches, v = {}, new_array(opt.dimensions)
   for q = first, last do
      local s = new_search(opt)
      generate(opt, centres, QUERIES, q, s.v)
      searches[#searches + 1] = s
   end
   for id = 1, opt.table_size do
      generate(opt, centres, VECTORS, id, v)
      for _, s in ipairs(searches) do
         consider(s, opt, id, v)
      end
   end
   for i, s in ipairs(searches) do
      loader:int(first + i - 1)
      loader:text(ids_of(s))
      loader:text(text_of(opt, s.v))
   end
end

function vectors.fill(loader, opt, n, first, last)
   centres = centres or make_centres(opt)
   if n == 2 then
      return fill_queries(loader, opt, first, last)
   end
   local v = new_array(opt.dimensions)
   for id = first, last do
      generate(opt, centres, VECTORS, id, v)
      loader:int(id)
      loader:int(checksum(opt, v))
      loader:text(text_of(opt, v))
   end
end

function vectors.indexes(con, opt, n)
   if n == 1 and opt.index ~= "none" then
      local name = name_of(opt, 1)
      tables.print("Creating the index %s on '%s'...", opt.index, name)
      con:query(sql_of_database().create_index(index_name(opt,
         opt.index), name, opt))
   end
end

local function create(con, d, opt, n)
   local sql, name = sql_of_database(), name_of(opt, n)
   if n == 1 and sql.before_create then
      con:query(sql.before_create)
   end
   tables.print("Creating table '%s'...", name)
   if n == 1 and sql.create then
      return con:query(sql.create(name, opt))
   end
   con:query(string.format("CREATE TABLE %s(%s, PRIMARY KEY (id)) %s", name,
      vectors.define(d, opt, n), d.table_options(opt)))
end

tables.describe(vectors)

function vectors.create(con, d, opt, n)
   local sql = sql_of_database()
   if sql.require then
      sql.require(con)
   end
   tables.refuse_existing(con, d, name_of(opt, n))
   local ok, err = pcall(create, con, d, opt, n)
   if not ok then
      vectors.discard(con, opt, n)
      error(err, 0)
   end
end

function vectors.finish(con, _, opt, n)
   vectors.indexes(con, opt, n)
end

function vectors.loader(con, opt, n)
   local sql, name = sql_of_database(), name_of(opt, n)
   local columns = vectors.columns(opt, n):gsub(" ", "")
   return n == 1 and sql.loader and sql.loader(con, name, columns) or
      con:load(name, columns)
end

function vectors.announce_rows(opt, n)
   tables.print("Inserting %.0f records into '%s'", vectors.rows(opt, n),
      name_of(opt, n))
end

-- Users ----------------------------------------------------------------------

local recall = sysbench.metric("recall", {kind = "distribution",
   help = "share of the k nearest neighbours that a search found"})
local opt -- the settings
local con, search, query
local texts = {} -- query vectors
-- By query vector: a set of the ids of its neighbours. It is larger than --k if
-- several have the same distance as the last one.
local nearest = {}

local function read_neighbours()
   local rs = con:query("SELECT id, embedding, neighbours FROM " ..
      name_of(opt, 2) .. " ORDER BY id")
   for i = 1, rs.nrows do
      local row = rs:fetch_row()
      local ids, count, added = {}, 0, false
      for same, id in row[3]:gmatch("(=?)(%d+)") do
         added = count < opt.k or added and same == "="
         if added then
            ids[id], count = true, count + 1
         end
      end
      if count < opt.k then
         error(string.format("%s: query %s has only %d neighbours; --k must " ..
            "not be more", name_of(opt, 2), row[1], count), 0)
      end
      local _, commas = row[2]:gsub(",", "")
      if commas + 1 ~= opt.dimensions then
         error(string.format("--dimensions is %d, but the vectors in %s " ..
            "have %d", opt.dimensions, name_of(opt, 2), commas + 1), 0)
      end
      texts[i], nearest[i] = row[2], ids
   end
   rs:free()
end

function thread_init()
   opt = settings()
   con = sysbench.sql.driver():connect()
   local sql = sql_of_database()
   for _, statement in ipairs(sql.settings(opt)) do
      con:init_sql(statement)
   end
   read_neighbours()
   search = con:prepare(sql.search(name_of(opt, 1), opt), "search")
   query = search:bind_create(sysbench.sql.type.VARCHAR,
      32 * opt.dimensions + 2)
   search:bind_param(query)
end

function event()
   local i = rand.uniform(1, #texts)
   query:set(texts[i])
   local rs = search:execute()
   local ids, hits = nearest[i], 0
   for _ = 1, rs.nrows do
      if ids[rs:fetch_row()[1]] then
         hits = hits + 1
      end
   end
   recall:record(hits / opt.k)
end

function thread_done()
   search:close()
   con:disconnect()
end

-- Check ----------------------------------------------------------------------

-- Calls f(row) for all rows of a table in the order of their ids.
local function each_row(con, opt, n, columns, f)
   local last, read = 0
   repeat
      local rs = con:query(string.format("SELECT id, %s FROM %s WHERE " ..
         "id > %.0f ORDER BY id LIMIT %d", columns, name_of(opt, n), last,
         PAGE))
      read = rs and rs.nrows or 0
      for _ = 1, read do
         local row = rs:fetch_row()
         last = tonumber(row[1])
         f(row)
      end
   until read < PAGE
end

local function fail(opt, n, ...)
   error(name_of(opt, n) .. ": " .. string.format(...), 0)
end

-- Returns searches for the rows of the table of queries, and the ids of the
-- neighbours that the table has.
local function read_queries(con, opt)
   local searches, stored = {}, {}
   each_row(con, opt, 2, "neighbours, embedding", function(row)
      local s = new_search(opt)
      local components = parse(opt, row[3], s.v)
      if components ~= opt.dimensions then
         fail(opt, 2, "query %s has %d components, expected %d", row[1],
            components, opt.dimensions)
      end
      searches[#searches + 1], stored[#stored + 1] = s, row[2]
   end)
   if #searches ~= opt.queries then
      fail(opt, 2, "it has %d queries, expected %d", #searches, opt.queries)
   end
   return searches, stored
end

-- Checks the vectors, and that an exact search among them finds the neighbours
-- that prepare has stored.
local function check_table(con, d, opt, n)
   if n == 2 then
      return -- it is checked together with the vectors
   end
   con:query(d.begin_snapshot)
   local searches, stored = read_queries(con, opt)
   local v, rows = new_array(opt.dimensions), 0
   each_row(con, opt, 1, "checksum, " .. sql_of_database().text, function(row)
      local components = parse(opt, row[3], v)
      if components ~= opt.dimensions then
         fail(opt, 1, "vector %s has %d components, expected %d", row[1],
            components, opt.dimensions)
      elseif tonumber(row[2]) ~= checksum(opt, v) then
         fail(opt, 1, "vector %s: its checksum is %s, expected %.0f", row[1],
            row[2], checksum(opt, v))
      end
      rows = rows + 1
      for _, s in ipairs(searches) do
         consider(s, opt, tonumber(row[1]), v)
      end
   end)
   con:query("ROLLBACK")
   if rows ~= opt.table_size then
      fail(opt, 1, "it has %d vectors, expected %.0f", rows, opt.table_size)
   end
   for q, s in ipairs(searches) do
      if ids_of(s) ~= stored[q] then
         fail(opt, 2, "query %d: its neighbours are %.40s..., expected " ..
            "%.40s...", q, stored[q], ids_of(s))
      end
   end
   return string.format("%s: %.0f vectors and %d queries, all correct",
      name_of(opt, 1), rows, #searches)
end

local function warm(con, _, opt, n)
   con:query("SELECT COUNT(embedding) FROM " .. name_of(opt, n))
end

tables.declare_commands(tables.standard_commands("vector", vectors, check_table,
   warm), settings)

-- Before a run ---------------------------------------------------------------

-- Returns the kinds of indexes that the table has.
local function find_indexes(con, d, opt)
   local found = {}
   for _, index in ipairs(sql_of_database().indexes) do
      local query = d.find_index:format(name_of(opt, 1),
         index_name(opt, index))
      if index ~= "none" and tonumber(con:query_row(query) or 0) > 0 then
         found[#found + 1] = index
      end
   end
   return found
end

-- Raises an error if the table does not have the index: all searches would be
-- exact.
local function require_index(con, d, opt)
   local found = find_indexes(con, d, opt)
   for _, index in ipairs(found) do
      if index == opt.index then
         return
      end
   end
   if opt.index ~= "none" then
      error(string.format("table '%s' has no index %s, but %s: use the " ..
         "commands cleanup and prepare with --index=%s, or give --index=%s",
         name_of(opt, 1), opt.index,
         #found > 0 and table.concat(found, " and ") or "none", opt.index,
         found[1] or "none"), 0)
   end
end

-- Returns whether the plan of a search contains a name.
local function plan_has(con, opt, name)
   local sql = sql_of_database()
   local query = con:query_row("SELECT embedding FROM " ..
      name_of(opt, 2) .. " WHERE id = 1")
   if not query then
      return nil
   end
   local rs = con:query("EXPLAIN " .. sql.search(name_of(opt, 1), opt):
      gsub("%?", "'" .. query .. "'"))
   local has = false
   for _ = 1, rs and rs.nrows or 0 do
      local row = rs:fetch_row()
      for i = 1, rs.nfields do
         has = has or (row[i] or ""):find(name, 1, true) ~= nil
      end
   end
   return has
end

-- Warns if the server does not use the index, or uses one that it must not use.
local function check_plan(con, d, opt)
   for _, statement in ipairs(sql_of_database().settings(opt)) do
      con:query(statement)
   end
   for _, index in ipairs(find_indexes(con, d, opt)) do
      local name = index_name(opt, index)
      local used = plan_has(con, opt, name)
      if used == false and index == opt.index then
         sysbench.warning(string.format("the server does not use the index " ..
            "'%s' for these searches: recall and latency are those of " ..
            "another plan", name))
      elseif used and index ~= opt.index then
         sysbench.warning(string.format("the server uses the index '%s', " ..
            "although --index is %s", name, opt.index))
      end
   end
end

function init()
   local opt = settings()
   if not opt.check_tables then
      return
   end
   local con, d = tables.connect("vector", opt)
   check.require_tables(con, d, opt.tables,
      function(n) return name_of(opt, n) end)
   require_index(con, d, opt)
   check_plan(con, d, opt)
   con:disconnect()
end

-- Reports --------------------------------------------------------------------

function sysbench.hooks.report_line(stat, final)
   local r = stat.metrics.recall
   if not r or r.count == 0 then
      return nil
   elseif final then
      sysbench.result("recall", r.avg)
      return nil
   end
   return string.format("recall@%d: %.4f", sysbench.opt.k, r.avg)
end
