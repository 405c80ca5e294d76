-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The statements of the OLTP workloads and the loops that execute them, for
-- every generation of scripts.

local schema = require("sb.schema")

local M = {}

local kind = sysbench.sql.type
local int = {type = kind.INT}
local c_text = {type = kind.CHAR, len = 120}
local pad_text = {type = kind.CHAR, len = 60}

-- SQL with the table as %s, and the types of its parameters. The keys are
-- the names under which executions are reported.
M.statements = {
   point_selects = {"SELECT c FROM %s WHERE id=?", int},
   pad_selects = {"SELECT pad FROM %s WHERE id=?", int},
   row_selects = {"SELECT id, k, c, pad FROM %s WHERE id=?", int},
   simple_ranges = {"SELECT c FROM %s WHERE id BETWEEN ? AND ?", int, int},
   sum_ranges = {"SELECT SUM(k) FROM %s WHERE id BETWEEN ? AND ?", int, int},
   order_ranges = {"SELECT c FROM %s WHERE id BETWEEN ? AND ? ORDER BY c",
      int, int},
   distinct_ranges = {"SELECT DISTINCT c FROM %s " ..
      "WHERE id BETWEEN ? AND ? ORDER BY c", int, int},
   index_updates = {"UPDATE %s SET k=k+1 WHERE id=?", int},
   non_index_updates = {"UPDATE %s SET c=? WHERE id=?", c_text, int},
   deletes = {"DELETE FROM %s WHERE id=?", int},
   inserts = {"INSERT INTO %s (id, k, c, pad) VALUES (?, ?, ?, ?)",
      int, int, c_text, pad_text},
}

M.ranges = {"simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges"}

-- Makers of statements -----------------------------------------------------
--
-- make(con, sql, types, op) returns an object with execute() and close(), and
-- the list of its parameters, which have set(value) and set_rand_str(format).

-- A statement that the server prepares.
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

-- A parameter that is kept until its statement becomes text.
local Value = {}
Value.__index = Value

function Value:set(value)
   self.value = value
end

function Value:set_rand_str(format)
   self.value = sysbench.rand.string(format)
end

local function values(count)
   local list = {}
   for i = 1, count do
      list[i] = setmetatable({}, Value)
   end
   return list
end

-- A statement sent as text, as the 0.5 scripts did. At most four parameters;
-- texts must not need quoting.
local Text = {}
Text.__index = Text

function Text:execute()
   if not self.a then
      return self.con:query(self.format)
   end
   return self.con:query(string.format(self.format, self.a.value,
      self.b.value, self.c.value, self.d.value))
end

function Text.close()
end

