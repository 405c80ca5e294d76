// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "check.h"
#include "ranks/place.h"

static const char *launcher(char *const *env, unsigned *n)
{
    const struct sb_job_family *f = sb_job_launched(env, n);

    return f ? f->module : "none";
}

static void launchers_are_known(void)
{
    char *const none[] = { "HOME=/root", "OMPI_COMM_WORLD_SIZEX=3",
        "SLURM_NTASKS=4", "SLURM_PROCID=0", NULL };
    char *const openmpi[] = { "PMI_SIZE=9", "OMPI_COMM_WORLD_SIZE=4", NULL };
    char *const hydra[] = { "PMI_RANK=0", "PMI_SIZE=3", NULL };
    char *const bad[] = { "PMI_SIZE=many", NULL };
    unsigned n = 0;

    CHECK_STR(launcher(none, &n), "none"); // a batch script of four tasks
    CHECK_STR(launcher(bad, &n), "none");
    CHECK_STR(launcher(openmpi, &n), "openmpi");
    CHECK_INT(n, 4);
    CHECK_STR(launcher(hydra, &n), "mpich");
    CHECK_INT(n, 3);
}

static void tasks_of_slurm(void)
{
    char *const batch[] = { "SLURM_NTASKS=4", "SLURM_PROCID=0", "PMIX_RANK=0",
        NULL };
    char *const pmix[] = { "SLURM_STEP_NUM_TASKS=4", "PMIX_RANK=0", NULL };
    char *const pmi2[] = { "SLURM_STEP_NUM_TASKS=4", "PMI_SIZE=4", NULL };
    // mpirun starts a process of its own on each of two nodes with srun.
    char *const hydra[] = { "SLURM_STEP_NUM_TASKS=2", "PMIX_RANK=0",
        "PMI_SIZE=5", NULL };
    char *const openmpi[] = { "SLURM_STEP_NUM_TASKS=2", "PMIX_RANK=0",
        "OMPI_COMM_WORLD_SIZE=6", NULL };
    char *const plain[] = { "SLURM_STEP_NUM_TASKS=3", NULL };
    struct sb_transport t;
    struct sb_err err;
    unsigned n = 0;

    CHECK_STR(launcher(batch, &n), "none");
    CHECK_STR(launcher(pmix, &n), "openmpi");
    CHECK_INT(n, 4);
    CHECK_STR(launcher(pmi2, &n), "mpich");
    CHECK_STR(launcher(hydra, &n), "mpich");
    CHECK_INT(n, 5);
    CHECK_STR(launcher(openmpi, &n), "openmpi");
    CHECK_INT(n, 6);
    const struct sb_job_family *f = sb_job_launched(plain, &n);

    CHECK(f && !f->module);
    CHECK_INT(n, 3);
    CHECK_INT(sb_job_open(&t, "/nowhere", f, &err), SB_ENOTFOUND);
    CHECK(strstr(err.msg, "srun was called without --mpi=pmix") != NULL);
    CHECK_INT(sb_job_open(&t, "/nowhere", sb_job_launched(pmix, &n), &err),
        SB_ENOTFOUND);
    CHECK(strstr(err.msg, "there is no module for Open MPI") != NULL);
}

static void a_missing_module_is_named(void)
{
    char *const hydra[] = { "PMI_RANK=0", "PMI_SIZE=3", NULL };
    struct sb_transport t;
    struct sb_err err;
    unsigned n;

    CHECK_INT(sb_job_open(&t, "/nowhere", sb_job_launched(hydra, &n), &err),
        SB_ENOTFOUND);
    CHECK_STR(err.msg,
        "there is no module for MPICH in /nowhere (install its development "
        "files and build again)");
    CHECK_INT(sb_job_open(&t, "/nowhere", NULL, &err), SB_ENOTFOUND);
}

CHECK_FILE
{
    RUN(launchers_are_known);
    RUN(tasks_of_slurm);
    RUN(a_missing_module_is_named);
    return check_done();
}
