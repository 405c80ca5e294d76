-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Scripts of sysbench 0.5 (globals, db_* functions), and C functions that
-- scripts of 1.x call through ffi.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local function globals()
   local out, err = tap.with([[
body_value = 5
given = "body"
function help() end
function init()
   print("names", thread_id, test:match("^script"), num_threads,
         max_requests, max_time)
   print("typed", threads, type(mysql_host), rand_type, debug ~= nil,
         type(debug.getinfo))
   print("own", oltp_tables_count, type(oltp_tables_count), flag, body_value,
         given, type(help), nothing)
   print("more", mysql_table_engine, myisam_max_rows, db_driver,
         sysbench.opt.oltp_tables_count)
end
function event() return true end]],
      "run --threads=2 --max-requests=9 --oltp-tables-count=8 --flag " ..
      "--given=user --help-me=1")
   tap.like(out, "names\t0\tscript\t2\t9\t0\n", "names of 0.5")
   tap.like(out, "typed\t2\ttable\tspecial\ttrue\tfunction\n", "typed options")
   tap.like(out, "own\t8\tstring\ton\t5\tuser\tfunction\tnil\n",
            "unknown options are strings; settings override the body's values")
   tap.like(out, "more\tinnodb\t1000000\tsqlite\t8\n", "defaults")
   tap.unlike(err, "FATAL", "no error")
   out, err = tap.with("function event() return true end",
                       "run --reprot-interval=1")
   tap.like(out, "Number of threads: 1",
      "an option with a typing error is not an error")
   tap.like(err, "WARNING: .*reprot%-interval.*%-%-report%-interval",
            "but causes a warning")
end

