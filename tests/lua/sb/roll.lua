-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- insert_roll: its options, the names of its tables and the statements of its
-- transaction. The code of its commands is in sb/roll_commands.lua.

local schema = require("sb.schema")

local M = {
   K_MAX = 10000,
   HID_MAX = 10000, -- of hid and mid
   levels = {10, 100, 1000},
   c_format = schema.c_format,
   pad_format = schema.pad_format,
   name = schema.name,
}

-- Columns of the primary key, in this order, by --key-order.
local keys = {
   sequential = "id",
   ["hid-mid-id"] = "hid, mid, id",
   ["id-hid-mid"] = "id, hid, mid",
}

local function declare()
   local declarations = require("sb.declarations")
   local oltp = declarations.oltp()
   local cmdline = sysbench.cmdline
   oltp.table_size[4], oltp.tables[4] = nil, nil -- normalize() checks them
   return declarations.add_old_names{
      table_size = oltp.table_size,
      tables = oltp.tables,
      key_order = {"Order of the primary keys: sequential (id), hid-mid-id " ..
         "or id-hid-mid", "sequential", cmdline.ARG_STRING},
      skip_trx = oltp.skip_trx,
      pipeline = oltp.pipeline,
      create_secondary = oltp.create_secondary,
      create_table_options = oltp.create_table_options,
      mysql_storage_engine = oltp.mysql_storage_engine,
      pgsql_variant = oltp.pgsql_variant,
      check_tables = oltp.check_tables,
      auto_inc = {"Ignored: the client assigns the ids, because it needs " ..
         "them for the roll-ups", true, cmdline.ARG_BOOL},
      ["rand-type"] = {"Distribution of k", "pareto"},
   }
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

function M.normalize(opt)
   local bounds = require("sb.bounds")
   require("sb.old_names").rename(opt)
   bounds.check(opt, {tables = {1, 1e6}, table_size = {0, 1e12}})
   bounds.one_of(opt, "key_order", {"sequential", "hid-mid-id", "id-hid-mid"})
   return opt
end

-- Returns whether rows have the columns hid and mid.
function M.has_hid(opt)
   return opt.key_order ~= "sequential"
end

function M.key(opt)
   return keys[opt.key_order]
end

-- Returns the name of the roll-up of table n over `level` ids.
function M.rollup(opt, n, level)
   return string.format("%s_r%d", schema.name(opt, n), level)
end

-- Returns the shared sequence of table n's ids.
function M.ids(opt, n, after)
   return sysbench.sequence("insert_roll " .. schema.name(opt, n), after)
end

-- Returns the columns of the key and `more`, and their placeholders: "id, k"
-- and "?, ?".
local function columns(opt, more)
   local names = M.key(opt) .. more
   return names, (names:gsub("%w+", "?"))
end

-- Binds the columns of the key and the parameters given. id: the parameter for
-- the id.
local function bind(opt, stmt, t, id, ...)
   local by_name = {id = id, hid = t.hid, mid = t.mid}
   local params = {}
   for column in M.key(opt):gmatch("%w+") do
      params[#params + 1] = by_name[column]
   end
   for _, p in ipairs{...} do
      params[#params + 1] = p
   end
   stmt:bind_param(unpack(params))
end

local function prepare_insert(con, opt, n, t)
   local kind = sysbench.sql.type
   local names, marks = columns(opt, ", k, c, pad")
   local stmt = con:prepare(string.format("INSERT INTO %s (%s) VALUES (%s)",
      schema.name(opt, n), names, marks), "inserts")
   t.insert, t.id = stmt, stmt:bind_create(kind.BIGINT)
   if M.has_hid(opt) then
      t.hid, t.mid = stmt:bind_create(kind.INT), stmt:bind_create(kind.INT)
   end
   t.k = stmt:bind_create(kind.INT)
   t.c = stmt:bind_create(kind.CHAR, 120)
   t.pad = stmt:bind_create(kind.CHAR, 60)
   bind(opt, stmt, t, t.id, t.k, t.c, t.pad)
end

-- The statement shares the parameters of the row, except the id.
local function prepare_rollup(con, d, opt, n, t, level)
   local name = M.rollup(opt, n, level)
   local names, marks = columns(opt, ", k")
   local stmt = con:prepare(string.format("INSERT INTO %s (%s) VALUES (%s) %s",
      name, names, marks, d.or_add(name, M.key(opt), "k")),
      "roll_ups_r" .. level)
   local id = stmt:bind_create(sysbench.sql.type.BIGINT)
   t["r" .. level], t["id" .. level] = stmt, id
   bind(opt, stmt, t, id, t.k)
end

-- Returns the statements on table n (insert, r10, r100, r1000), their
-- parameters (id, id10, id100, id1000, k, c, pad and, if the columns exist, hid
-- and mid), and ids, the sequence of the table.
function M.statements(con, d, opt, n)
   local t = {ids = M.ids(opt, n)}
   prepare_insert(con, opt, n, t)
   for _, level in ipairs(M.levels) do
      prepare_rollup(con, d, opt, n, t, level)
   end
   return t
end

function M.close(t)
   t.insert:close()
   for _, level in ipairs(M.levels) do
      t["r" .. level]:close()
   end
end

return M
