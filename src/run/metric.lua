-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.metric(): counters, gauges and distributions of the script.

local sb = ...
local ffi, C, turn = sb.ffi, sb.C, sb.turn

local put, put_gauge

if sb.user then
   sb.cdef("metric")
end

local kinds = { counter = 0, gauge = 1, distribution = 2 }
local methods = { counter = "add", gauge = "set", distribution = "record" }

-- Raises an error for what is not a finite number from 0 to `largest`.
local function refuse(self, value)
   local what = type(value) == "number" and ("%.14g"):format(value) or
                type(value)
   if type(value) == "number" and value > self.largest and
      value < math.huge then
      error(("metric '%s': the value is %s, above the largest one, %.14g"):
            format(self.name, what, self.largest), 3)
   end
   error(("metric '%s': the value must be a number from 0, not %s"):format(
         self.name, what), 3)
end

if sb.user then
   function put(self, value)
      C.sb_user_metric_put(turn.user, self.number, value)
   end

   function put_gauge(self, value)
      C.sb_user_metric_set(turn.user, self.number, value, self.expires)
   end
else
   -- Without a user of a run, there is nothing to measure.
   function put() end

   put_gauge = put
end

local function is_valid(self, value)
   return type(value) == "number" and value >= 0 and value <= self.largest
end

local function add(self, value)
   value = value == nil and 1 or value
   if not is_valid(self, value) then
      refuse(self, value)
   end
   put(self, value)
end

local function set(self, value)
   if not is_valid(self, value) then
      refuse(self, value)
   end
   put_gauge(self, value)
end

local function set_unknown(self)
   put_gauge(self, 0 / 0)
end

local function record(self, value)
   if not is_valid(self, value) then
      refuse(self, value)
   end
   put(self, value)
end

local functions = {
   counter = add, gauge = set, distribution = record
}

local meta = {
   __index = function(self, name)
      local kind = rawget(self, "kind")
      error(("metric '%s' is a %s, which has the function %s() and not %s()")
            :format(rawget(self, "name"), kind, methods[kind],
                    tostring(name)), 2)
   end,
   __tostring = function(self)
      return ("<%s %s>"):format(self.kind, self.name)
   end
}

local why = ffi.new("char[?]", 200)

local function text(name, field, value)
   if value ~= nil and type(value) ~= "string" then
      error(("metric '%s': %s must be a string"):format(name, field), 4)
   end
   return value or ""
end

local function largest_of(name, kind, value)
   if value == nil then
      return kind == "distribution" and 2 ^ 28 or 2 ^ 1023
   end
   if kind ~= "distribution" or type(value) ~= "number" or
      not (value > 0 and value < 2 ^ 1000) then
      error(("metric '%s': largest must be a number above 0, "..
             "and the metric a distribution"):format(name), 4)
   end
   return value
end

-- Returns the seconds after which a gauge expires, at most a year; 0: never.
local function expiry_of(name, kind, value)
   if value == nil then
      return 0
   end
   if kind ~= "gauge" or type(value) ~= "number" or
      not (value > 0 and value <= 31536000) then
      error(("metric '%s': expires must be a number of seconds, above 0 and "..
             "at most 31536000, and the metric a gauge"):format(name), 4)
   end
   return value
end

local fields = {
   kind = true, unit = true, help = true, largest = true, expires = true
}

local function new(name, options)
   for field in pairs(options) do
      if not fields[field] then
         error(("metric '%s': there is no field '%s'; the fields are kind, " ..
                "unit, help, largest and expires"):format(name,
                tostring(field)), 3)
      end
   end
   local kind = options.kind or "counter"
   if not kinds[kind] then
      error(("metric '%s': the kind is counter, gauge or distribution"):
            format(name), 3)
   end
   local unit = text(name, "unit", options.unit)
   local help = text(name, "help", options.help)
   local self = { name = name, kind = kind, number = -1,
                  largest = largest_of(name, kind, options.largest),
                  expires = expiry_of(name, kind, options.expires),
                  unknown = kind == "gauge" and set_unknown or nil }
   if sb.user then
      self.number = C.sb_user_metric(turn.user, name, kinds[kind], unit, help,
         options.largest or 0, why, 200)
      if self.number < 0 then
         error(ffi.string(why), 3)
      end
   end
   self[methods[kind]] = functions[kind]
   return setmetatable(self, meta)
end

-- Scripts may use any number of names. Only this many are cached here.
local known, room = {}, 200

-- kind: "counter" (default), "gauge" or "distribution", or a table with kind,
-- unit, help, largest and expires.
return function(name, kind)
   local self = known[name]
   local same = self and (kind == nil or kind == self.kind)
   if same then
      return self
   end
   if type(name) ~= "string" or name == "" then
      error("the name of a metric must be a string, not empty", 2)
   end
   sb.check_name(name, "a metric", 2)
   if kind ~= nil and type(kind) ~= "string" and type(kind) ~= "table" then
      error(("metric '%s': the kind is counter, gauge or distribution"):
            format(name), 2)
   end
   self = new(name, type(kind) == "table" and kind or
              { kind = kind or self and self.kind })
   if room > 0 and not known[name] then
      known[name], room = self, room - 1
   end
   return self
end