local function functions()
   local out, err, rc = tap.with([[
local dir = string.match(test, "(.*/)") or ""
dofile(dir .. "legacy_common.lua")
function prepare()
   db_connect()
   print("driver", db_driver)
   db_query("CREATE TABLE old(id INTEGER, c TEXT)")
   db_bulk_insert_init("INSERT INTO old VALUES")
   for i = 1, 10 do db_bulk_insert_next("(" .. i .. ", 'c" .. i .. "')") end
   db_bulk_insert_done()
   db_disconnect()
end
function thread_init()
   stmt = db_prepare("SELECT c FROM old WHERE id >= ? AND c <> ?")
   params = {1, "no"}
   db_bind_param(stmt, params)
end
function event()
   print("nothing", db_query("SELECT 1"))
   params[1], params[2] = 9, "c10"
   local rs = db_execute(stmt)
   db_store_results(rs)
   print("rows", rs.nrows, rs:fetch_row()[1])
   db_free_results(rs)
   params[2] = string.rep("x", 1000)
   print("rows", db_execute(stmt).nrows)
   local longer = db_prepare("SELECT length(?), ?")
   local of = {"ab", 1}
   db_bind_param(longer, of)
   of[1] = string.rep("x", 1000)
   print("fits", unpack(db_execute(longer):fetch_row()))
   of[2] = 2.5
   print("fits", unpack(db_execute(longer):fetch_row()))
   db_close(longer)
   db_close(stmt)
   local wide = {}
   for _, draw in ipairs{ sb_rand, sb_rand_uniform, sb_rand_gaussian,
      sb_rand_special, sb_rand_pareto, sb_rand_zipfian } do
      local n = draw(2^31, "9007199254740991")
      wide[#wide + 1] = tostring(n >= 0 and n < 2^32 and n % 1 == 0)
   end
   print("wide", table.concat(wide, " "), sb_rand(1, 2^53),
         sb_rand(2^32 + 7, 2^32 + 7), sb_rand_uniq(1, 2^53) < 2^32)
   print("rand", sb_rand(3, "3"), sb_rand_uniform("4", "4"),
         sb_rand_str("a#"):len(), sb_rand_uniq(1, 1), sb_rnd() >= 0,
         sb_rand_gaussian(1, 1), sb_rand_special(2, 2))
   local seen, different = {}, 0
   for _ = 1, 1000 do
      local n = sb_rand_uniq(1, "1000")
      different = different + (seen[n] and 0 or 1)
      seen[n] = true
   end
   print("different", different)
   print("const", DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED)
   print("db", type(sysbench.db.query), common_loaded)
   return true
end
function cleanup() db_query("DROP TABLE old") end]] .. "\n",
      "prepare " .. (tap.script("common_loaded = true", "legacy_common.lua")
         and ""))
   tap.is(out, "driver\tsqlite\n", "prepare()")
   tap.is(rc, 0, "succeeds", err)
   local name = "script" .. tap.last .. ".lua"
   out, err = tap.sysbench(name .. " run --time=0")
   tap.like(out, "nothing\n", "db_query() returns nothing")
   tap.like(out, "rows\t1\tc9\n", "db_execute() reads the bound table")
   tap.like(out, "rows\t2\n", "a value longer than when it was bound")
   tap.like(out, "fits\t1000\t1\nfits\t1000\t2.5\n",
            "values of other lengths and types")
   tap.like(out, "wide\ttrue true true true true true\t1\t7\ttrue\n",
      "sb_rand*() wrap at 32 bits")
   tap.like(out, "rand\t3\t4\t2\t1\ttrue\t1\t2\n", "sb_rand*()")
   tap.like(out, "different\t1000\n", "sb_rand_uniq() repeats no number")
   tap.like(out, "const\t0\t1\t2\n", "constants")
   tap.like(out, "db\tfunction\ttrue\n", "sysbench.db and dofile()")
   tap.unlike(err, "FATAL", "no error")
   local _, text = tap.sysbench(name .. " cleanup")
   tap.unlike(text, "FATAL", "cleanup()")
end

local function by_ffi()
   local out, err, rc = tap.with([[
ffi = require("ffi")
ffi.cdef[=[
void sb_counter_inc(int, sb_counter_type);
typedef uint32_t useconds_t;
int usleep(useconds_t useconds);
uint64_t sb_counter_val(int, sb_counter_type);
]=]
local buf = ffi.new("char[4]")
function event()
   ffi.C.usleep(1)
   ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
   ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_READ)
   ffi.C.sb_counter_add(sysbench.tid, ffi.C.SB_CNT_OTHER, 2)
   ffi.C.sb_rand_str("ab#@", buf)
end
function thread_done()
   print("types", ffi.C.SB_CNT_OTHER, ffi.C.SB_CNT_READ, ffi.C.SB_CNT_WRITE,
         ffi.C.SB_CNT_EVENT, ffi.C.SB_CNT_TRX, ffi.C.SB_CNT_ERROR,
         ffi.C.SB_CNT_RECONNECT, ffi.C.SB_CNT_BYTES_READ,
         ffi.C.SB_CNT_BYTES_WRITTEN)
   local function val(t) return tonumber(ffi.C.sb_counter_val(0, t)) end
   print("counts", val("SB_CNT_READ"), val("SB_CNT_OTHER"),
         val("SB_CNT_ERROR"))
   print("rand", ffi.C.sb_rand_uniform(3, 3), ffi.C.sb_rand_default(4, 4),
         ffi.string(buf, 2), ffi.C.sb_rand_unique() ~= nil,
         ffi.C.sb_rand_uniform_double() < 1)
end]], "run --time=0 --events=10")
   tap.like(out, "types\t0\t1\t2\t3\t3\t4\t5\t6\t7\n", "sb_counter_type")
   tap.like(out, "counts\t10\t20\t10\n", "sb_counter_*()")
   tap.like(out, "rand\t3\t4\tab\ttrue\ttrue\n", "sb_rand_*()")
   tap.is(rc, 0, "a run with counted errors succeeds", err)
end

function event()
   tap.run(function()
      globals()
      functions()
      by_ffi()
   end)
   return true
end
