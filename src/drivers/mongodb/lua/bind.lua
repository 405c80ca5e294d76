-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Binds values of compiled commands: more than four, or tables.

local api = ...
local ELEMENT = 5 -- of enum sbmo_doc_type

-- Returns the type byte and the bytes of a value.
local function element(con, value)
   local bson = api.module("bson")
   bson.begin(con)
   bson.put("", value)
   local bytes = bson.bytes()
   return bytes:sub(5, 5) .. bytes:sub(7)
end

jit.off(element) -- see mongodb.lua

-- self.hold keeps the strings that the slots point to, because writing a value
-- may collect garbage. set: stores values that need only the slot.
return function(set, self, ...)
   local slots, hold = self.slots, {}
   self.hold = hold
   for i = 1, self.n do
      local value = select(i, ...)
      hold[i] = value
      if not set(slots[i - 1], value) then
         local bytes = element(self.con, value)
         hold[i] = bytes
         slots[i - 1].type, slots[i - 1].len = ELEMENT, #bytes
         slots[i - 1].s = bytes
      end
   end
end
