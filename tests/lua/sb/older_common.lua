-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What the bundled workloads call and an oltp_common.lua of sysbench 1.0 beside
-- them does not have: only the last 1.0 release can reconnect.

if not check_reconnect then
   function check_reconnect() end
end
