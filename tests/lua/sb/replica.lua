-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- replica: its options, how to connect to the servers, and what its users
-- publish.

local M = {}

-- Options that limit the time to wait for a replica, and their defaults, by
-- driver. A limit that the user has not set is this number of seconds.
local ANSWER_TAKES = 10
local waits = {
   mysql = {connect_timeout = 60, read_timeout = 0},
   pgsql = {connect_timeout = 0},
}

local function declare()
   local cmdline = sysbench.cmdline
   local options = {
      table_name = {"Table of the heartbeats, one row",
         "heartbeat", cmdline.ARG_STRING},
      replica_host = {"Hosts of the replicas, separated by commas; other " ..
         "options for the connection are those of the primary", "",
         cmdline.ARG_STRING},
      replica_port = {"Their ports; the last one is used for all others", "",
         cmdline.ARG_STRING},
      replica_options = {"More options of the driver for connections to " ..
         "replicas, separated by blanks: user=u password=p", "",
         cmdline.ARG_STRING},
      heartbeat_interval = {"Seconds between two heartbeats", 0.05,
         cmdline.ARG_DOUBLE},
      look_interval = {"Seconds between two looks at the replica", 0.005,
         cmdline.ARG_DOUBLE},
      caught_up = {"A replica has caught up when its lag is at most this " ..
         "number of seconds", 0.5, cmdline.ARG_DOUBLE},
      catch_up_wait = {"Seconds to wait after the run until the replicas " ..
         "have caught up; 0: do not wait", 600, cmdline.ARG_DOUBLE},
      max_lag = {"The run fails if the greatest lag was more than this " ..
         "number of seconds; 0: no limit", 0, cmdline.ARG_DOUBLE},
   }
   return require("sb.settings").declare(options, {})
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

function M.normalize(opt)
   require("sb.settings").check(opt, {})
   require("sb.bounds").check(opt, {heartbeat_interval = {0, 3600},
      look_interval = {0, 3600}, caught_up = {0, 86400},
      catch_up_wait = {0, 86400}, max_lag = {0, 86400}})
   return opt
end

-- Connections -----------------------------------------------------------------

local function items(text)
   local list = {}
   for item in text:gmatch("[^,%s]+") do
      list[#list + 1] = item
   end
   return list
end

-- Returns the number of replicas.
function M.count(opt)
   local hosts, ports = #items(opt.replica_host), #items(opt.replica_port)
   local any = opt.replica_options ~= "" and 1 or 0
   return math.max(hosts, ports, any)
end

-- Returns the options for the connection to the first database, which has the
-- heartbeats; nil if there is only one.
function M.first_database()
   local names = sysbench.sql.driver():databases()
   return #names > 1 and {db = names[1]} or nil
end

-- "localhost" would be the default Unix socket of the client library, whatever
-- the port is.
local function by_tcp(target, opt)
   local host, from_files = opt.mysql_host,
      opt.mysql_defaults_file ~= "" or opt.mysql_defaults_group ~= ""
   host = target.host or not from_files and
      (type(host) == "table" and table.concat(host, ",") or host)
   target.socket = "" -- a socket has priority over host and port
   if host == "localhost" then
      target.host = "127.0.0.1"
   end
end

-- A server that is gone or hangs must not block its reader forever. seconds:
-- instead of the user's options.
local function limit_waits(target, opt, name, seconds)
   local defaults = waits[name] or {}
   for option, default in pairs(defaults) do
      if seconds or tonumber(opt[name .. "_" .. option]) == default then
         target[option] = seconds or ANSWER_TAKES
      end
   end
end

-- Returns the options for connections to replica n, which differ from those of
-- the primary. seconds: after which it does not answer.
function M.target(opt, n, seconds)
   local target = M.first_database() or {}
   local hosts, ports = items(opt.replica_host), items(opt.replica_port)
   local name = sysbench.sql.driver():name()
   target.host = hosts[math.min(n, #hosts)]
   target.port = ports[math.min(n, #ports)]
   if #hosts + #ports > 0 and name == "mysql" then
      by_tcp(target, opt)
   end
   limit_waits(target, opt, name, seconds)
   for item in opt.replica_options:gmatch("%S+") do
      local option, value = item:match("^([%w_-]+)=(.*)$")
      if not option then
         error("--replica-options: '" .. item .. "' is not NAME=VALUE", 0)
      end
      target[option:gsub("-", "_")] = value
   end
   return target
end

-- Returns a text that names replica n.
function M.target_text(opt, n)
   local hosts, ports = items(opt.replica_host), items(opt.replica_port)
   local host, port = hosts[math.min(n, #hosts)], ports[math.min(n, #ports)]
   local text = (host or "") .. (port and ":" .. port or "")
   return text ~= "" and text or opt.replica_options
end

-- Sequences -------------------------------------------------------------------

-- Users publish their times, in microseconds, and other numbers as the greatest
-- numbers of sequences. Times with `at` or `from` in their names are those of
-- the report.
local NAMES = {
   -- By the reader: the last heartbeat on the replica, when it was seen, the
   -- start of the last look before that, and of the last look.
   "seen", "seen_at", "missed", "looked",
   -- By the writer. late: 1 if the replica was behind before the run.
   "late", "greatest", "greatest_at", "periods", "behind_from",
   "catch_up_from", "caught_up_at",
   "answers", "server_greatest", -- by the asker
}

-- Returns the sequences of replica n.
function M.sequences(n)
   local list = {}
   for _, name in ipairs(NAMES) do
      list[name] = sysbench.sequence(string.format("replica %d %s", n, name))
   end
   return list
end

-- The sequence of the measured heartbeats.
function M.beats()
   return sysbench.sequence("replica beats")
end

-- The time of M.clock() at the end of the writer's last event.
function M.last_event()
   return sysbench.sequence("replica last event")
end

-- Returns the end of the names of the metrics of replica n.
function M.suffix(n)
   return n == 1 and "" or "_" .. n
end

-- Time -----------------------------------------------------------------------

ffi.cdef("int clock_gettime(int, void *);")
local MONOTONIC = 1
local stamp = ffi.new("struct { long sec, nsec; }")

-- Returns seconds of a clock that all states share, and that is never set.
function M.clock()
   ffi.C.clock_gettime(MONOTONIC, stamp)
   return tonumber(stamp.sec) + tonumber(stamp.nsec) / 1e9
end

return M
