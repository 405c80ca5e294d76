SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: one thread.

`sysbench compare --html=FILE`. tests/page/test_compare opens the page in a
browser.

  $ [ -e "$SB_SRCDIR/third_party/charts/uPlot.iife.min.js" ] || exit 80
  $ for f in a1.json a2.json b1.json; do
  >     sysbench oltp_read_only --db-driver=null --events=100 \
  >         --report=none,json=$f run
  > done

The page contains the JSON document and the results.

  $ sysbench compare --html=c.html --json=c.json a1.json,a2.json b1.json >/dev/null || :
  $ sed -n 's/.*class="\(comparison\|result\)" \(.*\)data-name="\([^"]*\)".*/\1 \2\3/p' \
  >     c.html
  comparison 
  result data-side="A" a1.json
  result data-side="A" a2.json
  result data-side="B" b1.json
  $ sed -n 's/.*class="comparison"[^>]*>\(.*\)<.script>/\1/p' c.html >in_page.json
  $ /usr/bin/python3 -c "import json
  > print(json.load(open('in_page.json')) == json.load(open('c.json')))"
  True

Errors; no file is left behind.

  $ rm -f c.html
  $ sysbench compare --html=no/c.html a1.json b1.json >out
  FATAL: cannot write no/c.html: No such file or directory
  [1]
  $ sysbench compare --html=c.html a1.json - <b1.json >out
  FATAL: --html: standard input cannot be used: write it to a file
  [1]
  $ ls c.html*
  ls: cannot access 'c.html*': No such file or directory
  [2]
