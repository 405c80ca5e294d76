// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where the program's own files lie, found from the place of the executable:
// the build tree works where it lies, an installed tree where it was moved to.
#ifndef SB_PATHS_H
#define SB_PATHS_H

#include <stdbool.h>

#include "base/err.h"

struct sb_paths {
    char drivers[4096];   // folder of the driver modules
    char workloads[4096]; // folder of the Lua workloads
    bool build_tree;      // runs from the tree it was built in
};

// The environment variables SYSBENCH_DRIVER_DIR and SYSBENCH_LUA_DIR override.
// SB_ESYS when the executable's own place cannot be found.
int sb_paths_find(struct sb_paths *p, struct sb_err *err);

// The same for an executable at this absolute path; for tests.
int sb_paths_from(struct sb_paths *p, const char *exe, struct sb_err *err);

#endif
