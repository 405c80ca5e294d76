// SPDX-License-Identifier: GPL-2.0-or-later
#include "ranks/place.h"

#include "check.h"

static char *const no_env[] = { "HOME=/", NULL };

static struct sb_rank_opts given(int64_t rank, const char *ranks)
{
    return (
        struct sb_rank_opts){ .rank = rank, .ranks = ranks, .start_at = "" };
}

static const char *fails(
    int64_t rank, const char *ranks, char *const *env, struct sb_err *err)
{
    struct sb_rank_opts o = given(rank, ranks);
    struct sb_rank_place p;

    *err = (struct sb_err){ 0 };
    CHECK_INT(sb_ranks_place(&p, &o, env, err), SB_EUSAGE);
    return err->msg;
}

static void check_place(int64_t rank, const char *ranks, char *const *env,
    unsigned want, unsigned of)
{
    struct sb_rank_opts o = given(rank, ranks);
    struct sb_rank_place p;
    struct sb_err err = { 0 };

    CHECK_INT(sb_ranks_place(&p, &o, env, &err), 0);
    CHECK_INT(p.rank, want);
    CHECK_INT(p.ranks, of);
}

// Variables of a launcher count only with --ranks=auto.
static void places_are_found(void)
{
    char *const slurm[] = { "SLURM_NTASKS=12", "A=", "SLURM_PROCID=3", NULL };
    char *const open_mpi[] = { "SLURM_NTASKS=12", "SLURM_PROCID=3",
        "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=1", NULL };
    char *const mpich[] = { "PMI_SIZE=8", "PMI_RANK=7", NULL };

    check_place(-1, "", slurm, 0, 0);
    check_place(2, "5", slurm, 2, 5);
    check_place(0, "1", no_env, 0, 1);
    check_place(-1, "auto", slurm, 3, 12);
    check_place(-1, "auto", open_mpi, 1, 4);
    check_place(-1, "auto", mpich, 7, 8);
}

static void wrong_places_are_named(void)
{
    char *const wrong[] = { "PMI_SIZE=8", "PMI_RANK=8", NULL };
    char *const text[] = { "PMI_SIZE=", "PMI_RANK=0", NULL };
    char *const job[] = { "JOB_COMPLETION_INDEX=1", NULL };
    struct sb_err err;

    CHECK(strstr(fails(1, "", no_env, &err), "--rank=1 requires --ranks"));
    CHECK(strstr(fails(-1, "3", no_env, &err), "--ranks=3 requires --rank"));
    CHECK(strstr(fails(3, "3", no_env, &err), "numbered from 0 to 2"));
    CHECK(strstr(fails(0, "0", no_env, &err), "'ranks' option: '0'"));
    CHECK(strstr(fails(0, "x", no_env, &err), "'ranks' option: 'x'"));
    CHECK(strstr(fails(0, "100001", no_env, &err), "1 to 100000"));
    CHECK(strstr(fails(1, "auto", no_env, &err), "remove --rank=1"));
    CHECK(strstr(fails(-1, "auto", no_env, &err), "no variables"));
    CHECK(strstr(fails(-1, "auto", wrong, &err), "PMI_RANK=8"));
    CHECK(strstr(fails(-1, "auto", text, &err), "PMI_SIZE= "));
    CHECK(strstr(fails(-1, "auto", job, &err), "JOB_COMPLETION_INDEX"));
}

static void check_start(const char *text, int64_t want)
{
    struct sb_err err = { 0 };
    int64_t ns;

    CHECK_INT(sb_ranks_start_at(text, 1, &ns, &err), 0);
    CHECK_INT(ns, want);
}

#define NS INT64_C(1000000000)

static void starts_are_parsed(void)
{
    check_start("", 0);
    check_start("1795348800", 1795348800 * NS);
    check_start("1795348800.25", 1795348800 * NS + NS / 4);
    check_start("2026-11-23T12:00:00Z", 1795435200 * NS);
    check_start("2026-11-23 12:00:00.5Z", 1795435200 * NS + NS / 2);
    check_start("2026-11-23T12:00:00+01:30", (1795435200 - 5400) * NS);
    check_start("2026-11-23T12:00:00-0200", (1795435200 + 7200) * NS);
}

static void wrong_starts_are_named(void)
{
    static const char *const texts[] = { "x", "12:00", "2026-11-23",
        "2026-11-23T12:00:00", "2026-11-23T12:00:00+1", "1e10", "-5",
        "2026-11-23T12:00:00Zx", "nan", "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z", "2926-01-01T00:00:00Z" };
    struct sb_err err;
    int64_t ns;

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        CHECK_INT(sb_ranks_start_at(texts[i], 1, &ns, &err), SB_EUSAGE);
        CHECK(strstr(err.msg, "'start-at' option"));
    }
    CHECK_INT(sb_ranks_start_at("100", 105 * NS, &ns, &err), SB_EUSAGE);
    CHECK(strstr(err.msg, "--start-at=100 is 5 s in the past"));
    CHECK_INT(
        sb_ranks_start_at("100", (100 + 3 * 86400) * NS, &ns, &err), SB_EUSAGE);
    CHECK(strstr(err.msg, "--start-at=100 is 3 days in the past"));
}

// Without --threads, each rank has one user, or as many as asked for.
static void threads_are_totals(void)
{
    const struct sb_rank_place four = { 1, 4 }, none = { 0, 0 };
    struct sb_rank_opts o = given(1, "4");
    struct sb_run_opts run = { .threads = 1 };
    struct sb_err err;

    CHECK_INT(sb_ranks_threads(&run, &o, &four, false, &err), 0);
    CHECK_INT(run.threads, 4);
    run.threads = 10;
    CHECK_INT(sb_ranks_threads(&run, &o, &four, true, &err), 0);
    CHECK_INT(run.threads, 10);
    run.threads = 16; // the default of a script
    CHECK_INT(sb_ranks_threads(&run, &o, &four, false, &err), 0);
    CHECK_INT(run.threads, 16);
    o.threads_per_rank = 8;
    CHECK_INT(sb_ranks_threads(&run, &o, &four, false, &err), 0);
    CHECK_INT(run.threads, 32);
    CHECK_INT(sb_ranks_threads(&run, &o, &four, true, &err), SB_EUSAGE);
    CHECK_INT(sb_ranks_threads(&run, &o, &none, false, &err), SB_EUSAGE);
    o.weights.count = 4;
    CHECK_INT(sb_ranks_threads(&run, &o, &four, false, &err), SB_EUSAGE);
    o.weights.count = 0;
    o.threads_per_rank = 1000000;
    CHECK_INT(sb_ranks_threads(&run, &o, &four, false, &err), SB_ERANGE);
}

CHECK_FILE
{
    RUN(places_are_found);
    RUN(wrong_places_are_named);
    RUN(starts_are_parsed);
    RUN(wrong_starts_are_named);
    RUN(threads_are_totals);
    return check_done();
}