function M.text(con, sql, types)
   local n = 0
   local format = sql:gsub("%?", function()
      n = n + 1
      return types[n].len and "'%s'" or "%d"
   end)
   local p = values(#types)
   local none = {value = 0}
   return setmetatable({con = con, format = format, a = p[1] and p[1],
      b = p[2] or none, c = p[3] or none, d = p[4] or none}, Text), p
end

-- A statement that is prepared, executed and closed each time, after which
-- `after` is called: for connections that live for one query.
function M.once(after)
   local Once = {}
   Once.__index = Once

   function Once:execute()
      local stmt, params = M.prepared(self.con, self.sql, self.types, self.op)
      for i, p in ipairs(self.params) do
         params[i]:set(p.value)
      end
      stmt:execute()
      stmt:close()
      after()
   end

   Once.close = Text.close

   return function(con, sql, types, op)
      local params = values(#types)
      return setmetatable({con = con, sql = sql, types = types, op = op,
         params = params}, Once), params
   end
end

-- The mix ------------------------------------------------------------------

local function default_id(opt)
   return sysbench.rand.default(1, math.max(opt.table_size, 1))
end

-- Loops over statements. env: holds con, stmt and param, where stmt[n][key]
-- is a statement on table n and param[n][key][i] one of its parameters; may
-- be _G. make: a maker from above. draw(opt): a random id; optional.
local Mix = {}
Mix.__index = Mix

function M.new(env, make, draw)
   return setmetatable({env = env, make = make, draw = draw or default_id},
      Mix)
end

-- A statement on table n under key.
function Mix:prepare_one(opt, n, key)
   local def = M.statements[key]
   self.env.stmt[n][key], self.env.param[n][key] = self.make(self.env.con,
      def[1]:format(schema.name(opt, n)), {unpack(def, 2)}, key)
end

function Mix:prepare(opt, key)
   for n = 1, opt.tables do
      self:prepare_one(opt, n, key)
   end
end

-- BEGIN and COMMIT, or what serves for them in dialect d.
function Mix:prepare_begin(d, opt, read_only)
   local begin = d:transaction(opt, read_only)
   self.env.stmt.begin = self.make(self.env.con, begin, {}, "begin")
end

function Mix:prepare_commit(d, opt, read_only)
   local _, commit = d:transaction(opt, read_only)
   self.env.stmt.commit = self.make(self.env.con, commit, {}, "commit")
end

function Mix:open(opt)
   self.env.stmt, self.env.param = {}, {}
   for n = 1, opt.tables do
      self.env.stmt[n], self.env.param[n] = {}, {}
   end
end

function Mix:close(opt)
   for n = 1, opt.tables do
      for _, stmt in pairs(self.env.stmt[n]) do
         stmt:close()
      end
   end
   if self.env.stmt.begin then
      self.env.stmt.begin:close()
   end
   if self.env.stmt.commit then
      self.env.stmt.commit:close()
   end
end

-- Executes the statement under key, whose parameter is an id, so many
-- times.
function Mix:by_id(opt, n, key, times)
   local stmt, id = self.env.stmt[n][key], self.env.param[n][key][1]
   for _ = 1, times do
      id:set(self.draw(opt))
      stmt:execute()
   end
end

function Mix:points(opt, n)
   self:by_id(opt, n, "point_selects", opt.point_selects)
end

function Mix:range(opt, n, key)
   local stmt, param = self.env.stmt[n][key], self.env.param[n][key]
   local from, to = param[1], param[2]
   for _ = 1, opt[key] do
      local id = self.draw(opt)
      if opt.clamp_ranges then
         id = math.max(math.min(id, opt.table_size - opt.range_size), 1)
      end
      from:set(id)
      to:set(id + opt.range_size - 1)
      stmt:execute()
   end
end

function Mix:index_updates(opt, n)
   self:by_id(opt, n, "index_updates", opt.index_updates)
end

function Mix:non_index_updates(opt, n)
   local stmt = self.env.stmt[n].non_index_updates
   local param = self.env.param[n].non_index_updates
   for _ = 1, opt.non_index_updates do
      param[1]:set_rand_str(schema.c_format)
      param[2]:set(self.draw(opt))
      stmt:execute()
   end
end

-- Removes a row and puts it back with other values.
function Mix:delete_insert(opt, n, id)
   local insert = self.env.param[n].inserts
   self.env.param[n].deletes[1]:set(id)
   insert[1]:set(id)
   insert[2]:set(self.draw(opt))
   insert[3]:set_rand_str(schema.c_format)
   insert[4]:set_rand_str(schema.pad_format)
   self.env.stmt[n].deletes:execute()
   self.env.stmt[n].inserts:execute()
end

function Mix:delete_inserts(opt, n)
   for _ = 1, opt.delete_inserts do
      self:delete_insert(opt, n, self.draw(opt))
   end
end

-- Whole parts of a transaction, all on table n.
function Mix:prepare_ranges(opt)
   if opt.range_selects then
      for _, key in ipairs(M.ranges) do
         self:prepare(opt, key)
      end
   end
end

function Mix:read_ranges(opt, n)
   if opt.range_selects then
      self:range(opt, n, "simple_ranges")
      self:range(opt, n, "sum_ranges")
      self:range(opt, n, "order_ranges")
      self:range(opt, n, "distinct_ranges")
   end
end

function Mix:prepare_writes(opt)
   self:prepare(opt, "index_updates")
   self:prepare(opt, "non_index_updates")
   self:prepare(opt, "deletes")
   self:prepare(opt, "inserts")
end

function Mix:writes(opt, n)
   self:index_updates(opt, n)
   self:non_index_updates(opt, n)
   self:delete_inserts(opt, n)
end

-- INSERT of a row into table 1, without the id where the server numbers.
function Mix:prepare_new_rows(d, opt)
   local columns, marks, types = "id, k, c, pad", "?, ?, ?, ?",
      {int, int, c_text, pad_text}
   if schema.server_ids(d, opt) then
      columns, marks, types = "k, c, pad", "?, ?, ?",
         {int, c_text, pad_text}
   end
   local env = self.env
   env.stmt[1].new_rows, env.param[1].new_rows = self.make(env.con,
      string.format("INSERT INTO %s (%s) VALUES (%s)",
         schema.name(opt, 1), columns, marks), types, "inserts")
end

-- Call of a stored procedure with two numbers.
function Mix:prepare_call(d, name)
   local env = self.env
   env.stmt[1].call, env.param[1].call = self.make(env.con,
      d.call:format(name), {int, int}, "call")
end

-- One new row for table n, as text: the event of the insert workloads. The
-- server numbers it if it can, else its id is one that no other call gets.
function M.insert_text(d, opt, n)
   local rand = sysbench.rand
   local k = rand.default(1, math.max(opt.table_size, 1))
   local c, pad = rand.string(schema.c_format), rand.string(schema.pad_format)
   local name = schema.name(opt, n)
   if not schema.server_ids(d, opt) then
      -- 32 bits, as the column holds them
      return string.format("INSERT INTO %s (id, k, c, pad) VALUES " ..
         "(%d, %d, '%s', '%s')", name, rand.unique() - 2147483648, k, c, pad)
   elseif d.auto_value then
      return string.format("INSERT INTO %s (id, k, c, pad) VALUES " ..
         "(%s, %d, '%s', '%s')", name, d.auto_value, k, c, pad)
   end
   return string.format("INSERT INTO %s (k, c, pad) VALUES (%d, '%s', '%s')",
      name, k, c, pad)
end

return M
