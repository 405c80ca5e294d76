-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.driver: the Lua modules that drivers bring, loaded when they are
-- touched first. Such a module is run with the C library that its driver is
-- (what the driver exports besides sb_driver) and with the driver object.

local sb = ...
local sysbench = sb.sysbench

return setmetatable({}, {
   __index = function(self, name)
      local chunk, file = sb.driver_chunk(name)
      if not chunk then
         error(file, 2)
      end
      -- The file is open: this is another handle of the same module.
      local module = chunk(sb.ffi.load(file), sysbench.sql.driver(name))
      rawset(self, name, module)
      return module
   end
})
