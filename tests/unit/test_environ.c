// SPDX-License-Identifier: GPL-2.0-or-later
//
// The modules with the options of drivers that were built.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "db/db.h"

#define NAME "MONGOC_DISABLE_SHM"

// The folder of the modules, or of one of them.
static const char *modules(const char *name)
{
    static char path[4096];
    const char *build = getenv("SB_BUILDDIR");

    snprintf(path, sizeof(path), "%s/src/drivers/.libs%s", build ? build : ".",
        name);
    return path;
}

static void sets_variables(void)
{
    if (access(modules("/mongodb-options.so"), F_OK) != 0)
        return; // the driver is not part of this build
    unsetenv(NAME);
    sb_environ_set(modules(""));
    CHECK(getenv(NAME) != NULL);
    if (getenv(NAME))
        CHECK_STR(getenv(NAME), "1");
}

static void keeps_those_of_the_user(void)
{
    setenv(NAME, "0", 1);
    sb_environ_set(modules(""));
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
