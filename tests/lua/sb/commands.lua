-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The commands of the oltp_*.lua workloads, apart from the run. `own` holds
-- the functions of oltp_common.lua as they were: what differs from them is a
-- script's own.

local build = require("sb.build")
local databases = require("sb.databases")
local dialect = require("sb.dialect")
local options = require("sb.options")
local parallel = require("sb.prepare")

local M = {}

local function settings()
   return options.settle(sysbench.opt)
end

-- What a script put in place of get_c_value() and get_pad_value(), or nil.
local function values(own)
   return get_c_value ~= own.c and get_c_value or nil,
      get_pad_value ~= own.pad and get_pad_value or nil
end

function M.create_table(own, driver, con, n)
   build.build(con, dialect.of(driver), settings(), n, values(own))
end

function M.prepare(own)
   local opt = settings()
   local c, pad = values(own)
   databases.each(function(con, d, driver, name)
      if create_table == own.create_table then
         return parallel.prepare(con, d, opt, c, pad, build, name)
      end
      parallel.each_table(opt, function(n)
         create_table(driver, con, n)
      end)
   end)
end

function M.warmup()
   local opt = settings()
   databases.each(function(con, d)
      parallel.warmup(con, d, opt)
   end)
end

function M.check(own)
   if create_table ~= own.create_table then
      error("check knows the tables of oltp_common only, and this script " ..
         "has a create_table() of its own", 0)
   end
   require("sb.check_rows").check(settings(), values(own) ~= nil or
      select(2, values(own)) ~= nil)
end

function M.cleanup()
   local opt = settings()
   databases.each(function(con)
      build.drop_all(con, opt)
   end)
end

return M
