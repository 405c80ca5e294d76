SPDX-License-Identifier: GPL-2.0-or-later

Not with asan, tsan: other transcripts run the same code, and the shell takes most of the time.

Completion in a real, interactive zsh. What both shells have in common is in
completions.

  $ shell=zsh
  $ . "$SB_SRCDIR/tests/cli/completion.sh"
  $ same_as_listed
  39 lines

All values of an option.

  $ echo 'all: sysbench --rand-type=' | after
  sysbench --rand-type=gaussian --rand-type=pareto --rand-type=special --rand-type=uniform --rand-type=zipfian 

No script was executed to find its options.

  $ test -e executed
  [1]

Both shells read the help in the same way.

  $ parser() { sed -n '/^_sysbench_parse/,/^}/p' "$SB_SRCDIR/src/completion/$1"; }
  $ parser bash/sysbench >parser; parser zsh/_sysbench | diff parser -
  $ wc -l <parser
  23
