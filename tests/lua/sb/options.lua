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
function M.with_table_options(options)
   for name, option in pairs(of_tables()) do
      options[name] = options[name] or option
   end
   return options
end

-- Raises an error if no command is given.
function M.require_command()
   if sysbench.cmdline.command == nil then
      error("Command is required. Supported commands: prepare, warmup, " ..
         "run, check, cleanup, help", 0)
   end
end

-- Raises an error with the null driver. what: the workload or command that
-- reads the rows that it has stored.
function M.require_storage(what)
   if sysbench.opt.db_driver == "null" then
      error(what .. " requires a database; the null driver stores no data", 0)
   end
end

-- Raises an error if several processes (ranks) are one run. For workloads whose
-- users share a state that processes cannot share. exception: the end of the
-- message, if other options allow ranks.
function M.refuse_ranks(workload, exception)
   if sysbench.ranks > 1 then
      error(workload .. ": this workload cannot be divided among ranks " ..
         (exception or "yet"), 0)
   end
end

-- Raises an error if the first of two options is greater than the second.
function M.require_order(opt, small, large)
   if opt[small] > opt[large] then
      error(string.format("--%s must not be more than --%s, which is %.0f",
         small:gsub("_", "-"), large:gsub("_", "-"), opt[large]), 0)
   end
end

-- Validates a name of a table, for the declaration of an option.
function M.validate_table_name(option, value)
   if not value:match("^[%w_%.]+$") then
      error(string.format("--%s must consist of letters, digits, '_' and " ..
         "'.', not '%s'", option:gsub("_", "-"), value), 0)
   end
   return true
end

return M
