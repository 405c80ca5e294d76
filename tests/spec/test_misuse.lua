-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Wrong calls: a dot instead of a colon, arguments of a wrong type, closed
-- connections, libraries that a script removed. Each raises an error that
-- describes the mistake. None ends the process.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local is, ok, like = tap.is, tap.ok, tap.like

-- Calls every function of the API with arguments that it does not accept.
local EVERYTHING = [[
local failed = 0
local function try(what, f, ...)
   local ran, err = pcall(f, ...)
   local text = type(err) == "table" and err.sql_errmsg or err
   if not ran and (type(text) ~= "string" or text == "" or
      text:find(": $")) then
      failed = failed + 1
      print("no message", what, text)
   end
end

local function methods(con)
   local drv, stmt = con.driver, con:prepare("SELECT ?")
   local rs = con:query("SELECT 1")
   local p = stmt:bind_create(sysbench.sql.type.VARCHAR, 5)
   return {
      {con, "query query_row prepare disconnect reconnect reset reset_all " ..
         "bulk_insert_init bulk_insert_next bulk_insert_done more_results " ..
         "next_result affected insert_id server_info quote load pipeline " ..
         "pipeline_begin pipeline_run pipeline_send pipeline_next " ..
         "check_error"},
      {drv, "connect name dialect"}, {rs, "fetch_row column free"},
      {stmt, "bind_create bind_param execute next_result close"},
      {p, "set set_rand_str"}, {con:load("t", "a"),
         "int double text null random_text random_alphanumeric block close"},
      {sysbench.sequence("s"), "next last"},
      {sysbench.histogram.new(10, 1, 10), "update print"}
   }
end

local function functions()
   local sb = sysbench
   return {
      {sb.sql, "driver"}, {sb.rand, "default uniform gaussian special " ..
         "pareto zipfian string varstring alphanumeric row"},
      {sb.op, "start finish begin"}, {sb.user, "think"},
      {sb.parallel, "ticket progress"}, {sb, "sequence report_csv"},
      {sb.histogram, "new"}
   }
end

local wrong = {{}, {nil, "x"}, {nil, nil}, {"x"}, {"x", "y"}, {5}, {{}},
   {{}, {}}, {io.stdout, "x"}, {print, "x"}, {true}}

function event()
   local drv = sysbench.sql.driver()
   local function connect()
      return drv:connect{db = "misuse.sqlite"}
   end
   local set_up = connect()
   set_up:query("CREATE TABLE t(a INTEGER)")
   for _, args in ipairs(wrong) do
      for _, of in ipairs(methods(connect())) do
         for name in of[2]:gmatch("%S+") do
            try("." .. name, of[1][name], unpack(args, 1, 2))
         end
      end
      for _, of in ipairs(functions()) do
         for name in of[2]:gmatch("%S+") do
            try(name, of[1][name], unpack(args, 1, 2))
         end
      end
      -- The right object with wrong arguments.
      local con = connect()
      for i, of in ipairs(methods(con)) do
         for name in of[2]:gmatch("%S+") do
            if name ~= "disconnect" then
               try(":" .. name, of[1][name], of[1], unpack(args, 1, 2))
            end
         end
      end
   end
   print("tried", failed)
   return true
end]]

local function everything()
   local out, err, rc = tap.with(EVERYTHING,
      "run --db-driver=sqlite --verbosity=0")
   is(rc, 0, "wrong calls of all functions do not end the process", err)
   like(out, "tried\t0\n", "and each error has a message")
end

local function colons(con)
   local rs = con:query("SELECT 1")
   for name, call in pairs{
      query = function() con.query("SELECT 1") end,
      query_row = function() con.query_row("SELECT 1") end,
      prepare = function() con.prepare(nil, "SELECT 1") end,
      disconnect = function() con.disconnect() end,
      affected = function() con.affected() end
   } do
      local err = tap.raises(call, name .. "%(%) was called without a " ..
         "connection: write con:" .. name .. "%(%.%.%.%), with a colon",
         name .. "() without its connection")
      like(err, "test_misuse.lua:%d+: ", "the error has the script's line")
   end
   tap.raises(function() con.query(nil, "x") end, "con:query%(",
      "nil as object")
   tap.raises(function() rs.fetch_row() end, "rs:fetch_row%(",
      "a dot on a result")
   tap.raises(function() con.driver.connect() end, "drv:connect%(", "a driver")
   tap.raises(function() con:query(nil) end,
      "test_misuse.lua:%d+: query%(%) requires a string, not nil",
      "nil as statement")
   tap.raises(function() con:query_row({}) end,
      "query_row%(%) requires a string, not a table", "a table as statement")
   tap.raises(function() con:load("t") end,
      "load%(%) requires a string, not nil", "load() without columns")
