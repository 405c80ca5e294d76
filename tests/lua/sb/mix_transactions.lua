-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What the transactions of the OLTP workloads consist of besides point selects:
-- ranges, writes, BEGIN and COMMIT. Adds them to sb/mix.lua, which loads this.

local mix = require("sb.mix")
local schema = require("sb.schema")

local Mix, statements = mix.Mix, mix.statements
local kind = sysbench.sql.type
local int = {type = kind.INT}
local c_text = {type = kind.CHAR, len = 120}
local pad_text = {type = kind.CHAR, len = 60}

local ranges = {"simple_ranges", "sum_ranges", "order_ranges",
   "distinct_ranges"}

statements.pad_selects = {"SELECT pad FROM %s WHERE id=?", int}
statements.row_selects = {"SELECT id, k, c, pad FROM %s WHERE id=?", int}
statements.simple_ranges = {
   "SELECT c FROM %s WHERE id BETWEEN ? AND ?", int, int}
statements.sum_ranges = {
   "SELECT SUM(k) FROM %s WHERE id BETWEEN ? AND ?", int, int}
statements.order_ranges = {
   "SELECT c FROM %s WHERE id BETWEEN ? AND ? ORDER BY c",
   int, int}
statements.distinct_ranges = {"SELECT DISTINCT c FROM %s " ..
   "WHERE id BETWEEN ? AND ? ORDER BY c", int, int}
statements.index_updates = {"UPDATE %s SET k=k+1 WHERE id=?", int}
statements.non_index_updates = {"UPDATE %s SET c=? WHERE id=?", c_text, int}
statements.deletes = {"DELETE FROM %s WHERE id=?", int}
statements.inserts = {"INSERT INTO %s (id, k, c, pad) VALUES (?, ?, ?, ?)",
   int, int, c_text, pad_text}

-- BEGIN and COMMIT, or their replacements in dialect d.
function Mix:prepare_begin(d, opt, read_only)
   local begin = d:transaction(opt, read_only)
   self.env.stmt.begin = self.make(self.env.con, begin, {}, "begin")
end

function Mix:prepare_commit(d, opt, read_only)
   local _, commit = d:transaction(opt, read_only)
   self.env.stmt.commit = self.make(self.env.con, commit, {}, "commit")
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

function Mix:points(opt, n)
   self:by_id(opt, n, "point_selects", opt.point_selects)
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

-- Deletes a row and inserts it again with other values.
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

-- Groups of statements of a transaction, all on table n.
function Mix:prepare_ranges(opt)
   if opt.range_selects then
      for _, key in ipairs(ranges) do
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

-- INSERT of a row into table 1, without the id if the server assigns it.
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

-- Call of a stored procedure with two integers.
function Mix:prepare_call(d, name)
   local env = self.env
   env.stmt[1].call, env.param[1].call = self.make(env.con,
      d.call:format(name), {int, int}, "call")
end
