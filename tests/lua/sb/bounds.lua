-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Bounds of the numbers among a script's options.

local M = {}

local function complain(name, what, value)
   error(string.format("--%s must be %s, not %s", name:gsub("_", "-"), what,
      tostring(value)), 0)
end

-- bounds: name = {least, most}. Returns opt.
function M.check(opt, bounds)
   for name, b in pairs(bounds) do
      local value = opt[name]
      if value < b[1] or value > b[2] then
         complain(name, string.format("from %.0f to %.0f", b[1], b[2]), value)
      end
   end
   return opt
end

-- The option is one of the words.
function M.one_of(opt, name, words)
   for _, word in ipairs(words) do
      if opt[name] == word then
         return
      end
   end
   complain(name, table.concat(words, ", ", 1, #words - 1) .. " or " ..
      words[#words], "'" .. opt[name] .. "'")
end

return M
