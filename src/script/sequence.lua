-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.sequence(): sequences that all states of a script share.

local sb = ...
local ffi, C = sb.ffi, sb.C

sb.cdef("sequence")

local all = ffi.cast("struct sb_sequences *", sb.sequences)
local sequence = {}

-- nil would be a null pointer in C.
local function own(self, name)
   if type(self) ~= "cdata" then
      error(("%s() was called without a sequence: write seq:%s(...), " ..
         "with a colon"):format(name, name), 3)
   end
end

-- Takes n numbers and returns the first. With max, takes none and returns nil
-- if one of them would be greater.
function sequence:next(n, max)
   own(self, "next")
   n = n or 1
   if n < 1 or n ~= n then
      error("sequence:next(): the minimum is 1 number", 2)
   end
   if n > 1024 and n > C.sb_sequence_most(self) then
      error(("sequence:next(): with several ranks the maximum is %d numbers " ..
         "at a time, not %.15g"):format(C.sb_sequence_most(self), n), 2)
   end
   if max then
      local first = C.sb_sequence_next_below(self, n, max)
      return first > 0 and first or nil
   end
   return C.sb_sequence_next(self, n)
end

-- Skips all numbers up to n.
function sequence:raise(n)
   own(self, "raise")
   if type(n) ~= "number" or n ~= n then
      error("sequence:raise() requires a number", 2)
   end
   C.sb_sequence_raise(self, n)
end

function sequence:last()
   own(self, "last")
   return C.sb_sequence_last(self)
end

-- Declares that the work for number n is finished.
function sequence:finish(n)
   own(self, "finish")
   if C.sb_sequence_finish(self, n) ~= 0 then
      error("out of memory", 2)
   end
end

-- Returns the greatest number up to which all numbers are finished.
function sequence:finished()
   own(self, "finished")
   return C.sb_sequence_finished(self)
end

sb.metatype("struct sb_sequence", {
   __index = sequence,
   __tostring = function() return "<sequence>" end
})

-- name: any text. after: the sequence returns only greater numbers from now on.
local function get(name, after, here)
   sb.check_name(name, "a sequence", 3)
   local q = C.sb_sequence_get(all, name, after or 0, here)
   if q == nil then
      error("out of memory", 3)
   end
   return q
end

-- Divided among the ranks of a run.
local function sequence_of_run(name, after)
   return get(name, after, false)
end

-- Not divided: for what this process counts.
local function sequence_of_process(name, after)
   return get(name, after, true)
end

return {sequence = sequence_of_run, local_sequence = sequence_of_process}