end

-- Calls every method of a closed connection.
local function closed(drv)
   local con = drv:connect{db = "misuse2.sqlite"}
   con:query("CREATE TABLE t(a INTEGER)")
   local stmt = con:prepare("SELECT a FROM t")
   local NONE, CLOSED = {}, "the connection is closed"
   con:disconnect()
   for name, args in pairs{query = {"SELECT 1"}, query_row = {"SELECT 1"},
      prepare = {"SELECT 1"}, disconnect = NONE, reconnect = NONE,
      bulk_insert_init = {"INSERT INTO t VALUES"}, pipeline_begin = NONE,
      load = {"t", "a"}} do
      -- A new connection, so that earlier calls leave no state.
      con = drv:connect{db = "misuse2.sqlite"}
      con:disconnect()
      if name ~= "reconnect" then
         tap.raises(function() con[name](con, unpack(args)) end,
            "^[^:]*test_misuse.lua:%d+: " .. CLOSED,
            name .. "() after disconnect()")
         ok(con.error ~= 0 and #ffi.string(con.sql_errmsg) > 0,
            "the connection keeps the message")
      end
   end
   tap.raises(function() stmt:execute() end, CLOSED,
      "execute() after disconnect()")
   tap.raises(function() stmt:bind_create(sysbench.sql.type.CHAR, 2^40) end,
      "the maximum length of a parameter is", "text too long for a parameter")
end

local function in_a_pipeline(con)
   con:query("CREATE TABLE p(a INTEGER)")
   for name, args in pairs{query_row = {"SELECT 1"}, load = {"p", "a"},
      bulk_insert_init = {"INSERT INTO p VALUES"}} do
      con:pipeline_begin()
      con:query("INSERT INTO p VALUES (1)")
      local err = tap.raises(function() con[name](con, unpack(args)) end,
         name .. "%(%) cannot be used while a pipeline is open",
         name .. "() in a pipeline")
      like(err, "pipeline_send%(%) or pipeline_run%(%) first",
         "the error gives the remedy")
      is(con:pipeline_run(), 1, "the pipeline is unchanged")
   end
   con:bulk_insert_init("INSERT INTO p VALUES")
   con:bulk_insert_next("(2)")
   con:pipeline_begin()
   tap.raises(function() con:bulk_insert_done() end, "cannot be used while",
      "bulk_insert_done() in a pipeline")
   con:reset()
   is(con:query_row("SELECT COUNT(*) FROM p"), "3", "nothing else was inserted")
end

local function libraries()
   for _, gone in ipairs{"pairs = nil", "string = nil", "string.dump = nil",
      "sysbench = nil", "sysbench = 5", "sysbench.cmdline = nil",
      "sysbench.cmdline.commands = 5", "package = nil", "rawget = nil"} do
      for _, command in ipairs{"run", "help", "nosuch", ""} do
         local name = tap.script(gone .. " function event() return true end")
         local _, err, rc = tap.sysbench(name .. " " .. command)
         ok((rc == 0 or rc == 1 and #err > 1) and not err:find("Sanitizer") and
            not err:find("PANIC") and not err:find("overflow"),
            gone .. ": " .. command, rc .. ": " .. err)
      end
   end
end

-- A load on a connection whose loss the script has caught.
local LOST = [[
function event()
   local con = sysbench.sql.driver():connect()
   print("query", pcall(con.query, con, "SELECT 1"))
   local ran, err = pcall(con.load, con, "t", "a")
   print("load", ran, type(err) == "table" and err.sql_errmsg or err)
end
]]

local function lost()
   local out, err, rc = tap.sysbench(tap.script(LOST) .. " --db-driver=null " ..
      "--null-bulk=on --null-failure=lost --null-failure-rate=1 " ..
      "--events=1 --time=0 run")
   is(rc, 0, "a load on a lost connection does not end the process: " .. err)
   like(out, "query%s+false", "the loss is caught")
   like(out, "load%s+false%s+.*the connection was lost", "the load fails")
end

function event()
   tap.run(function()
      lost()
      local drv = sysbench.sql.driver("sqlite")
      everything()
      colons(drv:connect{db = "misuse1.sqlite"})
      closed(drv)
      in_a_pipeline(drv:connect{db = "misuse1.sqlite"})
      libraries()
   end)
   return true
end
