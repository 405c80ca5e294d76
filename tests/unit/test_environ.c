// SPDX-License-Identifier: GPL-2.0-or-later
//
// The modules with the options of drivers that were built.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "db/db.h"

#define DRIVERS SB_ABS_TOP_BUILDDIR "/src/drivers/.libs"
#define MODULE  DRIVERS "/mongodb-options.so"
#define NAME    "MONGOC_DISABLE_SHM"

static void sets_variables(void)
{
    if (access(MODULE, F_OK) != 0)
        return; // the driver is not part of this build
    unsetenv(NAME);
    sb_environ_set(DRIVERS);
    CHECK(getenv(NAME) != NULL);
    if (getenv(NAME))
        CHECK_STR(getenv(NAME), "1");
}

static void keeps_those_of_the_user(void)
{
    setenv(NAME, "0", 1);
    sb_environ_set(DRIVERS);
    CHECK_STR(getenv(NAME), "0");
}

static void allows_no_folder(void)
{
    unsetenv(NAME);
    sb_environ_set("/nonexistent");
    CHECK(getenv(NAME) == NULL);
}

CHECK_FILE
{
    RUN(sets_variables);
    RUN(keeps_those_of_the_user);
    RUN(allows_no_folder);
    return check_done();
}
