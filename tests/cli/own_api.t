SPDX-License-Identifier: GPL-2.0-or-later

A driver with an API of its own, compiled as others would: with the installed
headers, outside of the tree.

  $ make -s -C "$SB_BUILDDIR" DESTDIR="$PWD/root" install-sdkbaseHEADERS \
  >     install-sdkkitHEADERS install-sdkdbHEADERS >/dev/null
  $ headers=$(dirname "$(find root -path '*/db/driver.h')")/..
  $ mkdir -p modules older/db
  $ cp "$SB_SRCDIR"/src/drivers/template/kv.* .
  $ compile() {
  >     ${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Wno-unused-parameter -Werror \
  >         -fPIC -fvisibility=hidden -shared "$@" kv.c
  > }
  $ cp "$SB_BUILDDIR"/src/drivers/.libs/null.so modules
  $ compile -I"$headers" -o modules/kv.so
  $ nm -D --defined-only modules/kv.so | awk '{ print $NF }' | sort
  kv_get
  kv_scan
  kv_set
  sb_driver
  $ export SYSBENCH_DRIVER_DIR="$PWD/modules"
  $ sysbench --db-driver=help | grep -w kv
    kv - example of a key-value store

Its methods. Calls are counted under their operations, as reads or writes, and as
hits or misses.

  $ cat >kv.lua <<'EOF'
  > local kv = sysbench.driver.kv
  > local db
  > function thread_init() db = kv.connect() end
  > function event()
  >     local key = "key" .. sysbench.tid
  >     assert(db:get("nothing") == nil)
  >     db:set(key, "one")
  >     db:set(key, "two")
  >     local value, version = db:get(key)
  >     assert(value == "two" and version > 1)
  >     db:set(key, "three", version)
  >     assert(db:get(key) == "three")
  >     local keys = db:scan("key", 100)
  >     assert(#keys >= 1 and #keys <= 4 and keys[1]:find("key%d"))
  > end
  > EOF
  $ figures() { /usr/bin/python3 -c 'import json
  > r = json.load(open("r.json"))["runs"][0]
  > for o in r["operations"]:
  >     print(o["name"], o["kind"], o["latency"]["count"], o["errors"],
  >           *(o[k] for k in ("hits", "misses") if o["kind"] == "read"))
  > c = r["counters"]
  > print(c["reads"], c["writes"], c["others"], c["restarts"])'; }
  $ run() { sysbench "$@" --time=0 --report=none,json=r.json run 2>err || tail -n 1 err; }
  $ run kv.lua --threads=4 --events=100; figures
  get read 300 0 200 100
  set write 300 0
  scan read 100 0 100 0
  400 300 0 0
  $ run kv.lua --threads=4 --events=100 --workers=1; figures
  get read 300 0 200 100
  set write 300 0
  scan read 100 0 100 0
  400 300 0 0

set() with a version that is not the last one: the event is repeated, as after a
deadlock in SQL.

  $ cat >conflict.lua <<'EOF'
  > local db, tries = nil, 0
  > function thread_init()
  >     db = sysbench.driver.kv.connect()
  >     db:set("a", "1")
  > end
  > function event()
  >     tries = tries + 1
  >     db:set("a", "2", tries < 4 and 7 or 1)
  > end
  > EOF
  $ run conflict.lua --events=1; figures
  set write 1 3
  0 1 0 3

What users do wrong, and a driver built for another version.

  $ bad() { echo "$1" >bad.lua; sysbench bad.lua --events=1 run 2>&1 | tail -n 1; }
  $ bad 'function event() sysbench.driver.kv.connect():set("a", ("x"):rep(300)) end'
  FATAL: `thread_run' function failed: bad.lua:1: a key has at most 63 bytes, a value 255
  $ bad 'function event()
  >     local db = sysbench.driver.kv.connect()
  >     db.con = sysbench.sql.driver("null"):connect()
  >     db:get("a")
  > end'
  FATAL: `thread_run' function failed: bad.lua:4: this is a function of the kv driver, but the connection is one of the null driver
  $ bad 'function event()
  >     local db = sysbench.driver.kv.connect()
  >     db.con:disconnect()
  >     db:get("a")
  > end'
  FATAL: `thread_run' function failed: bad.lua:4: the connection is closed
  $ bad 'function event()
  >     local db = sysbench.driver.kv.connect()
  >     db.con = nil
  >     db:get("a")
  > end'
  FATAL: `thread_run' function failed: bad.lua:4: there is no connection
  $ bad 'function event() sysbench.driver.kv.connect():get(nil) end'
  FATAL: `thread_run' function failed: bad.lua:1: a key must be a string
  $ bad 'function event() sysbench.driver.kv.connect():set("a", "b\0c") end'
  FATAL: `thread_run' function failed: bad.lua:1: a value must not contain a zero byte
  $ bad 'function event() end
  > function thread_init()
  >     local db = sysbench.driver.kv.connect()
  >     db:set("a", "b")
  >     db:set("a", "b", 7)
  > end'
  FATAL: `thread_init' function failed: bad.lua:5: the key 'a' was changed
  $ bad 'function event() local db = sysbench.driver.kv.connect() db.get("a") end'
  FATAL: `thread_run' function failed: bad.lua:1: a key must be a string
  $ bad 'function event() sysbench.driver.kv.connect().con:query("SELECT 1") end'
  FATAL: `thread_run' function failed: bad.lua:1: the kv driver has no SQL operations
  $ bad 'local none = sysbench.driver.kv.none.x'
  FATAL: bad.lua:1: attempt to index field 'none' (a nil value)
  $ bad 'pcall(function() return sysbench.driver[""] end) local a = sysbench.driver.null'
  FATAL: bad.lua:1: the null driver has no Lua module
  $ bad 'local none = sysbench.driver.none'
  FATAL: bad.lua:1: failed to initialize the DB driver: there is no driver 'none' in */modules; drivers: kv, null (glob)
  $ cp "$headers"/db/*.h older/db
  $ sed -i 's/\(define SB_DRIVER_ABI\).*/\1 1u/' older/db/driver.h
  $ compile -Iolder -I"$headers" -o modules/kv.so
  $ bad 'function event() sysbench.driver.kv.connect() end'
  FATAL: `thread_run' function failed: bad.lua:1: failed to initialize the DB driver: driver 'kv' (*/modules/kv.so) was built for driver interface 1, but this program requires * (glob)

The installed workloads that can use MongoDB do not need its driver.

  $ sysbench ycsb help | tail -n 1 >/dev/null
  $ sysbench ycsb --db-driver=null --events=1 --time=0 --verbosity=0 run
  $ echo 'function event() assert(mongodb_nothing == nil and mongodb_nothing == nil) end' >global.lua
  $ sysbench global.lua --events=1 --verbosity=0 run
