-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.result() and sysbench.verdict(): what a script says of its run.

local sb = ...
local ffi = sb.ffi

local MOST_UNIT = 32 -- bytes

local int64, uint64 = ffi.typeof("int64_t"), ffi.typeof("uint64_t")

local kinds = {better = "string", unit = "string", headline = "boolean",
   why = "string"}

local function check_options(options, level)
   if type(options) ~= "table" then
      error("the options of a result must be a table", level + 1)
   end
   for name, value in pairs(options) do
      if not kinds[name] then
         error(("a result has no option '%s' (must be better, unit, " ..
            "headline or why)"):format(tostring(name)), level + 1)
      elseif type(value) ~= kinds[name] then
         error(("'%s' of a result must be a %s"):format(name, kinds[name]),
            level + 1)
      end
   end
   if options.better and options.better ~= "lower" and
      options.better ~= "higher"
   then
      error("'better' of a result must be \"lower\" or \"higher\"", level + 1)
   end
   local unit = options.unit or ""
   if #unit > MOST_UNIT then
      error(("'unit' of a result has %d bytes; the maximum is %d"):format(
         #unit, MOST_UNIT), level + 1)
   elseif unit:find("%c") then
      error("'unit' of a result must be one line without control characters",
         level + 1)
   end
end

-- Returns the options of a result that the script has declared in
-- sysbench.results; an empty table if it declares none.
local function declared(name, level)
   local all = rawget(sb.me().sysbench, "results")
   if type(all) ~= "table" then
      return {}
   elseif type(all[name]) ~= "table" then
      error(("'%s' is not in sysbench.results, which declares the results " ..
         "of this script"):format(name), level + 1)
   end
   check_options(all[name], level + 1)
   return all[name]
end

local function number(value)
   if type(value) == "cdata" and
      (ffi.istype(int64, value) or ffi.istype(uint64, value))
   then
      return tonumber(value)
   elseif value ~= nil and type(value) ~= "number" then
      error("the value of a result must be a number, or nil and 'why', not " ..
         "a " .. type(value), 3)
   elseif value ~= value then
      error("the value of a result is not a number (NaN)", 3)
   end
   return value
end

local answers = {}

function answers.result(name, value, options)
   sb.check_name(name, "a result", 2)
   options = options or {}
   check_options(options, 2)
   local defaults = declared(name, 2)
   local function option(key)
      local own = options[key]
      if own == nil then
         return defaults[key]
      end
      return own
   end
   local why = sb.add_result(name, number(value), option("why") or "",
      option("better") or "", option("unit") or "", option("headline"))
   if why then
      error(why, 2)
   end
end

-- passed: true, false, or nil for unknown. The program shortens the text.
function answers.verdict(passed, text, name)
   if passed ~= nil and type(passed) ~= "boolean" then
      error("the first argument of sysbench.verdict() must be true, false " ..
         "or nil", 2)
   end
   if type(text) ~= "string" then
      error("the text of a verdict must be a string, not a " .. type(text), 2)
   end
   if name ~= nil then
      sb.check_name(name, "a verdict", 2)
   end
   local why = sb.add_verdict(passed, text, name or "verdict")
   if why then
      error(why, 2)
   end
end

return answers
