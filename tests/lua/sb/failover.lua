-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- failover: its options, its tables, and what its users tell the main state.

local M = {}

-- name = {help, default, min, max}
local numbers = {
   users = {"Users for which prepare creates a marker; a run may have fewer " ..
      "threads", 1000, 1, 1e6},
   verify_wait = {"Seconds to wait for a server that accepts writes, to " ..
      "verify those of the run", 60, 0, 86400},
}

local function declare()
   local cmdline = sysbench.cmdline
   local options = {
      table_name = {"Table of the writes; the markers of the users are in " ..
         "the table of this name with '_users' appended", "failover",
         cmdline.ARG_STRING},
      unknown = {"What a user does with a write whose COMMIT got no answer: " ..
         "skip (continue with the next one), look (repeat it unless it is " ..
         "stored), repeat", "skip", cmdline.ARG_STRING},
      verify = {"Verify after the run that all acknowledged writes are " ..
         "stored once", true, cmdline.ARG_BOOL},
      record = {"File: run writes to it which writes were acknowledged; " ..
         "check verifies them", "", cmdline.ARG_STRING},
      db_reconnect = {"reconnect after a lost connection, and restart the " ..
         "event", true, cmdline.ARG_BOOL},
   }
   return require("sb.settings").declare(options, numbers)
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

function M.normalize(opt)
   require("sb.settings").check(opt, numbers)
   require("sb.bounds").one_of(opt, "unknown", {"skip", "look", "repeat"})
   return opt
end

-- Returns the name of the table of markers.
function M.users(opt)
   return opt.table_name .. "_users"
end

function M.check_user(opt, tid)
   if tid >= opt.users then
      error(string.format("failover: user %d has no marker: prepare with " ..
         "--users=%d or more, and run with the same", tid, tid + 1), 0)
   end
end

-- Sequences -------------------------------------------------------------------

-- Users publish what the report and the verification need as the greatest
-- numbers of sequences, which are there also if a user fails. Times are in
-- microseconds since the start of the measured part.

M.NEVER = 2 ^ 50 -- later than the end of any run

local created = {} -- by prefix

-- Looking up a sequence takes a lock, so this is done once per state.
local function create(prefix, names)
   local list = created[prefix]
   if list then
      return list
   end
   list = {}
   created[prefix] = list
   for _, name in ipairs(names) do
      list[name] = sysbench.sequence(prefix .. name)
   end
   return list
end

-- Returns the sequences of all users: the number of users; how many
-- transactions failed, and NEVER minus the time of the first one; when the last
-- success was; how many COMMITs were unknown or refused; how many users have
-- ended their last transaction, and when the last of them did.
function M.shared(opt)
   return create("failover " .. opt.table_name .. " ", {"users", "errors",
      "first_error", "success", "unknown", "refused", "ended", "last_end"})
end

-- Returns the sequences of one user:
--   start             the last write before the run, plus 1; 0: not known
--   last              the last write of the run
--   failed            the first error of its last outage
--   recovered         its first success after an outage
--   worst             the longest time from a first error to the next success,
--   worst_start       and when it began
--   gap, gap_start    the same from one success of any user to the next
--   unknown, refused  lists of writes: write number i is the last number of the
--                     sequence with the name `name` .. i, i = 1 ... `count`
function M.sequences(opt, tid)
   local prefix = string.format("failover %s %d ", opt.table_name, tid)
   local all = create(prefix, {"start", "last", "failed", "recovered", "worst",
      "worst_start", "gap", "gap_start"})
   for _, list in ipairs{"unknown", "refused"} do
      all[list] = {name = prefix .. list .. " ",
         count = sysbench.sequence(prefix .. list)}
   end
   return all
end

return M
