SPDX-License-Identifier: GPL-2.0-or-later

Not with asan, tsan: the texts are the same, and `man` takes most of the time.

The manual page has every option: of the program and its drivers, of each
workload, of each built-in test and of each command on result files.

  $ page=$SB_BUILDDIR/man/sysbench.1
  $ [ -s "$page" ] || { echo "no manual page was built"; exit 80; }
Each option is one line.

  $ export COLUMNS=100000
  $ listed() { grep -o -e '^ *--[a-z0-9_-]*' | tr -d ' ' | sort; }
  $ in_page() {  # names of sections, separated by |
  >     awk -v names="$1" '
  >         /^\.SH/ || (/^\.SS/ && names !~ /^OPTIONS/) {
  >             gsub(/^\.S[HS] |"/, ""); on = index("|" names "|", "|" $0 "|") }
  >         on' "$page" |
  >         grep -o '^\\fB\\-\\-[a-z0-9_\\-]*' |
  >         sed 's/^.fB//; s/\\-/-/g' | sed 's/\\$//' | sort
  > }
  $ sysbench --help=all | listed >want; in_page OPTIONS | diff want -
  $ wc -l <want | awk '{ print ($1 > 80) }'
  1
  $ sysbench --list >list
  $ for section in Workloads 'Built-in tests'; do
  >     sed -n "/^$section/,/^\$/s/^  \([^ ]*\) - .*/\1/p" list
  > done >names
  $ sysbench --help=all | sed -n '/^Commands on result/,/^$/s/^  sysbench \([a-z]*\) .*/\1/p' >>names
  $ grep -c . names | awk '{ print ($1 > 30) }'
  1
  $ while read -r name; do
  >     sysbench "$name" help 2>&1 </dev/null | grep -e '^ *--' | listed >want
  >     in_page "$name" | diff want - || echo "$name"
  > done <names

It shows how to use a mix, a sweep, the search for a rate, and the live view.

  $ sed -n '/^.SH EXAMPLES/,$p' "$page" | grep -o '[a-z-]*=[a-z]*' | tr -d '\\' |
  >     grep -e mix= -e sweep= -e rate= -e web= | sort
  -mix=oltp
  -rate=max
  -sweep=threads
  web=
  $ sed -n '/^.SH SYNOPSIS/,/^.SH D/p' "$page" | grep -c 'mix=\|compare|'
  2

Programs can format it.

  $ if command -v groff >/dev/null; then
  >     groff -man -Tascii -ww -Wbreak "$page" 2>&1 >/dev/null | head -n 3
  > fi
