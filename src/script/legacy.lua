-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The global functions of sysbench 0.5. There is one connection per thread,
-- opened when it is first needed.

local _, me = ...
local sysbench, globals = me.sysbench, me.globals
local sql, rand = sysbench.sql, sysbench.rand
local types = sql.type
local con
local legacy = {}

-- If a MongoDB URL is given, its driver is used even if an SQL driver is named.
local function driver()
   local opt = sysbench.opt
   if opt and (opt.mongo_url or "") ~= "" then
      return sql.driver("mongodb")
   end
   return sql.driver()
end

function legacy.db_connect()
   local drv = driver()
   rawset(globals, "db_driver", drv:name())
   con = drv:connect()
end

function legacy.db_disconnect()
   if con then
      con:disconnect()
      con = nil
   end
end

local function connected()
   if not con then
      legacy.db_connect()
   end
   return con
end

me.legacy_connection = connected -- for drivers/mongodb/lua/legacy.lua

-- Returns nothing, as in 0.5.
function legacy.db_query(query)
   local rs = connected():query(query)
   if rs ~= nil then
      rs:free()
   end
end

function legacy.db_bulk_insert_init(query)
   connected():bulk_insert_init(query)
end

function legacy.db_bulk_insert_next(values)
   con:bulk_insert_next(values)
end

function legacy.db_bulk_insert_done()
   con:bulk_insert_done()
end

function legacy.db_prepare(query)
   return connected():prepare(query)
end

local function create(stmt, value)
   if type(value) == "string" then
      return stmt:bind_create(types.CHAR)
   elseif type(value) == "number" and value % 1 ~= 0 then
      return stmt:bind_create(types.DOUBLE)
   end
   return stmt:bind_create(types.BIGINT)
end

local function fits(param, value)
   if type(value) == "string" then
      return param.type == types.CHAR
   elseif type(value) == "number" and value % 1 ~= 0 then
      return param.type == types.DOUBLE
   end
   return param.type ~= types.CHAR
end

local function bind(stmt, values)
   local params, n = {}, table.maxn(values)
   for i = 1, n do
      params[i] = create(stmt, values[i])
   end
   stmt:bind_param(unpack(params, 1, n))
   return params
end

-- Keeps the table, because each db_execute() reads its values again.
function legacy.db_bind_param(stmt, values)
   stmt.values = values
   stmt.bound = bind(stmt, values)
end

function legacy.db_bind_result() end

function legacy.db_execute(stmt)
   local values, bound = stmt.values, stmt.bound
   if values then
      for i = 1, #bound do
         if not fits(bound[i], values[i]) then
            bound = bind(stmt, values)
            stmt.bound = bound
            break
         end
      end
      for i = 1, #bound do
         bound[i]:set(values[i])
      end
   end
   return stmt:execute()
end

function legacy.db_store_results() end

function legacy.db_free_results(rs)
   if rs ~= nil then
      rs:free()
   end
end

function legacy.db_close(stmt)
   stmt:close()
end

local WRAP = 2 ^ 32

-- Returns a bound as a number. Options of scripts that declare none are
-- strings, which 0.5 converted here.
local function bound(value)
   return tonumber(value) or value
end

local function is_wide(n)
   return type(n) == "number" and (n < -2 ^ 31 or n >= WRAP) and n - n == 0
end

-- Bounds and results of these names have 32 bits, as in 1.0: sysbench.rand has
-- 53. Greater numbers would be printed as 4.5e+15.
local function wrapped(draw, a, b)
   a, b = math.floor(a) % WRAP, math.floor(b) % WRAP
   local width = math.max((b - a + 1) % WRAP, 1)
   return draw(a, a + width - 1) % WRAP
end

for name, draw in pairs{
   sb_rand = rand.default, sb_rand_uniform = rand.uniform,
   sb_rand_gaussian = rand.gaussian, sb_rand_special = rand.special,
   sb_rand_pareto = rand.pareto, sb_rand_zipfian = rand.zipfian
} do
   legacy[name] = function(a, b)
      a, b = bound(a), bound(b)
      if is_wide(a) or is_wide(b) then
         return wrapped(draw, a, b)
      end
      return draw(a, b)
   end
end
legacy.sb_rand_str = rand.string

function legacy.sb_rand_uniq(a, b)
   if a and b then
      a, b = bound(a), bound(b)
      return rand.unique_in(is_wide(a) and a % WRAP or a,
                            is_wide(b) and WRAP - 1 or b)
   end
   return rand.unique()
end

function legacy.sb_rnd()
   return rand.uniform(0, 4294967295)
end

legacy.DB_ERROR_NONE = 0
legacy.DB_ERROR_RESTART_TRANSACTION = 1
legacy.DB_ERROR_FAILED = 2

-- sysbench.db.query() is db_query().
local db = {}
for name, value in pairs(legacy) do
   if rawget(globals, name) == nil then
      rawset(globals, name, value)
   end
   if name:sub(1, 3) == "db_" then
      db[name:sub(4)] = value
   end
end

return db
