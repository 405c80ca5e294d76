-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.op: parts of an event with their own latency in the report.

local sb = ...
local ffi, C, turn = sb.ffi, sb.C, sb.turn
local op = {}

-- sysbench.op(name) returns an object with the same functions for one name.
local Op = {}
Op.__index = Op

function Op:start(ago)
   return op.start(self.name, ago)
end

function Op.finish(_, token)
   return op.finish(token) -- the error has the position of the script
end

setmetatable(op, { __call = function(_, name)
   sb.check_name(name, "an operation", 2)
   return setmetatable({ name = name }, Op)
end })

if not sb.user then
   -- Without a user of a run, there is nothing to measure.
   function op.start() return nil end
   function op.finish() end
   op.begin = op.start
   return op
end

sb.cdef("user")

local numbers, room = {}, 1100 -- names that are kept: at least SB_OPS_MAX

local function number(name)
   sb.check_name(name, "an operation", 3)
   local n = C.sb_user_op(turn.user, name)
   if room > 0 then
      numbers[name], room = n, room - 1
   end
   return n
end

-- Returns a token for op.finish(); operations may overlap. ago: how many
-- seconds ago the operation started.
function op.start(name, ago)
   local token = { op = numbers[name] or number(name),
      start = C.sb_user_op_now(turn.user) }
   if ago and ago > 0 then
      token.start = token.start - ffi.cast("uint64_t", ago * 1e9)
   end
   return token
end

function op.finish(token)
   if type(token) ~= "table" then
      error("finish() requires the token that start() returned, not " ..
               (token == nil and "nil" or "a " .. type(token)), 2)
   end
   C.sb_user_op_record(turn.user, token.op, token.start)
end

op.begin = op.start

return op
