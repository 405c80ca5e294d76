-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- vector: generates its vectors, finds their exact neighbours, and creates,
-- fills, checks and drops its tables. The users of a run never load this.

local build = require("sb.build")
local own_tables = require("sb.own_tables")
local vector = require("sb.vector")

local print_line = build.print_line
local rand = sysbench.rand

-- Components are multiples of 1 / UNIT, so that text has their exact value.
-- Here they are integers.
local UNIT = 10000
local PAGE = 5000 -- vectors that check reads at a time

-- Tables of rand.row().
local VECTORS, QUERIES, CENTRES = 1, 2, 3

-- Vectors --------------------------------------------------------------------

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

local tables = {name = vector.name, key = "id"}

-- A user fills one table after the other, in blocks.
local centres

function tables.columns(_, n)
   return n == 2 and "id, neighbours, embedding" or "id, checksum, embedding"
end

function tables.rows(opt, n)
   return n == 2 and opt.queries or opt.table_size
end

-- Each user searches the neighbours of one part of the queries, so it generates
-- the vectors once.
function tables.block(opt, n)
   return n == 2 and math.ceil(opt.queries / sysbench.opt.threads) or nil
end

-- The table of queries is the first to be filled: that takes longer.
function tables.weight(opt, n)
   return n == 2 and math.huge or opt.table_size
end

function tables.define(d, opt, n)
   if n == 2 then
      return string.format("id %s, neighbours TEXT NOT NULL, " ..
         "embedding TEXT NOT NULL", d.big_id)
   end
   return string.format("id %s, checksum BIGINT NOT NULL, embedding %s",
      d.big_id, vector.dialect().column(opt))
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

function tables.fill(loader, opt, n, first, last)
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

function tables.indexes(con, opt, n)
   if n == 1 and opt.index ~= "none" then
      local name = vector.name(opt, 1)
      print_line("Creating the index %s on '%s'...", opt.index, name)
      con:query(vector.dialect().create_index(vector.index_name(opt,
         opt.index), name, opt))
   end
end

local function create(con, d, opt, n)
   local sql, name = vector.dialect(), vector.name(opt, n)
   if n == 1 and sql.before_create then
      con:query(sql.before_create)
   end
   print_line("Creating table '%s'...", name)
   if n == 1 and sql.create then
      return con:query(sql.create(name, opt))
   end
   con:query(string.format("CREATE TABLE %s(%s, PRIMARY KEY (id)) %s", name,
      tables.define(d, opt, n), d.table_options(opt)))
end

own_tables.derive(tables)

function tables.create(con, d, opt, n)
   local sql = vector.dialect()
   if sql.require then
      sql.require(con)
   end
   build.refuse_existing(con, d, vector.name(opt, n))
   local ok, err = pcall(create, con, d, opt, n)
   if not ok then
      tables.discard(con, opt, n)
      error(err, 0)
   end
end

function tables.finish(con, _, opt, n)
   tables.indexes(con, opt, n)
end

function tables.loader(con, opt, n)
   local sql, name = vector.dialect(), vector.name(opt, n)
   local columns = tables.columns(opt, n):gsub(" ", "")
   return n == 1 and sql.loader and sql.loader(con, name, columns) or
      con:load(name, columns)
end

function tables.announce_rows(opt, n)
   print_line("Inserting %.0f records into '%s'", tables.rows(opt, n),
      vector.name(opt, n))
end

-- Checking -------------------------------------------------------------------

-- Calls f(row) for all rows of a table in the order of their ids.
local function each_row(con, opt, n, columns, f)
   local last, read = 0
   repeat
      local rs = con:query(string.format("SELECT id, %s FROM %s WHERE " ..
         "id > %.0f ORDER BY id LIMIT %d", columns, vector.name(opt, n), last,
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
   error(vector.name(opt, n) .. ": " .. string.format(...), 0)
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
local function check(con, d, opt, n)
   if n == 2 then
      return -- it is checked together with the vectors
   end
   con:query(d.begin_snapshot)
   local searches, stored = read_queries(con, opt)
   local v, rows = new_array(opt.dimensions), 0
   each_row(con, opt, 1, "checksum, " .. vector.dialect().text, function(row)
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
      vector.name(opt, 1), rows, #searches)
end

-- Commands -------------------------------------------------------------------

local function warm(con, _, opt, n)
   con:query("SELECT COUNT(embedding) FROM " .. vector.name(opt, n))
end

local M = own_tables.commands("vector", tables, check, warm)

-- Returns the kinds of indexes that the table has.
local function find_indexes(con, d, opt)
   local found = {}
   for _, index in ipairs(vector.dialect().indexes) do
      local query = d.find_index:format(vector.name(opt, 1),
         vector.index_name(opt, index))
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
         vector.name(opt, 1), opt.index,
         #found > 0 and table.concat(found, " and ") or "none", opt.index,
         found[1] or "none"), 0)
   end
end

-- Returns whether the plan of a search contains a name.
local function plan_has(con, opt, name)
   local sql = vector.dialect()
   local query = con:query_row("SELECT embedding FROM " ..
      vector.name(opt, 2) .. " WHERE id = 1")
   if not query then
      return nil
   end
   local rs = con:query("EXPLAIN " .. sql.search(vector.name(opt, 1), opt):
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
   for _, statement in ipairs(vector.dialect().settings(opt)) do
      con:query(statement)
   end
   for _, index in ipairs(find_indexes(con, d, opt)) do
      local name = vector.index_name(opt, index)
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

function M.before_run(opt)
   if not opt.check_tables then
      return
   end
   local con, d = own_tables.connect("vector", opt)
   local check_tables = require("sb.check_tables")
   check_tables.require_tables(con, d, opt.tables,
      function(n) return vector.name(opt, n) end)
   require_index(con, d, opt)
   check_plan(con, d, opt)
   con:disconnect()
end

return M
