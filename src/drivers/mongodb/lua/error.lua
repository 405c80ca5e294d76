-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Errors of the document API: raised at the line of the script that called it,
-- at any depth of the API.

local api = ...
local errors = { raise = api.fail, raise_con = api.raise }

-- Returns the options of a call as a table; raises an error for other types.
function errors.options(options)
   if options ~= nil and type(options) ~= "table" then
      api.fail("options are a table, such as {upsert = true}, not a " ..
         type(options))
   end
   return options or {}
end

return errors
