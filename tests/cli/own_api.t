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

What users do wrong.

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
  $ bad 'local a = sysbench.driver.null'
  FATAL: bad.lua:1: the null driver has no Lua module
  $ bad 'local none = sysbench.driver.none'
  FATAL: bad.lua:1: failed to initialize the DB driver: there is no driver 'none' in */modules; drivers: kv, null (glob)
  $ bad 'local none = sysbench.driver[""]'
  FATAL: bad.lua:1: sysbench.driver requires the name of a driver

The text of a call is in its error, which a hook may ignore.

  $ bad 'function event() sysbench.driver.kv.connect():set("zz", ("x"):rep(300)) end'
  FATAL: `thread_run' function failed: bad.lua:1: a key has at most 63 bytes, a value 255 (query: zz)
  $ bad 'function event() sysbench.driver.kv.connect():set(("z"):rep(64), "x") end'
  FATAL: `thread_run' function failed: bad.lua:1: a key has at most 63 bytes, a value 255 (query: zzz*zzz) (glob)
  $ cat >hook.lua <<'EOF'
  > local seen = {}
  > function sysbench.hooks.sql_error_ignorable(e)
  >     seen[#seen + 1] = e.query .. ": " .. e.sql_errmsg
  >     return #seen == 1
  > end
  > function event()
  >     local ok, e = pcall(function()
  >         sysbench.driver.kv.connect():set("zz", ("x"):rep(300))
  >     end)
  >     print(ok, seen[1])
  >     assert(e.errcode == sysbench.error.RESTART_EVENT)
  > end
  > EOF
  $ sysbench hook.lua --events=1 run 2>&1 | grep zz
  false	zz: a key has at most 63 bytes, a value 255

Its store: many keys in their order, versions from 1, and the limits of a scan.

  $ cat >store.lua <<'EOF'
  > function event()
  >     local db = sysbench.driver.kv.connect()
  >     for i = 1, 200 do
  >         db:set(("k%03d"):format(i * 77 % 200), "v" .. i)
  >     end
  >     local keys = db:scan("k", 1000)
  >     print("keys", #keys, keys[1], keys[100])
  >     print("some", table.concat(db:scan("k198", 3), ","), #db:scan("z", 3), #db:scan("k", 2))
  >     print("first", db:get("k077"))
  >     db:set("k077", "other")
  >     print("second", db:get("k077"))
  >     print("last", db:get("k199"))
  >     print("none", (db:get("k1")), (db:get("z")))
  >     assert(not pcall(db.set, db, "new", "x", 1))
  > end
  > EOF
  $ run store.lua --events=1; figures
  keys	100	k000	k099
  some	k198,k199	0	2
  first	v1	1
  second	other	2
  last	v187	1
  none	nil	nil
  connect custom 1 0
  set write 201 1
  scan read 4 0 3 1
  get read 5 0 3 2
  9 201 0 0

What the driver's Lua module gets: here, scripts get it, too. A module is executed once
in a Lua state.

  $ cp kv.c kv.saved
  $ /usr/bin/python3 -c '
  > text = open("kv.c").read()
  > text = text.replace("\"return kv\\n\";", "\"kv.api = api\\nreturn kv\\n\";"
  >     "static const char part[] = \"local api = ... api.runs = (api.runs or 0) + 1\";"
  >     "static const struct sb_driver_lua parts[] = {"
  >     "    { \"part\", part, sizeof(part) - 1 }, { NULL, NULL, 0 } };")
  > text = text.replace(".lua = lua,", ".lua = lua, .lua_modules = parts,")
  > open("kv.c", "w").write(text)'
  $ compile -I"$headers" -o modules/kv.so
  $ cat >api.lua <<'EOF'
  > local kv = sysbench.driver.kv
  > local api, con = kv.api, kv.connect().con
  > print("module", api.module("part"), api.module("part"), api.runs)
  > print("none", pcall(api.module, "none"))
  > print("symbol", type(api.symbol), pcall(api.symbol, "none"))
  > print("is_of", api.is_of(con, "kv"), api.is_of(con, "null"), api.is_of(nil, "kv"),
  >     api.is_of("con", "kv"))
  > print("user", api.user().sysbench == sysbench, api.driver:name())
  > function help() end
  > EOF
  $ sysbench api.lua help | sed '1,/^$/d; s/[^\t]*kv.so/kv.so/'
  module	true	true	1
  none	false	the kv driver has no Lua module 'none'
  symbol	function	false	kv.so: undefined symbol: none
  is_of	true	false	false	false
  user	true	kv
  $ cat >shared.lua <<'EOF'
  > function thread_init() print("api " .. tostring(sysbench.driver.kv.api)) end
  > function event() end
  > EOF
  $ sysbench shared.lua --threads=6 --workers=1 --events=6 run | grep '^api' >out
  $ wc -l <out; [ "$(sort -u out | wc -l)" -le 2 ] # user 0 has a state of its own
  6
  $ sed 's/return kv/return nil/' kv.saved >kv.c
  $ compile -I"$headers" -o modules/kv.so
  $ cat >nothing.lua <<'EOF'
  > for _ = 1, 2 do print(pcall(function() return sysbench.driver.kv end)) end
  > function help() end
  > EOF
  $ sysbench nothing.lua help | grep false
  false	nothing.lua:1: the Lua module of the kv driver returns nothing
  false	nothing.lua:1: the Lua module of the kv driver returns nothing
  $ mv kv.saved kv.c

A driver that was built for another version.

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
