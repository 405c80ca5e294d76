-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Fields of sysbench.cmdline: created when they are first used, see
-- sysbench.lua.

local sb = ...

local constants = {
   script_path = sb.given,
   ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4,
   ARG_STRING = 5, ARG_LIST = 6, ARG_FILE = 7, ARG_MAX = 8
}

return function(name)
   if constants[name] ~= nil then
      return constants[name]
   elseif name == "argv" then
      return sb.argv()
   elseif name == "command_line" then
      return sb.command_line
   end
   return sb.module("cmdline")[name]
end
