SPDX-License-Identifier: GPL-2.0-or-later

Not with asan, tsan: other transcripts run the same code, and the shell takes most of the time.

Completion in a real, interactive bash. What both shells have in common is in
completions.

  $ shell=bash
  $ . "$SB_SRCDIR/tests/cli/completion.sh"
  $ same_as_listed
  39 lines

All values of an option.

  $ echo 'all: sysbench --rand-type=' | after
  sysbench --rand-type=gaussian pareto special uniform zipfian 

No script was executed to find its options.

  $ test -e executed
  [1]
