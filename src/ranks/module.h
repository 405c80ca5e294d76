// SPDX-License-Identifier: GPL-2.0-or-later
//
// The modules for MPI: finds the one for the launcher that started this
// process, and loads it.
#ifndef SB_JOB_MODULE_H
#define SB_JOB_MODULE_H

#include "ranks/transport.h"

// A family of MPI libraries, whose binaries are compatible, and a launcher that
// starts processes for it.
struct sb_job_family {
    const char *module;   // name of its module, "openmpi"; NULL: not for MPI
    const char *name;     // for users, "Open MPI"
    const char *launcher; // for users, "Slurm"
    const char *size;     // variable with the number of processes
    const char *mark;     // variable that must also be set, or NULL
};

// The value of a variable in env, which ends with NULL; NULL if it is not set.
const char *sb_job_variable(char *const *env, const char *name);

// Returns the family of the launcher that started this process with others,
// and their number; NULL if none did. env: ends with NULL.
const struct sb_job_family *sb_job_launched(
    char *const *env, unsigned *processes);

// Loads the module and joins the job. family: NULL for the first module that
// is there. SB_ENOTFOUND: there is no such module; SB_EDRIVER: it cannot be
// used; SB_ESYS: MPI reports an error.
int sb_job_open(struct sb_transport *t, const char *dir,
    const struct sb_job_family *family, struct sb_err *err);

#endif
