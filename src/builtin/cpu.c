// SPDX-License-Identifier: GPL-2.0-or-later
//
// cpu: counts the primes up to a limit by trial division in every event.
#include "builtin/builtin.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct cpu_opts {
    int64_t max_prime;
};

struct cpu {
    struct sb_workload w;
    const struct cpu_opts *o;
};

static const struct sb_opt cpu_options[] = {
    { .name = "cpu-max-prime",
        .type = SB_OPT_INT,
        .offset = offsetof(struct cpu_opts, max_prime),
        .def = "10000",
        .min = 1,
        .max = 4e18,
        .help = "upper limit for primes generator" },
    { .name = NULL },
};

static const struct sb_opt_table cpu_opt_table = {
    .title = "cpu options",
    .opts = cpu_options,
};

static uint64_t count_primes(uint64_t limit)
{
    uint64_t n = 0;

    for (uint64_t c = 3; c < limit; c++) {
        uint64_t top = (uint64_t)sqrt((double)c), d = 2;

        while (d <= top && c % d != 0)
            d++;
        n += d > top;
    }
    return n;
}

static int cpu_user_run(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    const struct cpu *t = w->data;
    // volatile: the compiler would otherwise remove the computation.
    volatile uint64_t primes;

    while (sb_user_next(u) == 1)
        primes = count_primes((uint64_t)t->o->max_prime);
    (void)primes;
    return 0;
}

static const struct sb_workload_ops cpu_ops = { .user_run = cpu_user_run };

static struct sb_workload *cpu_create(
    const void *opts, const struct sb_run_opts *run, struct sb_err *err)
{
    struct cpu *t = calloc(1, sizeof(*t));

    if (!t) {
        sb_err_set(err, SB_ENOMEM, "cpu: out of memory");
        return NULL;
    }
    t->w = (struct sb_workload){ .ops = &cpu_ops, .data = t, .blocks = true };
    t->o = opts;
    return &t->w;
}

static void cpu_destroy(struct sb_workload *w)
{
    if (w)
        free(w->data);
}

static void cpu_describe(struct sb_workload *w, FILE *out)
{
    const struct cpu *t = w->data;

    fprintf(out, "Prime numbers limit: %" PRId64 "\n\n", t->o->max_prime);
}

static void cpu_final(void *w, const struct sb_report *r, FILE *out)
{
    fprintf(out, "CPU speed:\n    events per second: %8.2f\n",
        sb__bench_rate(r, r->snap->c.completed));
}

const struct sb_builtin sb__bench_cpu = {
    .name = "cpu",
    .title = "CPU performance test",
    .opts = &cpu_opt_table,
    .opts_size = sizeof(struct cpu_opts),
    .create = cpu_create,
    .destroy = cpu_destroy,
    .describe = cpu_describe,
    .final = cpu_final,
};
