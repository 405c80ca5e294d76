// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds the program's own files relative to the executable, so that both the
// build tree and an installed tree can be moved.
#ifndef SB_PATHS_H
#define SB_PATHS_H

#include <stdbool.h>

#include "base/err.h"

struct sb_paths {
    char drivers[4096];   // folder of the driver modules
    char mpi[4096];       // folder of the modules for MPI; may be missing
    char workloads[4096]; // folder of the Lua workloads
    char page[4096];      // folder of the HTML report's files
    char charts[4096];    // folder of its charts library; may be missing
    bool build_tree;      // runs from the tree it was built in
};

// SYSBENCH_DRIVER_DIR and SYSBENCH_LUA_DIR in the environment override the
// result. SB_ESYS if the path of the executable is unknown.
int sb_paths_find(struct sb_paths *p, struct sb_err *err);

// The same for an executable at this absolute path; for tests.
int sb_paths_from(struct sb_paths *p, const char *exe, struct sb_err *err);

#endif
