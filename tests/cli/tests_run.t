SPDX-License-Identifier: GPL-2.0-or-later

tests/run skips the tests of a driver that was not built. If the driver was
built, and the program of the test is missing, the test fails.

  $ mkdir -p source/tests/fuzz source/tests/unit build/src/drivers
  $ for name in assert mysql pgsql bson; do
  >     : >source/tests/fuzz/fuzz_$name.c
  > done
  $ : >source/tests/unit/test_wire_mysql.c
  $ echo 'int main(void)' >source/tests/unit/test_wait_pgsql.c
  $ run() {
  >     SB_SRCDIR=$PWD/source SB_BUILDDIR=$PWD/build "$SB_SRCDIR/tests/run" \
  >         "$@" >out 2>&1
  >     echo "status $?"
  >     grep -E '^(ok|skipped|FAILED) ' out | sort
  >     tail -n 1 out
  > }
  $ run fuzz
  status 1
  FAILED   fuzz/fuzz_assert                 0 passed, 1 failed
  skipped  fuzz/fuzz_bson                   0 passed, 1 skipped
  skipped  fuzz/fuzz_mysql                  0 passed, 1 skipped
  skipped  fuzz/fuzz_pgsql                  0 passed, 1 skipped
  0 passed, 1 failed, 3 skipped
  $ run unit
  status 0
  skipped  unit/test_wait_pgsql             0 passed, 1 skipped
  skipped  unit/test_wire_mysql             0 passed, 1 skipped
  0 passed, 0 failed, 2 skipped
  $ touch build/src/drivers/mysql.la build/src/drivers/mongodb.la
  $ run fuzz
  status 1
  FAILED   fuzz/fuzz_assert                 0 passed, 1 failed
  FAILED   fuzz/fuzz_bson                   0 passed, 1 failed
  FAILED   fuzz/fuzz_mysql                  0 passed, 1 failed
  skipped  fuzz/fuzz_pgsql                  0 passed, 1 skipped
  0 passed, 3 failed, 1 skipped
  $ grep 'fuzz_bson does' out
  */build/tests/fuzz/fuzz_bson does not exist: is it listed in Makefile.inc? (glob)
  $ run unit
  status 1
  FAILED   unit/test_wire_mysql             0 passed, 1 failed
  skipped  unit/test_wait_pgsql             0 passed, 1 skipped
  0 passed, 1 failed, 1 skipped
