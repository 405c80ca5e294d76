-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.driver: the Lua modules of drivers, loaded when they are first used.
-- Their arguments are the ffi library of the driver, for the functions that it
-- exports in addition to sb_driver, and the driver object.

local sb, me = ...

return setmetatable({}, {
   __index = function(self, name)
      local chunk, file = sb.driver_chunk(name)
      if not chunk then
         error(file, 2)
      end
      -- The file is loaded already: this is another handle of the same module.
      local module = chunk(sb.ffi.load(file), me.sysbench.sql.driver(name))
      rawset(self, name, module)
      return module
   end
})
