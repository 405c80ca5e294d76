SPDX-License-Identifier: GPL-2.0-or-later

Completion in a real, interactive bash.

  $ for need in bash /usr/bin/python3; do
  >     command -v $need >/dev/null || { echo "no $need"; exit 80; }
  > done
  $ complete() { "$SB_SRCDIR/tests/cli/complete" bash "$SB_SRCDIR/src/completion/bash"; }

  $ mkdir folder; touch run.json other.txt
  $ cat >own.lua <<'EOF'
  > os.execute("touch executed")
  > sysbench.cmdline.options = { mine = {"", 1} }
  > EOF
  $ cp own.lua cpu.lua; cp own.lua oltp_read_only.lua

Names of options, with "=" if they take a value. "_" and "-" are the same.

  $ complete <<'EOF'
  > sysbench --repo
  > all: sysbench --report-e
  > all: sysbench --report-c
  > sysbench --report-i
  > sysbench --report_i
  > sysbench --threads=4 --debu
  > sysbench --nosuch
  > EOF
  sysbench --report
  sysbench --report-errors 
  sysbench --report-checkpoints= --report-context 
  sysbench --report-interval=
  sysbench --report-interval=
  sysbench --threads=4 --debug 
  sysbench --nosuch

Values: choices, on and off, drivers, kinds of reports, files.

  $ complete <<'EOF'
  > all: sysbench --rand-type=
  > sysbench --rand_type=u
  > sysbench --debug=of
  > sysbench --db-driver=nul
  > sysbench --report=hg
  > sysbench --report=we
  > sysbench --report=json=ru
  > sysbench --report=json=a.json,nd
  > sysbench --config-file=oth
  > sysbench --config-file=fol
  > sysbench --threads=
  > EOF
  sysbench --rand-type=gaussian pareto special uniform zipfian 
  sysbench --rand_type=uniform 
  sysbench --debug=off 
  sysbench --db-driver=null 
  sysbench --report=hgrm=
  sysbench --report=web=
  sysbench --report=json=run.json 
  sysbench --report=json=a.json,ndjson=
  sysbench --config-file=other.txt 
  sysbench --config-file=folder/
  sysbench --threads=

Workloads, built-in tests, scripts of the user, and their commands.

  $ complete <<'EOF'
  > sysbench oltp_read_w
  > sysbench --threads=4 mongodb/ar
  > sysbench mut
  > sysbench ow
  > sysbench fol
  > all: sysbench oltp_read_write 
  > sysbench own.lua pre
  > sysbench oltp_read_write pre
  > sysbench oltp_read_write prepare ru
  > sysbench --test=cpu ru
  > EOF
  sysbench oltp_read_write 
  sysbench --threads=4 mongodb/arrays 
  sysbench mutex 
  sysbench own.lua 
  sysbench folder/
  sysbench oltp_read_write cleanup help prepare run 
  sysbench own.lua prepare 
  sysbench oltp_read_write prepare 
  sysbench oltp_read_write prepare ru
  sysbench --test=cpu run 

Their own options. A script of the user is not executed to find its options, not
even if it has the name of a workload or a test.

  $ complete <<'EOF'
  > sysbench oltp_read_only --table-s
  > sysbench oltp_read_only --skip
  > sysbench --table-s
  > sysbench cpu --cpu
  > sysbench --threads=2 own.lua --min
  > EOF
  sysbench oltp_read_only --table-size=
  sysbench oltp_read_only --skip-trx 
  sysbench --table-s
  sysbench cpu --cpu-max-prime=
  sysbench --threads=2 own.lua --min
  $ ls executed
  ls: cannot access 'executed': No such file or directory
  [2]

Commands on result files: files and options of their own.

  $ complete <<'EOF'
  > sysbench comp
  > sysbench show r
  > sysbench compare run.json --conf
  > sysbench compare --html=x --threa
  > sysbench show --percen
  > EOF
  sysbench compare 
  sysbench show run.json 
  sysbench compare run.json --confidence=
  sysbench compare --html=x --threa
  sysbench show --percentile=
