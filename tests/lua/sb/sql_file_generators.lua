-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sql_file: the generators of values.

local rand = sysbench.rand

local M = {}

-- Each takes a list of arguments and returns a function that returns a value,
-- and whether the values are "int", "double" or the maximum length of a text.
-- When rows are loaded, the function is called with the number of the row.
local generators = {}

local function range(draw)
   return function(args, refuse)
      local a, b = args[1], args[2]
      if #args ~= 2 or type(a) ~= "number" or type(b) ~= "number" then
         refuse("two numbers are required, as in (1, 1000)")
      elseif a > b or a % 1 ~= 0 or b % 1 ~= 0 or
         math.max(-a, b) > 2 ^ 53
      then
         refuse("the numbers must be integers, the smaller one first")
      end
      return function() return rand[draw](a, b) end, "int"
   end
end

for _, name in ipairs(require("sb.distributions")) do
   generators[name] = range(name)
end

function generators.double(args, refuse)
   local a, b = args[1], args[2]
   if #args ~= 2 or type(a) ~= "number" or type(b) ~= "number" then
      refuse("two numbers are required, as in (0, 1)")
   end
   return function() return a + rand.uniform_double() * (b - a) end, "double"
end

function generators.string(args, refuse)
   local format = args[1]
   if #args ~= 1 or type(format) ~= "string" then
      refuse('a format is required, as in ("@@@@-##")')
   end
   return function() return rand.string(format) end, #format
end

-- Letters and digits.
function generators.text(args, refuse)
   local a, b = args[1], args[2]
   if #args ~= 2 or type(a) ~= "number" or type(b) ~= "number" or
      a % 1 ~= 0 or b % 1 ~= 0 or a < 0 or a > b or b > 65536
   then
      refuse("the minimum and the maximum length are required, as in " ..
         "(1, 20); at most 65536")
   end
   return function() return rand.alphanumeric(a, b) end, b
end

