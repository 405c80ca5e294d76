-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Creates, fills and drops the tables of sb/schema.lua, for commands. The users
-- of a run never load this.

local partitions = require("sb.partitions")
local schema = require("sb.schema")

local M = {}

local MAX_ROWS = 2147483647 -- the ids of a table are INTEGER

M.name = schema.name
M.table_word, M.rows_word = "table", "rows" -- for messages

-- Prints a line with a single write, because threads share the stream.
function M.print_line(format, ...)
   sysbench.parallel.progress()
   io.stdout:write(string.format(format, ...) .. "\n")
end

-- Returns the suffix of the names of table n's indexes.
local function suffix(opt, n)
   return opt.table_name or tostring(n)
end

-- Returns the definitions of the columns c and pad.
function M.texts(con, d)
   local default = "DEFAULT '' "
   if d.empty_is_null and con:query_row(d.empty_is_null) == "1" then
      default = "" -- it would be NULL, which NOT NULL does not allow
   end
   return string.format("c CHAR(120) %sNOT NULL, pad CHAR(60) %sNOT NULL",
      default, default)
end

-- Returns the CREATE TABLE statement for table n. options: the text after its
-- columns.
local function definition(con, d, opt, n, options)
   local key = not d.key_after_rows and "PRIMARY KEY (id)"
   if opt.secondary then
      key = d.secondary_key
   end
   return string.format("CREATE TABLE %s(" ..
      "id %s, " ..
      "k INTEGER DEFAULT '0' NOT NULL, " ..
      "%s%s) %s",
      schema.name(opt, n),
      schema.server_ids(d, opt) and d.id_auto or d.id,
      M.texts(con, d),
      key and ", " .. key or "",
      options)
end

local function exists(con, d, name)
   local count = d.find_table and con:query_row(d.find_table:format(name))
   -- With --mysql-dry-run there is no result.
   return count ~= nil and tonumber(count) ~= 0
end

function M.refuse_existing(con, d, name)
   if exists(con, d, name) then
      error(string.format("Table '%s' exists already. Remove it with the " ..
         "'cleanup' command, or use another database.", name), 0)
   end
end

local function create_parts(con, parts)
   for _, statement in ipairs(parts) do
      con:query(statement)
   end
end

-- Creates table n without rows. Raises an error if it already exists.
function M.create(con, d, opt, n)
   local name = schema.name(opt, n)
   if opt.table_size > MAX_ROWS then
      error(string.format("--table-size must be at most %d, the largest " ..
         "id that fits into an INTEGER column", MAX_ROWS), 0)
   end
   local options, parts = partitions.apply(d, opt, name, d.table_options(opt))
   M.refuse_existing(con, d, name)
   M.print_line("Creating table '%s'...", name)
   con:query(definition(con, d, opt, n, options))
   local ok, err = pcall(create_parts, con, parts)
   if not ok then
      M.discard(con, opt, n)
      error(err, 0)
   end
   if d.check_table then
      d.check_table(con, opt, name)
   end
end

-- Returns a loader for the rows of table n: see fill().
function M.loader(con, opt, n)
   return con:load(schema.name(opt, n), schema.columns)
end

-- To be called once per table, before its first row.
function M.announce_rows(opt, n)
   M.print_line("Inserting %d records into '%s'", opt.table_size,
      schema.name(opt, n))
end

-- Writes the rows first..last of table n to a loader. Their values depend only
-- on the table and the id; the user's own random stream is not used. c and pad:
-- the functions of a script that replaces get_c_value() and get_pad_value(),
-- otherwise nil.
function M.fill(loader, opt, n, first, last, c, pad)
   local rand = sysbench.rand
   local size = opt.table_size
   local c_format, pad_format = schema.c_format, schema.pad_format
   for id = first, last do
      rand.row(n, id)
      loader:int(id)
      loader:int(rand.default(1, size))
      if c then
         loader:text(c())
      else
         loader:random_text(c_format)
      end
      if pad then
         loader:text(pad())
      else
         loader:random_text(pad_format)
      end
   end
   rand.resume()
end

-- Completes table n after its rows are loaded: key, sequences and indexes.
function M.finish(con, d, opt, n)
   local name, mark = schema.name(opt, n), suffix(opt, n)
   if d.key_after_rows and not opt.secondary then
      con:query(string.format("ALTER TABLE %s ADD PRIMARY KEY (id)", name))
   end
   for _, statement in ipairs(d.after_load) do
      con:query(statement:format(name, name))
   end
   if opt.secondary and not d.secondary_key then
      con:query(string.format("CREATE INDEX xid_%s ON %s(id)", mark, name))
   end
   if opt.create_secondary then
      M.print_line("Creating a secondary index on '%s'...", name)
      con:query(string.format("CREATE INDEX k_%s ON %s(k)", mark, name))
   end
end

function M.drop(con, opt, n)
   con:query("DROP TABLE IF EXISTS " .. schema.name(opt, n))
end

-- Drops table n after a failure, in whatever state the connection is. Returns
-- true if the table no longer exists.
function M.discard(con, opt, n)
   pcall(con.reset, con)
   return (pcall(M.drop, con, opt, n))
end

-- The cleanup command.
function M.drop_all(con, opt)
   for n = 1, opt.tables do
      M.print_line("Dropping table '%s'...", schema.name(opt, n))
      M.drop(con, opt, n)
   end
end

function M.warm(con, d, opt, n)
   M.print_line("Preloading table %s", schema.name(opt, n))
   for _, statement in ipairs(d.warmup) do
      con:query(statement:format(schema.name(opt, n)))
   end
end

-- Creates, fills and completes table n over one connection, for scripts that
-- do not use sb/prepare.lua, which works in parallel.
function M.build(con, d, opt, n, c, pad)
   M.create(con, d, opt, n)
   local ok, err = pcall(function()
      if opt.table_size > 0 then
         M.announce_rows(opt, n)
         local loader = M.loader(con, opt, n)
         local filled, reason = pcall(M.fill, loader, opt, n, 1,
            opt.table_size, c, pad)
         if not filled then
            sysbench.rand.resume()
         end
         loader:close(filled)
         if not filled then
            error(reason, 0)
         end
      end
      M.finish(con, d, opt, n)
   end)
   if not ok then
      M.discard(con, opt, n)
      error(err, 0)
   end
end

return M
