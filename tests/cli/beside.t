SPDX-License-Identifier: GPL-2.0-or-later

`--beside`: a command that runs beside the workload. An event of this script
takes 1 ms, and 100 ms while there is a file `load`.

  $ cat >e.lua <<'EOS'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int); int access(const char *, int);")
  > function event()
  >     ffi.C.usleep(ffi.C.access("load", 0) == 0 and 100000 or 1000)
  > end
  > function prepare() end
  > EOS
  $ of() {  # a Python expression of the run r and its member b
  >     /usr/bin/python3 -c "import json
  > r = json.load(open('r.json'))['runs'][0]
  > b = r['beside']
  > print($1)"
  > }

Alone, and with the workload. The figures of the workload are those of whole
intervals before, during and after the command.

  $ sysbench e.lua --time=6 --report-interval=0.1 --beside-start=1 \
  >     --beside='touch load; echo one; sleep 2; rm load' --beside-alone \
  >     --assert='beside.avg > 1.5x, beside.tps<0.7x, beside.p100 > 80 ms, beside.time<600s,
  >         beside.edges.errors==0, beside.time>10x' --report=text,json=r.json run >out 2>err
  [3]
  $ sed 's/[0-9.]* x$/N x/' err
  limit not kept: beside.time>10x: N x
  $ "$SB_SRCDIR"/tests/check-result r.json
  $ cat touch.beside.log touch-alone.beside.log
  one
  one
  $ sed -n '/^Beside/,$p' out | sed -E 's/[0-9]+\.[0-9]+/N/g; s/ +/ /g
  >     s/(intervals) .*/\1/; s/[0-9]+ MiB/N MiB/; s/[-+]N/N/g
  >     s/\((N % .. N %|too few intervals)\)/(INTERVAL)/'
  Beside the run: touch, from N s to N s
   alone: N s (CPU N s user, N s system, N MiB), exit status 0
   with the workload: N s (CPU N s user, N s system, N MiB), exit status 0
   difference of the times: N % (one execution each)
   before during start/end after difference (during to before, 95 % interval)
   events/s N N N N N % (INTERVAL)
   average (ms) N N N N N % (INTERVAL)
   p95 (ms) N N N N N % (INTERVAL)
   maximum (ms) N N N N
   errors 0 0 0 0
   intervals
  
  $ grep -c 'Running touch alone' out
  1
  $ sed -n '/^Limits/,/^$/p' out | sed -E 's/  +/ /g; s/[0-9.]+ (ms |x |)?(kept|not)/N \1\2/'
  Limits:
   beside.avg > 1.5x N x kept
   beside.tps<0.7x N x kept
   beside.p100 > 80 ms N ms kept
   beside.time<600s N ms kept
   beside.edges.errors==0 N kept
   beside.time>10x N x not kept
  
  $ of '[(l["limit"], l["unit"], l["passed"]) for l in r["limits"][:4:3]]'
  [('beside.avg > 1.5x', 'x', True), ('beside.time<600s', 'ms', True)]
  $ sysbench show r.json | grep -cE '^ +beside.(avg > 1.5x +[0-9.]+ x  kept|time>10x .*not kept)'
  2
  $ of 'b["name"], b["command"]["status"], b["command"]["stopped"]'
  touch 0 False
  $ of 'b["command"]["seconds"] >= 2, b["alone"]["seconds"] >= 2'
  True True
  $ of '0.9 < b["command"]["start"] < b["command"]["end"] < 6'
  True
  $ of 'b["difference"]["to"], b["difference"]["events_per_s"]["value"] < -0.3'
  before True
  $ of 'b["difference"]["latency_avg"]["value"] > 0.5'
  True
  $ of '[b[x]["intervals"] > 3 for x in ("before", "during", "after")]'
  [True, True, True]
  $ of '1 <= b["edges"]["intervals"] <= 2, b["edges"]["latency_max_ms"] > 0'
  True True
  $ of '[[m["kind"], m["text"][:12]] for m in r["marks"]]'
  [['beside', 'touch starts'], ['beside-end', 'touch ends a']]

`sysbench show` prints the same. A merged file has the figures of each of its runs.

  $ sed -n '/^Beside/,$p' out >section
  $ sysbench show r.json | sed -n '/^Beside/,$p' | diff section -
  $ sysbench e.lua --time=1 --report-interval=0.1 --report=none,json=o.json run
  $ sysbench merge o.json r.json --output=m.json 2>/dev/null
  $ "$SB_SRCDIR"/tests/check-result m.json
  $ sysbench show m.json | sed -n '/^Run 2 of 2:/,$p' | sed 1d | diff section -

