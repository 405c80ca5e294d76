// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // strptime(), timegm()
#include "ranks/place.h"

#include <assert.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kit/units.h"

// Launchers and modules of MPI.

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

// The value of a variable in env, which ends with NULL; NULL if it is not set.
static const char *job_variable(char *const *env, const char *name)
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
        const char *size = job_variable(env, families[i].size);
        long n = size ? strtol(size, NULL, 10) : 0;

        if (n < 1 || (families[i].mark && !job_variable(env, families[i].mark)))
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

// Options.

#define AT(field) offsetof(struct sb_rank_opts, field)

static const char *const mpi[] = { "auto", "on", "off", NULL };

static const struct sb_opt options[] = {
    { .name = "mpi",
        .type = SB_OPT_ENUM,
        .offset = AT(mpi),
        .def = "auto",
        .choices = mpi,
        .flags = SB_OPT_NOFILE | SB_OPT_YIELDS,
        .help = "carry out one command with all processes that the launcher "
                "started; auto: only if there are several" },
    { .name = "ranks",
        .type = SB_OPT_STRING,
        .offset = AT(ranks),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "number of processes that carry out this run together; auto: "
                "read it and --rank from the environment variables of Slurm or "
                "an MPI launcher" },
    { .name = "rank",
        .type = SB_OPT_INT,
        .offset = AT(rank),
        .def = "-1",
        .min = -1,
        .max = SB_RANKS_MAX - 1,
        .flags = SB_OPT_YIELDS,
        .help =
            "number of this process, from 0: it runs its part of --threads, "
            "--rate and --events" },
    { .name = "rank-weight",
        .type = SB_OPT_LIST,
        .offset = AT(weights),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "one weight for each rank, such as 1,1,2: the parts are "
                "proportional to them. Default: all are equal" },
    { .name = "threads-per-rank",
        .type = SB_OPT_INT,
        .offset = AT(threads_per_rank),
        .def = "0",
        .min = 0,
        .max = 1000000,
        .flags = SB_OPT_YIELDS,
        .help = "number of threads of each rank, instead of --threads" },
    { .name = "start-at",
        .type = SB_OPT_STRING,
        .offset = AT(start_at),
        .def = "",
        .flags = SB_OPT_YIELDS,
        .help = "when all users are connected, wait until this time: "
                "2026-11-23T12:00:00Z, or seconds since 1970 as date +%s "
                "prints them" },
    { 0 },
};

const struct sb_opt_table sb_rank_opt_table = {
    .title = "Options for several clients",
    .section = "clients",
    .opts = options,
};

// The place of this process ---------------------------------------------------

// Variables that launchers set in each process: its number and how many there
// are.
static const struct {
    const char *rank, *ranks;
} launchers[] = {
    { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" }, // Open MPI
    { "PMI_RANK", "PMI_SIZE" },                         // MPICH and others
    { "SLURM_PROCID", "SLURM_NTASKS" },
};

static bool read_number(
    const char *text, int64_t min, int64_t max, unsigned *out)
{
    int64_t value;

    if (sb_units_count(text, &value) || value < min || value > max)
        return false;
    *out = (unsigned)value;
    return true;
}

static int place_of_launcher(
    struct sb_rank_place *p, char *const *env, struct sb_err *err)
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        const char *rank = job_variable(env, launchers[i].rank);
        const char *ranks = job_variable(env, launchers[i].ranks);

        if (!rank || !ranks)
            continue;
        if (read_number(ranks, 1, SB_RANKS_MAX, &p->ranks) &&
            read_number(rank, 0, (int64_t)p->ranks - 1, &p->rank))
            return 0;
        return sb_err_set(err, SB_EUSAGE,
            "--ranks=auto: %s=%.40s and %s=%.40s are not a rank and a number "
            "of ranks",
            launchers[i].rank, rank, launchers[i].ranks, ranks);
    }
    if (job_variable(env, "JOB_COMPLETION_INDEX"))
        return sb_err_set(err, SB_EUSAGE,
            "--ranks=auto: a Kubernetes Job gives each process a number, but "
            "not how many there are: use --rank=$JOB_COMPLETION_INDEX and "
            "--ranks=N");
    return sb_err_set(err, SB_EUSAGE,
        "--ranks=auto: no variables of a launcher (SLURM_PROCID and "
        "SLURM_NTASKS, for example); use --rank=N and --ranks=M");
}

