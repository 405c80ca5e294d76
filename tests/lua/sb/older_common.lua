-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Defines the functions that the bundled workloads call but that an
-- oltp_common.lua of sysbench 1.0 in the same folder may lack: only the last
-- 1.0 release has check_reconnect().

if not check_reconnect then
   function check_reconnect() end
end
