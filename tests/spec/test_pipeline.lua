-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- con:pipeline() with a driver that does not support pipelines: the statements
-- are executed one by one, with the same results.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local is, raises = tap.is, tap.raises
local t = sysbench.sql.type
local con

local function collected()
   local stmt = con:prepare("INSERT INTO p VALUES (?, ?)")
   local id, text = stmt:bind_create(t.INT), stmt:bind_create(t.VARCHAR, 9)
   stmt:bind_param(id, text)
   local n = con:pipeline(function(a, b)
      is(con:query("BEGIN"), nil, "a query returns nothing in a pipeline")
      id:set(a)
      text:set("one")
      is(stmt:execute(), nil, "nor does an execution")
      id:set(b)
      text:set("two")
      stmt:execute()
      con:query("COMMIT")
   end, 1, 2)
   is(n, 4, "the number of statements")
   is(con:query_row("SELECT v FROM p WHERE id = 1"), "one",
      "values are those at the time of execute()")
   is(con:query_row("SELECT v FROM p WHERE id = 2"), "two",
      "for each execution")
   is(con:pipeline(function() end), 0, "an empty pipeline")
end

local function answers()
   con:pipeline_begin()
   con:query("SELECT v FROM p ORDER BY id")
   con:query("UPDATE p SET v = 'x' WHERE id = 2")
   con:query("SELECT v FROM p WHERE id = 2")
   is(con:pipeline_send(), 3, "three statements are sent")
   local rs = con:pipeline_next()
   is(rs.nrows, 2, "the result of the first")
   is(rs:fetch_row()[1], "one", "its first row")
   is(rs:fetch_row()[1], "two", "its second row")
   is(con:pipeline_next(), nil, "no result set for the second")
   is(con:affected(), 1, "but the number of changed rows")
   is(con:pipeline_next():fetch_row()[1], "x", "the third sees the change")
   raises(function() con:pipeline_next() end, "no more pipe",
      "there is no fourth result")
   is(con:query_row("SELECT 7"), "7",
      "then the connection is usable without a pipeline")
   con:pipeline_begin()
   con:query("SELECT 1")
   con:query("SELECT 2")
   con:pipeline_send()
   is(con:pipeline_next():fetch_row()[1], "1", "one result of two is read")
   is(con:query_row("SELECT 8"), "8", "another query ends the pipeline")
end

-- Statements closed before the pipeline runs.
local function closed_early()
   local stmt = con:prepare("INSERT INTO p VALUES (?, 'c')")
   local id = stmt:bind_create(t.INT)
   stmt:bind_param(id)
   con:pipeline(function()
      id:set(20)
      stmt:execute()
      stmt:close()
   end)
   is(con:query_row("SELECT v FROM p WHERE id = 20"), "c",
      "a statement closed in a pipeline is executed")
   stmt = con:prepare("INSERT INTO p VALUES (21, 'c')")
   con:pipeline_begin()
   stmt:execute()
   stmt:close()
   con:reset()
   is(con:query_row("SELECT COUNT(*) FROM p WHERE id = 21"), "0",
      "but not if the pipeline was abandoned")
   con:query("DELETE FROM p WHERE id > 2")
end

local function failures()
   raises(function() con:pipeline_send() end, "no pipeline",
      "pipeline_send() without a pipeline")
   con:pipeline_begin()
   raises(function() con:pipeline_begin() end, "already open",
      "a pipeline is opened twice")
   con:reset()
   is(con:query_row("SELECT 9"), "9",
      "reset() discards the collected statements")
   raises(function()
      con:pipeline(function()
         con:query("INSERT INTO p VALUES (3, 'y')")
         con:query("SELECT * FROM nosuch")
         con:query("INSERT INTO p VALUES (4, 'z')")
      end)
   end, "nosuch", "a failure in the middle")
   is(con:query_row("SELECT MAX(id) FROM p"), "3",
      "statements after a failed one are not executed")
   raises(function() con:pipeline(function() error("mine") end) end, "mine",
      "an error of the function")
   is(con:query_row("SELECT 10"), "10", "closes the pipeline")
end

-- A statement that is prepared for a pipeline leaves the numbers of the last
-- result as they are.
local function numbers_stay()
   con:query("CREATE TABLE n(id INTEGER PRIMARY KEY, v INTEGER)")
   con:query("INSERT INTO n VALUES (41, 1)")
   local id = con:insert_id()
   local stmt = con:prepare("INSERT INTO n VALUES (?, 1)")
   local value = stmt:bind_create(t.INT)
   stmt:bind_param(value)
   value:set(42)
   con:pipeline_begin()
   stmt:execute()
   is(tostring(con:insert_id()), tostring(id), "preparing keeps insert_id()")
   is(con:affected(), 1, "preparing keeps affected()")
   con:pipeline_run()
   is(con:query_row("SELECT COUNT(*) FROM n"), "2", "the pipeline runs")
end

-- Each statement counts under its own operation.
local function operations()
   local out, err = tap.with([[
function event()
   local con = sysbench.sql.driver("sqlite"):connect{ db = ":memory:" }
   con:query("CREATE TABLE p(id INTEGER)")
   local stmt = con:prepare("INSERT INTO p VALUES (1)", "adds")
   con:pipeline(function()
      con:query("BEGIN")
      stmt:execute()
      con:query("SELECT * FROM p")
      stmt:execute()
      con:query("COMMIT")
   end)
   print("rows " .. con:query_row("SELECT COUNT(*) FROM p"))
end]], "--events=1 --time=0 --report-operations run")
   tap.like(out, "rows 2", "the pipeline runs" .. err)
   local counts = {}
   for name, n in out:gmatch("\n(%l+) +(%d+) +[%d.]+") do
      counts[#counts + 1] = name .. " " .. n
   end
   table.sort(counts)
   is(table.concat(counts, ", "), "adds 2, begin 1, commit 1, connect 1, " ..
      "create 1, prepare 1, select 2", "operations: " .. out)
end

function event()
   tap.run(function()
      con = sysbench.sql.driver("sqlite"):connect{ db = "pipeline.sqlite" }
      con:query("CREATE TABLE p(id INTEGER, v VARCHAR(9))")
      collected()
      answers()
      closed_early()
      failures()
      numbers_stay()
      operations()
   end)
   return true
end