int sb_ranks_place(struct sb_rank_place *p, const struct sb_rank_opts *o,
    char *const *env, struct sb_err *err)
{
    *p = (struct sb_rank_place){ 0 };
    if (o->ranks[0] == '\0' && o->rank < 0)
        return 0;
    if (o->ranks[0] == '\0')
        return sb_err_set(err, SB_EUSAGE,
            "--rank=%lld requires --ranks, the number of processes",
            (long long)o->rank);
    if (strcmp(o->ranks, "auto") == 0) {
        if (o->rank >= 0)
            return sb_err_set(err, SB_EUSAGE,
                "--ranks=auto finds the rank itself: remove --rank=%lld",
                (long long)o->rank);
        return place_of_launcher(p, env, err);
    }
    if (!read_number(o->ranks, 1, SB_RANKS_MAX, &p->ranks))
        return sb_err_set(err, SB_EUSAGE,
            "Invalid value for the 'ranks' option: '%.100s' (1 to %d, or auto)",
            o->ranks, SB_RANKS_MAX);
    if (o->rank < 0)
        return sb_err_set(err, SB_EUSAGE,
            "--ranks=%u requires --rank, the number of this process from 0 to "
            "%u",
            p->ranks, p->ranks - 1);
    if (o->rank >= p->ranks)
        return sb_err_set(err, SB_EUSAGE,
            "--rank=%lld: with --ranks=%u, ranks are numbered from 0 to %u",
            (long long)o->rank, p->ranks, p->ranks - 1);
    p->rank = (unsigned)o->rank;
    return 0;
}

// The division ----------------------------------------------------------------

int sb_ranks_threads(struct sb_run_opts *run, const struct sb_rank_opts *o,
    const struct sb_rank_place *p, bool threads_given, struct sb_err *err)
{
    if (p->ranks == 0 && o->threads_per_rank > 0)
        return sb_err_set(err, SB_EUSAGE,
            "--threads-per-rank is only used with several ranks");
    if (p->ranks == 0 && o->weights.count)
        return sb_err_set(
            err, SB_EUSAGE, "--rank-weight is only used with several ranks");
    if (o->threads_per_rank > 0 && threads_given)
        return sb_err_set(err, SB_EUSAGE,
            "--threads (of all ranks) and --threads-per-rank cannot be "
            "combined");
    if (o->threads_per_rank > 0 && o->weights.count)
        return sb_err_set(err, SB_EUSAGE,
            "--threads-per-rank and --rank-weight cannot be combined: the "
            "first "
            "gives all ranks the same number of threads");
    if (o->threads_per_rank > 0)
        run->threads = p->ranks * o->threads_per_rank;
    else if (!threads_given && run->threads < p->ranks)
        run->threads = p->ranks; // a script may have another default
    if (run->threads > 1000000)
        return sb_err_set(err, SB_ERANGE,
            "--threads-per-rank=%lld with %u ranks means %lld threads; the "
            "maximum is 1000000",
            (long long)o->threads_per_rank, p->ranks, (long long)run->threads);
    return 0;
}

static int read_weights(double *weight, const struct sb_rank_opts *o,
    unsigned ranks, struct sb_err *err)
{
    if (o->weights.count != ranks)
        return sb_err_set(err, SB_EUSAGE,
            "--rank-weight: %zu weight%s for %u ranks; each rank needs one",
            o->weights.count, o->weights.count == 1 ? "" : "s", ranks);
    for (unsigned i = 0; i < ranks; i++)
        if (sb_units_double(o->weights.item[i], &weight[i]) ||
            !(weight[i] >= 1e-6 && weight[i] <= 1e6))
            return sb_err_set(err, SB_EUSAGE,
                "--rank-weight: '%.100s' is not a number from 1e-6 to 1e6",
                o->weights.item[i]);
    return 0;
}

