-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The null driver, which executes nothing.

return {
   numbers_rows = true,
   numbers_rows_secondary = true,
   call = "CALL %s(?, ?)",
}
