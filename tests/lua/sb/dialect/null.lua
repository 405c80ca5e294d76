-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The null driver, which executes nothing.

local generic = require("sb.dialect.generic")

return setmetatable({
   name = "null",
   numbers_rows = true,
   numbers_rows_secondary = true,
   partitions = "clause",
   call = "CALL %s(?, ?)",
}, {__index = generic})
