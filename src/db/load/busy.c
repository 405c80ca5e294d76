// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loads of a database that another process has locked.
#include "db/load/load_private.h"

// Attempts to begin a load of a locked database; the driver waits in between.
#define BEGIN_TRIES 60

bool sb__busy_again(int rc, int tries, const char *table)
{
    if (rc != SB_ERESTART || tries == BEGIN_TRIES)
        return false;
    if (tries == 1)
        sb_log(SB_LOG_NOTICE,
            "loading table '%s': waiting for another process or connection "
            "that holds a lock on the database",
            table);
    return true;
}
