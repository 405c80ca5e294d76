// SPDX-License-Identifier: GPL-2.0-or-later
#include "ranks/module.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

// In the order in which they are looked for. Hydra, MPICH's launcher, sets
// PMI_SIZE, as srun --mpi=pmi2 does. srun --mpi=pmix sets no variable of MPI
// that has a size. Launchers of MPI start their own processes with srun, so
// Slurm's variables come last. A batch script has no SLURM_STEP_NUM_TASKS: what
// it starts without srun is one process.
static const struct sb_job_family families[] = {
    { "openmpi", "Open MPI", "Open MPI", "OMPI_COMM_WORLD_SIZE", NULL },
    { "mpich", "MPICH", "MPICH", "PMI_SIZE", NULL },
    { "openmpi", "Open MPI", "Slurm", "SLURM_STEP_NUM_TASKS", "PMIX_RANK" },
    { NULL, "MPI", "Slurm", "SLURM_STEP_NUM_TASKS", NULL },
};

#define FAMILIES (sizeof(families) / sizeof(families[0]))

const char *sb_job_variable(char *const *env, const char *name)
{
    size_t len = strlen(name);

    for (; *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

const struct sb_job_family *sb_job_launched(
    char *const *env, unsigned *processes)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        const char *size = sb_job_variable(env, families[i].size);
        long n = size ? strtol(size, NULL, 10) : 0;

        if (n < 1 ||
            (families[i].mark && !sb_job_variable(env, families[i].mark)))
            continue;
        *processes = (unsigned)n;
        return &families[i];
    }
    return NULL;
}

static int load_library(
    struct sb_transport *t, const char *file, struct sb_err *err)
{
    // MPI libraries load components of their own, which look for the symbols
    // of the library.
    void *handle = dlopen(file, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);

    if (!handle)
        return sb_err_set(
            err, SB_EDRIVER, "%s cannot be loaded: %s", file, dlerror());
    t->ops = dlsym(handle, "sb_transport_ops");
    if (!t->ops || t->ops->abi != SB_TRANSPORT_ABI)
        return sb_err_set(
            err, SB_EDRIVER, "%s belongs to another build of sysbench", file);
    return t->ops->open(t, err);
}

static bool find_module(char *file, size_t size, const char *dir,
    const struct sb_job_family *family)
{
    snprintf(file, size, "%s/%s.so", dir, family->module);
    return access(file, F_OK) == 0;
}

int sb_job_open(struct sb_transport *t, const char *dir,
    const struct sb_job_family *family, struct sb_err *err)
{
    char file[4200];

    *t = (struct sb_transport){ 0 };
    if (family && !family->module)
        return sb_err_set(err, SB_ENOTFOUND,
            "srun was called without --mpi=pmix (for Open MPI) or --mpi=pmi2 "
            "(for MPICH); without MPI, use --ranks=auto");
    for (size_t i = 0; i < FAMILIES; i++)
        if ((!family || family == &families[i]) && families[i].module &&
            find_module(file, sizeof(file), dir, &families[i]))
            return load_library(t, file, err);
    return sb_err_set(err, SB_ENOTFOUND,
        "there is no module for %s in %.300s (install its development files "
        "and build again)",
        family ? family->name : "MPI", dir);
}