The command may contain passwords, so result files and --print-config contain
only its name.

  $ of '[o["value"] for o in r["options"] if o["name"] == "beside"]'
  ['***']
  $ sysbench e.lua --beside='dump --password=secret' --print-config | grep -c secret
  0
  [1]
  $ sysbench e.lua --time=1 --beside="PGPASSWORD='s3cret' true" \
  >     --report=text,json=p.json run >out2
  $ grep -c '^Beside the run: true' out2
  1
  $ grep -l s3cret out2 p.json *.log
  [1]

Output that is lost makes the run fail.

  $ sysbench e.lua --time=1 --beside='echo one; rm echo.beside.log' --report=none run
  ALERT: --beside: echo.beside.log was removed, replaced or truncated during the run: the output of echo is not complete
  [1]
After the end of the command the file is the user's.

  $ cat >tidy.lua <<'EOF'
  > local left = 3 -- intervals after the end of the command
  > function event() end
  > function sysbench.hooks.report_line(stat)
  >    local file = io.open("pid")
  >    local pid = file and file:read("*n")
  >    if pid and not io.open("/proc/" .. pid) then
  >       left = left - 1
  >       if left == 0 then
  >          os.remove("sh.beside.log")
  >       elseif left < 0 then
  >          os.exit(1)
  >       end
  >    end
  > end
  > EOF
  $ sysbench tidy.lua --time=60 --report-interval=0.1 --beside-start=0 \
  >     --beside='sh -c "echo one; echo \$\$ >pid"' run 2>err >text
  [1]
  $ cat err
  FATAL: `report_line' function failed: tidy.lua:11: os.exit(1) ends the run: its report follows
  $ [ -e sh.beside.log ]
  [1]
  $ rm pid

A command that fails makes the run fail; its figures are kept.

  $ sysbench e.lua --time=1 --beside='echo why; exit 3' --beside-name=dump \
  >     --report=none,json=r.json run 2>err
  [1]
  $ sed -E 's/[0-9]+\.[0-9]+/N/' err
  ALERT: --beside: dump failed after N s: exit status 3; its output is in dump.beside.log
  $ cat dump.beside.log
  why
  $ of 'b["command"]["status"], r["end"]["status"], b["alone"]'
  3 1 None
  $ sysbench e.lua --time=1 --beside='kill -9 $$' --beside-output=- \
  >     --report=none run 2>&1 | sed -E 's/[0-9]+\.[0-9]+/N/'
  ALERT: --beside: kill was ended by signal 9 after N s

Its output is in the folder of the start, also if the script changes the folder.

  $ (echo 'require("ffi").cdef("int chdir(const char *);")'
  >     echo 'require("ffi").C.chdir("/proc")'; cat e.lua) >proc.lua
  $ moved() { sysbench "$PWD/proc.lua" --time=1 --beside='echo moved' \
  >     --report=none "$@" run; }
  $ moved; cat echo.beside.log
  moved
  $ moved --beside-output=given.log; cat given.log
  moved
  $ mkdir folder.beside.log
  $ moved --beside-name=folder
  FATAL: --beside: cannot write to 'folder.beside.log': Is a directory
  [1]
  $ moved --beside-output=folder.beside.log
  FATAL: --beside-output: cannot write to 'folder.beside.log': Is a directory
  [1]

If it fails alone, there is no run.

  $ sysbench e.lua --time=100 --beside=./missing --beside-alone run 2>err | tail -1
  
  $ grep -c 'missing failed.*127; its output is in missing-alone.beside.log' err
  1

If the run ends first, the command is stopped.

  $ sysbench e.lua --time=1 --beside='sleep 3600' --report=none,json=r.json run
  WARNING: --beside: sleep was stopped, because the run ended first
  $ of 'b["command"]["stopped"], b["command"]["seconds"] < 60'
  True True

With --beside-wait, the run ends when the command has ended.

  $ sysbench e.lua --time=3600 --beside='sleep 0.5' --beside-wait \
  >     --beside-start=0.5 --report=none,json=r.json run
  $ of 'r["end"]["reason"], r["end"]["seconds"] < 60'
  limit True

By default it starts after a quarter of --time, so that there is a phase without it.
Without one, the report says that there is no comparison.

  $ sysbench e.lua --time=2 --beside=true --report=none,json=r.json run
  $ of '0.4 <= b["command"]["start"] < 2'
  True
  $ sysbench e.lua --time=1 --report-interval=0.2 --beside='sleep 3600' \
  >     --beside-start=0 run 2>/dev/null | grep 'there is no'
      there is no whole interval before or after the command to compare with: see --beside-start
  $ sysbench e.lua --time=3600 --beside='sleep 0.3' --beside-wait \
  >     --beside-start=0 --report=none run
  WARNING: --beside: the run begins and ends with sleep: without --beside-start, there is nothing to compare it with

An interrupted run stops the command, too, also while it runs alone.

  $ sysbench e.lua --time=3600 --beside='echo $$ >pid; sleep 3600' \
  >     --beside-start=0 --report=none run &
  $ while ! [ -s pid ]; do sleep 0.05; done; kill -INT $!; wait $!
  SIGINT: stopping once the events in progress have ended; a second signal exits at once.
  WARNING: --beside: echo was stopped, because the run ended first
  [130]
  $ kill -0 "$(cat pid)" 2>/dev/null
  [1]
  $ rm pid
  $ sysbench e.lua --time=3600 --beside='echo $$ >pid; sleep 3600' \
  >     --beside-alone --report=none run &
  $ while ! [ -s pid ]; do sleep 0.05; done; kill -TERM $!; wait $!
  [143]
  $ kill -0 "$(cat pid)" 2>/dev/null
  [1]

A signal that comes while the command is stopped at the end of the run ends the grace
period, and reports are written.

  $ rm pid
  $ sysbench e.lua --time=1 --shutdown-grace=1h --report=none,json=r.json \
  >     --beside='trap "touch term" TERM; echo $$ >pid; while :; do sleep 0.05; done' \
  >     run &
  $ while ! [ -e term ]; do sleep 0.05; done; kill -INT $!; wait $!
  WARNING: --beside: trap was stopped, because the run ended first
  [130]
  $ of 'b["command"]["signal"], b["command"]["stopped"], r["end"]["reason"]'
  9 True limit
  $ kill -0 "$(cat pid)" 2>/dev/null
  [1]

The second signal, which ends the program at once, ends the command.

  $ rm pid
  $ cat >stuck.lua <<'EOS'
  > local ffi = require("ffi")
  > ffi.cdef("unsigned sleep(unsigned);")
  > function event() ffi.C.sleep(3600) end
  > EOS
  $ sysbench stuck.lua --time=3600 --shutdown-grace=1h --report=none \
  >     --beside='trap "" TERM; echo $$ >pid; sleep 3600' --beside-start=0 run 2>err &
  $ while ! [ -s pid ]; do sleep 0.05; done; kill -INT $!
  $ while ! grep -q SIGINT err; do sleep 0.05; done; sleep 0.3; kill -INT $!; wait $!
  [130]
  $ while grep -qs "^State:.[^ZX]" "/proc/$(cat pid)/status"; do sleep 0.05; done

Wrong options:

  $ sysbench e.lua --time=1 --beside-start=1 run
  sysbench * (glob)
  
  the options --beside-... require a command: --beside='COMMAND'
  [1]
  $ sysbench e.lua --time=5 --beside-start=5 --beside=true run | tail -1
  --beside-start: 5 s is too late; the run ends after 5 s
  
  $ sysbench e.lua --beside=true --beside-name=a/b run | tail -1
  --beside-name: 'a/b' is not a name of at most 31 bytes without '/'
  
  $ sysbench e.lua --beside=true prepare | tail -1
  --beside only applies to the command run, not to prepare
  
  $ sysbench e.lua --time=1 --beside=true --beside-output=missing/x run | tail -1
  FATAL: --beside-output: cannot write to 'missing/x': No such file or directory
  
  $ mkfifo pipe
  $ timeout 100 sysbench e.lua --time=1 --beside=true --beside-output=pipe run 2>&1 | tail -1
  FATAL: --beside-output: cannot write to 'pipe': no program reads from it
  $ exec 3<>pipe # opened for reading
  $ sysbench e.lua --time=1 --beside='echo hello' --beside-start=0 \
  >     --beside-output=pipe run >out 2>&1; echo $?; head -n 1 <&3
  0
  hello

The log of the command is not written through a symbolic link.

  $ echo precious >victim
  $ ln -s victim hook.beside.log
  $ sysbench cpu --events=1 --beside=true --beside-name=hook run >text
  FATAL: --beside: cannot write to 'hook.beside.log': it is a symbolic link
  [1]
  $ cat victim
  precious
