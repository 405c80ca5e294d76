// SPDX-License-Identifier: GPL-2.0-or-later
//
// How often a load of a locked database is retried, and what is logged.
#include "check.h"
#include "check_log.h"
#include "db/load/load_private.h"

#define MOST 1000 // attempts that this test makes at most

static void only_a_lock_is_waited_for(void)
{
    capture();
    CHECK(!sb__busy_again(0, 1, "t"));
    CHECK(!sb__busy_again(SB_EQUERY, 1, "t"));
    CHECK(!sb__busy_again(SB_ELOST, 1, "t"));
    CHECK_STR(captured(), "");
}

static void the_wait_is_logged_once_and_ends(void)
{
    int tries = 1;

    capture();
    while (tries < MOST && sb__busy_again(SB_ERESTART, tries, "sbtest1"))
        tries++;
    CHECK_STR(captured(),
        "loading table 'sbtest1': waiting for another process "
        "or connection that holds a lock on the database\n");
    CHECK_INT(tries, 60);
}

CHECK_FILE
{
    RUN(only_a_lock_is_waited_for);
    RUN(the_wait_is_logged_once_and_ends);
    return check_done();
}
