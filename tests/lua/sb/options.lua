-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Options that several workloads have, and checks of settings.

local M = {}

-- The options for creating and checking tables.
local function of_tables()
   return {
      create_table_options = {"Text to append to CREATE TABLE", ""},
      mysql_storage_engine = {"Storage engine, for MySQL; empty: the " ..
         "server's default", "innodb"},
      pgsql_variant = {"PostgreSQL-compatible variant: redshift (implies " ..
         "create_secondary=off, delete_inserts=0), cockroachdb, yugabytedb",
         ""},
      check_tables = {"Check the tables before a run starts: missing or " ..
         "empty tables are errors, other mismatches with the options warnings",
         true},
   }
end

-- Adds the options for creating and checking tables to those of a workload.
-- Returns them, for sysbench.cmdline.options.
function M.with_tables(options)
   for name, option in pairs(of_tables()) do
      options[name] = options[name] or option
   end
   return options
end

-- Raises an error if no command is given. more: additional commands, each
-- followed by ", ".
function M.need_command(more)
   if sysbench.cmdline.command == nil then
      error("Command is required. Supported commands: prepare, warmup, " ..
         "run, " .. (more or "") .. "cleanup, help", 0)
   end
end

-- Raises an error with the null driver. what: a workload or command that reads
-- back what it has stored.
function M.need_storage(what)
   if sysbench.opt.db_driver == "null" then
      error(what .. " needs a database: the null driver stores nothing", 0)
   end
end

-- Raises an error in a run of several processes, if `condition` is true or nil.
-- For workloads whose users share a state that processes cannot share. what:
-- the end of the message "cannot be divided among ranks ...".
function M.refuse_ranks(workload, condition, what)
   if condition ~= false and sysbench.ranks > 1 then
      error(workload .. ": this workload cannot be divided among ranks " ..
         (what or "yet"), 0)
   end
end

-- Raises an error if the first of two options is greater than the second.
function M.order(opt, small, large)
   if opt[small] > opt[large] then
      error(string.format("--%s must not be more than --%s, which is %.0f",
         small:gsub("_", "-"), large:gsub("_", "-"), opt[large]), 0)
   end
end

-- Validates a name of a table, for the declaration of an option.
function M.table_name(option, value)
   if not value:match("^[%w_%.]+$") then
      error(string.format("--%s must consist of letters, digits, '_' and " ..
         "'.', not '%s'", option:gsub("_", "-"), value), 0)
   end
   return true
end

return M