// Refuses options that need an exchange between the ranks.
static int check_without_job(
    const struct sb_run_opts *run, bool seed_given, struct sb_err *err)
{
    if (!seed_given)
        return sb_err_set(err, SB_EUSAGE,
            "--ranks requires --rand-seed: all ranks must use the same seed");
    if (sb_run_opts_finds_rate(run))
        return sb_err_set(err, SB_EUSAGE,
            "--rate=%s cannot be combined with --ranks: a rank does not know "
            "the rates of the others; use MPI, or give the rate as a number",
            run->rate_search ? "max" : "N%");
    return 0;
}

int sb_ranks_divide(struct sb_run_opts *run, const struct sb_rank_opts *o,
    const struct sb_rank_place *p, bool job, bool seed_given,
    struct sb_err *err)
{
    double *weight = NULL;
    int rc = 0;

    sb_share_whole(&run->share, (uint64_t)run->threads);
    if (p->ranks <= 1)
        return 0;
    assert(p->rank < p->ranks);
    rc = job ? 0 : check_without_job(run, seed_given, err);
    if (rc)
        return rc;
    if (o->weights.count) {
        weight = calloc(p->ranks, sizeof(*weight));
        rc = weight ? read_weights(weight, o, p->ranks, err)
                    : sb_err_set(err, SB_ENOMEM, "out of memory");
    }
    if (rc == 0)
        rc = sb_share_init(&run->share, p->rank, p->ranks, weight,
            (uint64_t)run->threads, err);
    free(weight);
    return rc;
}

// --start-at ------------------------------------------------------------------

// The year 2255; nanoseconds have 63 bits.
#define SECONDS_MAX 9e9

// "Z", "+01:00" or "-0530": seconds east of UTC.
static bool parse_zone(const char *text, int *seconds)
{
    int hours, minutes, len = 0;

    *seconds = 0;
    if (strcmp(text, "Z") == 0)
        return true;
    if (*text != '+' && *text != '-')
        return false;
    if ((sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &len) != 2 ||
            len != 5) &&
        (sscanf(text + 1, "%2d%2d%n", &hours, &minutes, &len) != 2 || len != 4))
        return false;
    if (text[1 + len] || hours < 0 || hours > 18 || minutes < 0 || minutes > 59)
        return false;
    *seconds = (hours * 60 + minutes) * 60 * (*text == '-' ? -1 : 1);
    return true;
}

static bool parse_date(const char *text, int64_t *ns)
{
    struct tm tm = { 0 };
    double fraction = 0;
    int east;
    char *rest = strptime(text, "%Y-%m-%d", &tm);

    if (!rest || (*rest != 'T' && *rest != ' '))
        return false;
    rest = strptime(rest + 1, "%H:%M:%S", &tm);
    if (rest && *rest == '.')
        fraction = strtod(rest, &rest);
    if (!rest || !parse_zone(rest, &east))
        return false;
    const struct tm given = tm;
    int64_t seconds = (int64_t)timegm(&tm);

    // February 30 would become a day in March.
    if (tm.tm_mday != given.tm_mday || tm.tm_sec != given.tm_sec ||
        seconds < 0 || seconds >= (int64_t)SECONDS_MAX)
        return false;
    *ns = (seconds - east) * 1000000000 + (int64_t)(fraction * 1e9);
    return true;
}

static bool parse_seconds(const char *text, int64_t *ns)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !(seconds >= 0 && seconds < SECONDS_MAX))
        return false;
    // The resolution of a double is a quarter of a microsecond here.
    *ns = (int64_t)(seconds * 1e6) * 1000;
    return true;
}

int sb_ranks_start_at(
    const char *text, int64_t now_ns, int64_t *ns, struct sb_err *err)
{
    *ns = 0;
    if (text[0] == '\0')
        return 0;
    if (!parse_seconds(text, ns) && !parse_date(text, ns))
        return sb_err_set(err, SB_EUSAGE,
            "Invalid value for the 'start-at' option: '%.100s' "
            "(2026-11-23T12:00:00Z, or seconds since 1970)",
            text);
    if (*ns > now_ns)
        return 0;
    double late = (double)(now_ns - *ns) / 1e9;
    bool days = late >= 86400;
    return sb_err_set(err, SB_EUSAGE,
        "--start-at=%.100s is %.4g %s in the past by the clock of this host",
        text, days ? late / 86400 : late, days ? "days" : "s");
}
