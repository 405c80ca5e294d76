-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The placeholders in options that hold JSON.

local M = {}

-- most: how many values there are. One that never came would be null.
function M.check(compiled, most, where)
   if compiled.n > most then
      error(string.format('%s: there are no values beyond {"$arg": %d}, ' ..
         'and {"$arg": %d} is asked for', where, most, compiled.n), 0)
   end
end

return M
