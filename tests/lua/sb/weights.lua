-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Draws one of several things by weight.

local rand = sysbench.rand

local M = {}

-- Returns a function that returns a random index of the list, with a
-- probability proportional to the weight there. At least one weight must be
-- above 0.
function M.chooser(weights)
   local bounds, total, last = {}, 0, 0
   for i, weight in ipairs(weights) do
      total = total + weight
      bounds[i] = total
      last = weight > 0 and i or last
   end
   return function()
      local u = rand.uniform_double() * total
      for i = 1, last - 1 do
         if u < bounds[i] then
            return i
         end
      end
      return last
   end
end

-- Returns a function that takes the cards of a deck in random order, and then
-- shuffles it again: each card is as frequent as it is in the deck. The deck is
-- changed.
function M.deck(cards)
   local left = #cards
   return function()
      local i = rand.uniform(1, left)
      local card = cards[i]
      cards[i], cards[left] = cards[left], card
      left = left > 1 and left - 1 or #cards
      return card
   end
end

-- Returns the weights in a text such as "a:8,b:0.5" or "a,b:2", by name; the
-- weight 1 may be omitted. option: its name, for messages. names: those that
-- are allowed.
function M.parse(option, text, names)
   local weights, total = {}, 0
   local function refuse(format, ...)
      error(string.format("--%s: " .. format, option, ...), 0)
   end
   for item in (text .. ","):gmatch("%s*([^,]*),") do
      local name, weight = item:match("^([%w_-]+)%s*:?%s*(.-)%s*$")
      if not name then
         refuse("'%s' is not a name with a weight (as in %s:8)", item,
            names[1])
      end
      local number = weight == "" and 1 or tonumber(weight)
      if not number or not (number >= 0 and number <= 1e9) then
         refuse("the weight of %s must be a number from 0 to 1000000000, " ..
            "not '%s'", name, weight)
      elseif weights[name] then
         refuse("%s is named twice", name)
      end
      weights[name], total = number, total + number
   end
   for name in pairs(weights) do
      local known = false
      for _, allowed in ipairs(names) do
         known = known or name == allowed
      end
      if not known then
         refuse("there is no '%s'; the names are %s", name,
            table.concat(names, ", "))
      end
   end
   if total == 0 then
      refuse("all weights are 0")
   end
   return weights
end

return M
