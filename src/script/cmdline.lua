-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.cmdline: the options and commands that a script declares.

local sb = ...
local cmdline = {}

-- Returns a field of sysbench.cmdline that the script has set.
local function own(name)
   return rawget(sb.me().sysbench.cmdline, name)
end

local by_default = {
   boolean = "BOOL", string = "STRING", number = "DOUBLE", table = "LIST",
   ["nil"] = "STRING"
}
local by_number = {
   [0] = "STRING", "BOOL", "INT", "SIZE", "DOUBLE", "STRING", "LIST", "STRING"
}

local function wrong(name)
   error("wrong table structure in sysbench.cmdline.options" ..
            (name and (": " .. tostring(name)) or ""), 0)
end

-- Returns the shortest text that converts back to the same number.
local function number_text(value)
   for digits = 14, 16 do
      local text = ("%%.%dg"):format(digits):format(value)
      if tonumber(text) == value then
         return text
      end
   end
   return ("%.17g"):format(value)
end

local function as_text(value)
   local kind = type(value)
   if kind == "boolean" then
      return value and "on" or "off"
   elseif kind == "table" then
      return table.concat(value, ",")
   elseif kind == "number" then
      return number_text(value)
   elseif value ~= nil then
      return tostring(value)
   end
end

local function refusal(name, allowed, text)
   return ("--%s must be %s, not %s"):format((name:gsub("_", "-")), allowed,
      text)
end

local function bound_text(value)
   local whole = value % 1 == 0 and math.abs(value) < 2 ^ 53
   return whole and ("%.0f"):format(value) or number_text(value)
end

local function bounds(t)
   if not t.max then
      return "at least " .. bound_text(t.min)
   elseif not t.min then
      return "at most " .. bound_text(t.max)
   end
   return "from " .. bound_text(t.min) .. " to " .. bound_text(t.max)
end

-- Returns a function that checks the value of an option by the fields min, max
-- and values of its declaration, then by its own function. It returns true, or
-- false and a message.
local function checker(t)
   return function(name, text, number)
      if number and (number < (t.min or number) or number > (t.max or number))
      then
         return false, refusal(name, bounds(t), text)
      elseif t.values then
         local found = false
         for _, value in ipairs(t.values) do
            found = found or text == value
         end
         if not found then
            return false, refusal(name, table.concat(t.values, ", ", 1,
               #t.values - 1) .. " or " .. t.values[#t.values], "'" .. text ..
               "'")
         end
      end
      return not t[4] or t[4](name, text)
   end
end

local function is_valid(value, kind)
   return value == nil or type(value) == kind
end

local function declaration(name, t, types)
   if type(name) ~= "string" or type(t) ~= "table" then
      wrong(name)
   end
   local help, default, kind, validate = t[1], t[2], t[3], t[4]
   if not (is_valid(help, "string") and is_valid(validate, "function") and
      is_valid(t.min, "number") and is_valid(t.max, "number") and
      is_valid(t.values, "table"))
   then
      wrong(name)
   end
   if t.min or t.max or t.values then
      validate = checker(t)
   end
   kind = kind and by_number[kind] or by_default[type(default)]
   if not kind then
      wrong(name)
   end
   return {
      name = name, help = help or "", type = types[kind],
      default = as_text(default), validate = validate
   }
end

-- Returns the declared options sorted by name; nil if there is no table.
-- types: names of types -> numbers of the registry.
function cmdline.declared(types)
   local options = own("options")
   if options == nil then
      return nil
   elseif type(options) ~= "table" then
      wrong()
   end
   local list = {}
   for name, t in pairs(options) do
      list[#list + 1] = declaration(name, t, types)
   end
   table.sort(list, function(a, b) return a.name < b.name end)
   return list
end

-- True if the script declares options. The registry reads them before any hook
-- runs; this function is kept for scripts that call it.
function cmdline.read_cmdline_options()
   return cmdline.declared({}) ~= nil
end

local function command(name)
   local commands = own("commands")
   return type(commands) == "table" and commands[name] or nil
end

function cmdline.command_defined(name)
   local c = command(name)
   return type(c) == "table" and c[1] ~= nil
end

function cmdline.command_parallel(name)
   local c = command(name)
   return type(c) == "table" and c[2] == cmdline.PARALLEL_COMMAND
end

function cmdline.call_command(name)
   local c = command(name)
   if not c then
      return false
   end
   return c[1]() ~= false
end

-- Returns the names of the commands that this script supports, sorted.
function cmdline.commands_here()
   local names, list, globals = {}, {}, sb.me().globals
   for name in pairs(own("commands") or {}) do
      names[name] = cmdline.command_defined(name) or nil
   end
   for _, name in ipairs{"prepare", "cleanup", "help"} do
      names[name] = names[name] or
         type(rawget(globals, name)) == "function" or nil
   end
   names.run = names.run or type(rawget(globals, "event")) == "function"
      or type(rawget(globals, "thread_run")) == "function" or nil
   names.help = names.help or own("options") ~= nil or nil
   for name in pairs(names) do
      list[#list + 1] = tostring(name)
   end
   table.sort(list)
   return list
end

function cmdline.print_test_options()
   sb.help()
end

cmdline.PARALLEL_COMMAND = true

return cmdline
