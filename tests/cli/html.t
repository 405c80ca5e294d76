SPDX-License-Identifier: GPL-2.0-or-later

The HTML report: --report=html=FILE and `sysbench report`. tests/page/ opens it
in a browser.

  $ run() { sysbench oltp_read_write --db-driver=null --threads=2 "$@" run; }

Without the charts library, one sentence says what is missing, before the load
starts.

  $ if ! [ -e "$SB_SRCDIR/third_party/charts/uPlot.iife.min.js" ]; then
  >     run --events=10 --report=html=r.html 2>&1 | grep -c 'the charts library is missing'
  >     exit 80
  > fi

With it, the page holds the library, the style and the document.

  $ run --events=100 --report=none,html=r.html,json=r.json
  $ ls
  r.html
  r.json
  $ grep -c '<script type="application/json" class="result"' r.html
  1
  $ grep -c 'uPlot' r.html >/dev/null && echo library
  library
  $ grep -o '<title>.*</title>' r.html
  <title>oltp_read_write</title>
  $ document() { sed -n '/class="result"/,/<.script>/p' "$1" |
  >     sed -e 's/^<script.*data-name="[^"]*">//' -e 's/<.script>$//'; }
  $ document r.html >in_page.json
  $ "$SB_SRCDIR/tests/check-result" || exit 80 # needs python3-jsonschema
  $ "$SB_SRCDIR/tests/check-result" in_page.json

The documents of the browser tests are result files.

  $ for more in --metrics --hostile "--rate --warmup=5" "--runs=2 --repeat=2"; do
  >     "$SB_SRCDIR/tests/page/sample" --seconds=5 $more >sample.json
  >     "$SB_SRCDIR/tests/check-result" --schema sample.json
  > done
  $ rm sample.json

No address of another server is in what the project wrote.

  $ cat "$SB_SRCDIR"/src/out/page/* | grep -c 'https\{0,1\}://'
  0
  [1]

Saved results, one or several.

  $ sysbench report r.json --html=one.html
  $ document one.html | sed '$d' | cmp - r.json
  $ cp r.json 'a "b" <c>.json'
  $ sysbench report r.json 'a "b" <c>.json' --html=- | grep -o 'data-name="[^{]*>'
  data-name="r.json">
  data-name="a &quot;b&quot; &lt;c&gt;.json">
  $ sysbench report r.json && ls report.html
  report.html

Pipes can be read, too. Each input is read twice, so pipes are copied first.

  $ sysbench report r.json --html=one.html
  $ mkfifo pipe
  $ cat r.json >pipe & sysbench report pipe --html=pipe.html; wait
  $ document one.html >one.json; document pipe.html | cmp - one.json
  $ sysbench report - --html=pipe.html <r.json
  $ document pipe.html | cmp - one.json
  $ cat r.json | TMPDIR=. sysbench report - r.json --html=pipe.html
  $ grep -c 'class="result"' pipe.html
  2
  $ head -c 200 r.json | sysbench report /dev/stdin --html=no.html 2>&1 | cut -c 1-17
  FATAL: /dev/stdin
  $ echo | TMPDIR=no sysbench report - --html=no.html
  FATAL: cannot create a temporary file in no: No such file or directory
  [1]

An input is never replaced.

  $ cp r.json in.json; ln in.json link.json
  $ sysbench report r.json in.json --html=link.json
  FATAL: cannot write link.json: it is also an input
  [1]
  $ sysbench merge in.json r.json --output=in.json
  FATAL: cannot write in.json: it is also an input
  [1]
  $ sysbench compare r.json r.json,in.json --json=in.json
  FATAL: cannot write in.json: it is also an input
  [1]
  $ cmp r.json in.json

Errors; no file is left behind.

  $ rm -f *.html*
  $ head -c 200 r.json >half.json
  $ sysbench report half.json --html=no.html 2>&1 | cut -c 1-16
  FATAL: half.json
  $ sysbench report nothing.json --html=no.html
  FATAL: cannot read nothing.json: No such file or directory
  [1]
  $ sysbench report r.json --html=no/r.html
  FATAL: cannot write no/r.html: No such file or directory
  [1]
  $ sysbench report
  report: the name of a result file is missing
  Usage: sysbench report [--html=FILE] FILE...
  See 'sysbench report --help'.
  [1]
  $ ls *.html*
  ls: cannot access '*.html*': No such file or directory
  [2]
  $ run --events=10 --report=none,html=no/r.html
  FATAL: --report=html: cannot write no/r.html: No such file or directory
  [1]

A name of a script, and swept values, that are not valid UTF-8.

  $ name=$(printf 'b\377.lua')
  $ echo 'sysbench.cmdline.options = {x = {"", ""}} function event() end' >"$name"
  $ sysbench "./$name" --events=1 --report=none,html=a.html run
  $ sysbench "./$name" --events=1 --sweep="x=$name" --report=html=b.html run >text
  $ for f in a.html b.html text; do iconv -f utf-8 -t utf-8 $f >/dev/null || echo $f; done
  $ grep -h '<title>' [ab].html; grep -o '^Sweep of .*:' text; grep -o '^\[1/1\].*lua' text
  <title>./b\xef\xbf\xbd.lua</title> (esc)
  <title>./b\xef\xbf\xbd.lua</title> (esc)
  Sweep of ./b\xff.lua:
  [1/1] x=b\xff.lua
  $ rm -f "$name" [ab].html
