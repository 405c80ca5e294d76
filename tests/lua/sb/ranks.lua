-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Runs that several processes carry out together.

local M = {}

-- Raises an error in such a run. For workloads whose users share a state that
-- several processes cannot share. name: of the workload.
function M.refuse(name)
   if sysbench.ranks > 1 then
      error(name .. ": this workload cannot be divided among ranks yet", 0)
   end
end

-- The same, if a condition of the options applies. what: ends the sentence
-- "cannot be divided among ranks ...".
function M.refuse_if(condition, name, what)
   if condition and sysbench.ranks > 1 then
      error(("%s: this workload cannot be divided among ranks %s")
         :format(name, what), 0)
   end
end

return M
