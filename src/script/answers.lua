-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.result() and sysbench.verdict(): what a script says of its run.

local sb = ...
local ffi = sb.ffi

local MOST_UNIT, MOST_TEXT = 32, 500 -- bytes

local int64, uint64 = ffi.typeof("int64_t"), ffi.typeof("uint64_t")

-- Checks a text of a script: name says which one. level: as of error().
local function check_text(text, name, most, level)
   if type(text) ~= "string" then
      error(("%s must be a string, not a %s"):format(name, type(text)),
         level + 1)
   elseif #text > most then
      error(("%s has %d bytes; the maximum is %d"):format(name, #text, most),
         level + 1)
   elseif text:find("%c") then
      error(name .. " must be one line without control characters", level + 1)
   end
   return text
end

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
   check_text(options.unit or "", "'unit' of a result", MOST_UNIT, level + 1)
   check_text(options.why or "", "'why' of a result", MOST_TEXT, level + 1)
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

-- passed: true, false, or nil for unknown.
function answers.verdict(passed, text, name)
   if passed ~= nil and type(passed) ~= "boolean" then
      error("the first argument of sysbench.verdict() must be true, false " ..
         "or nil", 2)
   end
   check_text(text, "the text of a verdict", MOST_TEXT, 2)
   if name ~= nil then
      sb.check_name(name, "a verdict", 2)
   end
   local why = sb.add_verdict(passed, text, name or "verdict")
   if why then
      error(why, 2)
   end
end

return answers
