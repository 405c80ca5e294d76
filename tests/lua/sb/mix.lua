-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The statements of the OLTP workloads and the loops that execute them, for
-- all generations of scripts. This file has the part for point selects. The
-- rest is in sb/mix_transactions.lua and is loaded at first use, because each
-- of thousands of users holds a copy in memory.

local schema = require("sb.schema")

-- A local, because short traces use less memory.
local rand = sysbench.rand

-- globals: for scripts that avoid the name _G. If a script contains names for
-- inspecting tables, its users get larger tables (docs/internals/script.md).
local M = {globals = _G}

local int = {type = sysbench.sql.type.INT}

-- SQL with %s for the table, and the types of its parameters. The keys are
-- the names under which executions are reported.
M.statements = {
   point_selects = {"SELECT c FROM %s WHERE id=?", int},
}

-- A maker: (con, sql, types, op) returns an object with execute() and close(),
-- and the list of its parameters, which have set(value) and
-- set_rand_str(format). This one prepares the statement on the server;
-- sb/mix_makers.lua has others.
function M.prepared(con, sql, types, op)
   local stmt = con:prepare(sql, op)
   local params = {}
   for i, t in ipairs(types) do
      if t.len then
         params[i] = stmt:bind_create(t.type, t.len)
      else
         params[i] = stmt:bind_create(t.type)
      end
   end
   if #params > 0 then
      stmt:bind_param(unpack(params))
   end
   return stmt, params
end

local function default_id(opt)
   local size = opt.table_size
   return rand.default(1, size < 1 and 1 or size)
end

-- Executes statements. env: holds con, stmt and param, where stmt[n][key] is a
-- statement on table n and param[n][key][i] one of its parameters; may be _G.
-- make: a maker. draw(opt): returns a random id; optional.
local Mix = {}
Mix.__index = Mix
M.Mix = Mix

function M.new(env, make, draw)
   return setmetatable({env = env, make = make, draw = draw or default_id},
      Mix)
end

-- Prepares the statement under key on table n.
function Mix:prepare_one(opt, n, key)
   local def = M.statements[key]
   self.env.stmt[n][key], self.env.param[n][key] = self.make(self.env.con,
      def[1]:format(schema.name(opt, n)), {unpack(def, 2)}, key)
end

-- Declares a statement under key on each table. It is prepared when it or one
-- of its parameters is first accessed: preparing all statements of a thousand
-- users on hundreds of tables would take too long.
function Mix:prepare(_, key)
   self.keys[key] = true
end

local function on_demand(self, opt)
   local stmt, param = {}, {}
   local tables = {
      __index = function(list, n)
         if type(n) ~= "number" or n < 1 or n > opt.tables then
            return nil
         end
         local keys = {
            __index = function(of, key)
               if self.keys[key] then
                  self:prepare_one(opt, n, key)
                  return rawget(of, key)
               end
            end
         }
         stmt[n], param[n] = setmetatable({}, keys), setmetatable({}, keys)
         return list[n]
      end
   }
   return setmetatable(stmt, tables), setmetatable(param, tables)
end

function Mix:open(opt)
   self.keys = {}
   self.env.stmt, self.env.param = on_demand(self, opt)
end

function Mix:close()
   local stmt = self.env.stmt
   for n, of in pairs(stmt) do
      if type(n) == "number" then
         for key, s in pairs(of) do
            s:close()
            of[key], self.env.param[n][key] = nil, nil
         end
      end
   end
   for _, key in ipairs{"begin", "commit"} do
      if stmt[key] then
         stmt[key]:close()
      end
   end
end

-- Executes the statement under key, whose parameter is an id, `times` times.
-- The first execution is outside of the loop: if it is the only one, a loop
-- would cost each user the memory of an unused trace.
function M.by_id(self, opt, n, key, times)
   if times < 1 then
      return
   end
   local env, draw = self.env, self.draw
   local stmt, id = env.stmt[n][key], env.param[n][key][1]
   id:set(draw(opt))
   stmt:execute()
   for _ = 2, times do
      id:set(draw(opt))
      stmt:execute()
   end
end

Mix.by_id = M.by_id

-- Loads sb/mix_transactions.lua at the first access to a statement or method
-- that is not in this file.
local function load_rest(self, name)
   setmetatable(M.statements, nil)
   setmetatable(Mix, nil)
   require("sb.mix_transactions")
   return self[name]
end

setmetatable(M.statements, {__index = load_rest})
setmetatable(Mix, {__index = load_rest})

return M