-- A number with a fixed number of digits after the point.
function generators.decimal(args, refuse)
   local a, b, digits = args[1], args[2], args[3]
   local unit = 10 ^ (type(digits) == "number" and digits or 0)
   if #args ~= 3 or type(a) ~= "number" or type(b) ~= "number" or
      a > b or not (digits and digits >= 1 and digits <= 15) or
      digits % 1 ~= 0 or math.max(-a, b) * unit > 1e15
   then
      refuse("a minimum, a maximum and the number of digits after the point " ..
         "are required, as in (0.01, 99.99, 2); at most 15 digits")
   end
   local low, high = math.floor(a * unit + 0.5), math.floor(b * unit + 0.5)
   local format = "%." .. digits .. "f"
   return function() return format:format(rand.uniform(low, high) / unit) end,
      math.max(#format:format(a), #format:format(b))
end

-- Random, version 4 of RFC 9562.
function generators.uuid(args, refuse)
   if #args ~= 0 then
      refuse("it has no arguments")
   end
   local function word() return rand.uniform(0, 65535) end
   return function()
      return ("%04x%04x-%04x-4%03x-%04x-%04x%04x%04x"):format(word(), word(),
         word(), rand.uniform(0, 4095), rand.uniform(32768, 49151), word(),
         word(), word())
   end, 36
end

-- Returns the number of days from 1970-01-01 to a date of the Gregorian
-- calendar. The years begin with March, so that the leap day is the last one.
local function days_of(year, month, day)
   if month <= 2 then
      year, month = year - 1, month + 12
   end
   return 365 * year + math.floor(year / 4) - math.floor(year / 100) +
      math.floor(year / 400) + math.floor((153 * month - 457) / 5) + day -
      719469
end

-- Returns the date of a number of days as text.
local function date_of(days)
   -- The estimate of the year may be one too high or too low.
   local year = 1970 + math.floor(days / 365.2425)
   while days_of(year + 1, 1, 1) <= days do
      year = year + 1
   end
   while days_of(year, 1, 1) > days do
      year = year - 1
   end
   local month = 12
   while days_of(year, month, 1) > days do
      month = month - 1
   end
   return ("%04d-%02d-%02d"):format(year, month,
      days - days_of(year, month, 1) + 1)
end

-- Returns the days of two dates.
local function dates(args, refuse)
   local days = {}
   for i, text in ipairs(args) do
      local y, m, d = tostring(text):match("^(%d%d%d%d)-(%d%d)-(%d%d)$")
      days[i] = y and days_of(tonumber(y), tonumber(m), tonumber(d))
      if not days[i] or date_of(days[i]) ~= text then
         refuse("'" .. tostring(text) .. "' is not a date such as 2026-01-31")
      end
   end
   if #days ~= 2 or days[1] > days[2] then
      refuse('two dates are required, the earlier one first, as in ' ..
         '("2026-01-01", "2026-12-31")')
   end
   return days[1], days[2]
end

function generators.date(args, refuse)
   local first, last = dates(args, refuse)
   return function() return date_of(rand.uniform(first, last)) end, 10
end

-- From the beginning of the first day to the end of the last one.
function generators.datetime(args, refuse)
   local first, last = dates(args, refuse)
   return function()
      local days, seconds = rand.uniform(first, last), rand.uniform(0, 86399)
      return ("%s %02d:%02d:%02d"):format(date_of(days),
         math.floor(seconds / 3600), math.floor(seconds / 60) % 60,
         seconds % 60)
   end, 19
end

-- The number of the row while rows are loaded.
function generators.row(args, refuse)
   if #args ~= 0 then
      refuse("it has no arguments")
   end
   return function(row)
      return row or error("row() is only possible in @rows", 0)
   end, "int"
end

-- Numbers that all users share, each of them once. A query for the number after
-- which they begin is executed before the users start.
function generators.sequence(args, refuse, name)
   local after = args[1] or 0
   local query = type(after) == "string" and after or nil
   if #args > 1 or not query and (after % 1 ~= 0 or after < 0) then
      refuse("a number after which the sequence begins, a query for it, or " ..
         "no argument")
   end
   name = "sql_file " .. name
   local sequence = sysbench.sequence(name, query and 0 or after)
   return function() return sequence:next() end, "int",
      query and {name = name, query = query}
end

function generators.list(args, refuse)
   local longest, numbers = 1, true
   if #args == 0 then
      refuse("at least one value is required")
   end
   for _, value in ipairs(args) do
      longest = math.max(longest, #tostring(value))
      numbers = numbers and type(value) == "number" and value % 1 == 0
   end
   return function() return args[rand.uniform(1, #args)] end,
      numbers and "int" or longest
end

-- Returns the arguments in a text such as `1, 'a b', "c"`; nil if it is not
-- such a text.
local function arguments(text)
   local args, at = {}, 1
   if text:match("^%s*$") then
      return args
   end
   while true do
      local _, stop, quote = text:find("^%s*([\"'])", at)
      local value
      if quote then
         local close = text:find(quote, stop + 1, true)
         if not close then
            return nil
         end
         value, at = text:sub(stop + 1, close - 1), close + 1
      else
         local word
         _, stop, word = text:find("^%s*([%w%.+-]+)", at)
         value, at = tonumber(word), stop and stop + 1
         if not value then
            return nil
         end
      end
      args[#args + 1] = value
      local comma
      _, comma = text:find("^%s*,", at)
      if not comma then
         return text:find("^%s*$", at) and args or nil
      end
      at = comma + 1
   end
end

-- Returns the text without `null 0.1` at its end, and that share; nil if there
-- is none.
local function null_share(text, refuse)
   local plain, word = text:match("^(.-%))%s*null%s+(%S+)%s*$")
   if not plain then
      return text
   end
   local share = tonumber(word)
   if not share or not (share >= 0 and share <= 1) then
      refuse("the share after null must be a number from 0 to 1, not '%s'",
         word)
   end
   return plain, share
end

-- Returns a function that returns nil, which is NULL, with a probability.
local function sometimes(draw, share)
   return function(row)
      if rand.uniform_double() < share then
         return nil
      end
      return draw(row)
   end
end

-- Returns the generator in a text such as `uniform(1, 10)`: {draw =, kind =,
-- start = the name of a sequence and the query for its start, or nil}.
-- refuse(format, ...) raises an error. name: that of the parameter.
function M.parse(text, refuse, name)
   local share
   text, share = null_share(text, refuse)
   local word, inside = text:match("^%s*([%w_]+)%s*%((.*)%)%s*$")
   local make = word and generators[word]
   local args = inside and arguments(inside)
   if not make then
      local known = {}
      for each in pairs(generators) do
         known[#known + 1] = each
      end
      table.sort(known)
      refuse("'%s' is not one of the generators %s", text,
         table.concat(known, ", "))
   elseif not args then
      refuse("'%s': the arguments must be numbers and texts in quotes", text)
   end
   local draw, kind, start = make(args, function(why)
      refuse("%s: %s", text, why)
   end, name)
   return {draw = share and sometimes(draw, share) or draw, kind = kind,
      start = start,
      sequence = word == "sequence"}
end

return M
