-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Checks the values of a script's options.

local M = {}

local function reject(name, allowed, value)
   error(string.format("--%s must be %s, not %s", name:gsub("_", "-"), allowed,
      tostring(value)), 0)
end

-- Raises an error if a number is out of bounds: name = {min, max}. Returns opt.
function M.check(opt, bounds)
   for name, b in pairs(bounds) do
      local value = opt[name]
      if value < b[1] or value > b[2] then
         reject(name, string.format("from %.0f to %.0f", b[1], b[2]), value)
      end
   end
   return opt
end

-- Raises an error unless the option is one of the words.
function M.one_of(opt, name, words)
   for _, word in ipairs(words) do
      if opt[name] == word then
         return
      end
   end
   reject(name, table.concat(words, ", ", 1, #words - 1) .. " or " ..
      words[#words], "'" .. opt[name] .. "'")
end

return M
