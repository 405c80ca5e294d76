-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What differs between SQL databases, one table each, keyed by
-- drv:dialect(). A new database is a new entry: the workloads hold no
-- branches. What an entry leaves out is taken from `generic`.

-- Templates take the name of the table as %s.
local generic = {
   -- Transactions. begin_write is for those that will change rows.
   begin = "BEGIN",
   begin_write = "BEGIN",
   commit = "COMMIT",

   -- Types of the column id: numbered by the client, and by the server.
   id = "INTEGER NOT NULL",
   id_auto = "INTEGER NOT NULL",
   -- The server can number rows at all, with the column id as primary key,
   -- and with a plain index on it (--secondary).
   numbers_rows = false,
   numbers_rows_secondary = false,
   -- What an INSERT gives as id to have the row numbered; nil: the column is
   -- left out.
   auto_value = nil,
   -- Clause in CREATE TABLE for a plain index on id; nil: an index of its
   -- own is made after loading.
   secondary_key = nil,

   -- Counts the tables of that name; nil: not asked.
   find_table = nil,
   truncate = "DELETE FROM %s",
   -- Run for each table when its rows are there (sequences and the like).
   after_load = {},
   -- Reads a whole table and its index into the caches.
   warmup = {
      "SELECT SUM(LENGTH(c) + LENGTH(pad)) FROM %s",
      "SELECT COUNT(*) FROM %s WHERE k >= 0",
   },

   -- Only for the modes of oltp_0_4 that need them; nil: no such thing.
   call = nil,
   handler = nil,
}

-- What follows the closing bracket of CREATE TABLE.
function generic.table_options(opt)
   return opt.create_table_options or ""
end

-- First and last statement of a transaction on all tables of a workload.
function generic.transaction(self, _, read_only)
   return read_only and self.begin or self.begin_write, self.commit
end

local dialects = {}

dialects.sqlite = {
   -- A deferred transaction that turns writer late can fail at once, with
   -- nobody to wait for; asking for the write lock first waits in line.
   begin_write = "BEGIN IMMEDIATE",
   numbers_rows = true,
   find_table =
      "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND " ..
      "name = '%s'",
}

dialects.null = {
   numbers_rows = true,
   numbers_rows_secondary = true,
   call = "CALL %s(?, ?)",
}

local M = {}

-- The table for a driver, or a dialect by name.
function M.of(drv)
   local name = type(drv) == "string" and drv or drv:dialect()
   return M[name] or generic
end

for name, entry in pairs(dialects) do
   entry.name = name
   M[name] = setmetatable(entry, {__index = generic})
end

return M
