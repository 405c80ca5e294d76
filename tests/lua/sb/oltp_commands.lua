-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The commands of the oltp_*.lua workloads, except run. `own` holds the
-- original functions of oltp_common.lua, to detect those that a script has
-- replaced.

local build = require("sb.build")
local databases = require("sb.databases")
local dialect = require("sb.dialect")
local options = require("sb.options")
local parallel = require("sb.prepare")

local M = {}

local function settings()
   return options.normalize(sysbench.opt)
end

-- Returns the functions with which a script replaces get_c_value() and
-- get_pad_value(); nil for those not replaced.
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
      error("check supports only the tables of oltp_common, but this " ..
         "script defines its own create_table()", 0)
   end
   require("sb.oltp_check").check(settings(), values(own) ~= nil or
      select(2, values(own)) ~= nil)
end

function M.cleanup()
   local opt = settings()
   databases.each(function(con)
      build.drop_all(con, opt)
   end)
end

return M
