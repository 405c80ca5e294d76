// SPDX-License-Identifier: GPL-2.0-or-later
//
// memory: each event reads or writes a block word by word, until the total
// size is reached.
#include "builtin/builtin.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SCOPE_GLOBAL, SCOPE_LOCAL };
enum { OPER_READ, OPER_WRITE, OPER_NONE };
enum { ACCESS_SEQ, ACCESS_RND };

static const char *const scopes[] = { "global", "local", NULL };
static const char *const opers[] = { "read", "write", "none", NULL };
static const char *const accesses[] = { "seq", "rnd", NULL };

struct memory_opts {
    int64_t block, total;
    int scope, oper, access;
    bool hugetlb;
};

// Relaxed atomics, because threads write to the same words of a global block.
typedef _Atomic size_t word;

struct memory {
    struct sb_workload w;
    const struct memory_opts *o;
    const struct sb_run_opts *run;
    word *block; // SCOPE_GLOBAL
};

#define OPT(field) offsetof(struct memory_opts, field)

static const struct sb_opt memory_options[] = {
    { .name = "memory-block-size",
        .type = SB_OPT_SIZE,
        .offset = OPT(block),
        .def = "1K",
        .help = "size of memory block for test" },
    { .name = "memory-total-size",
        .type = SB_OPT_SIZE,
        .offset = OPT(total),
        .def = "100G",
        .min = 0,
        .max = 9e18,
        .help = "total size of data to transfer, 0 for no limit" },
    { .name = "memory-scope",
        .type = SB_OPT_ENUM,
        .offset = OPT(scope),
        .def = "global",
        .choices = scopes,
        .help = "memory access scope" },
    { .name = "memory-hugetlb",
        .type = SB_OPT_BOOL,
        .offset = OPT(hugetlb),
        .def = "off",
        .help = "allocate memory from HugeTLB pool" },
    { .name = "memory-oper",
        .type = SB_OPT_ENUM,
        .offset = OPT(oper),
        .def = "write",
        .choices = opers,
        .help = "type of memory operations" },
    { .name = "memory-access-mode",
        .type = SB_OPT_ENUM,
        .offset = OPT(access),
        .def = "seq",
        .choices = accesses,
        .help = "memory access mode" },
    { .name = NULL },
};

static const struct sb_opt_table memory_opt_table = {
    .title = "memory options",
    .opts = memory_options,
};

// Huge pages can only be mapped and unmapped as a whole.
static size_t block_length(const struct memory_opts *o)
{
    size_t page = o->hugetlb ? 2097152 : 1;

    return ((size_t)o->block + page - 1) / page * page;
}

static word *block_new(const struct memory *t, struct sb_err *err)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    void *p;

#ifdef MAP_HUGETLB
    if (t->o->hugetlb)
        flags |= MAP_HUGETLB;
#else
    if (t->o->hugetlb) {
        sb_err_set(err, SB_EUNSUPPORTED,
            "memory-hugetlb is not supported on this system");
        return NULL;
    }
#endif
    p = mmap(NULL, block_length(t->o), PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p != MAP_FAILED)
        return p;
    sb_err_set(err, SB_ENOMEM, "Failed to allocate %" PRId64 " bytes%s: %s",
        t->o->block, t->o->hugetlb ? " from HugeTLB memory" : "",
        strerror(errno));
    return NULL;
}

static void block_free(const struct memory *t, word *block)
{
    if (block)
        munmap((void *)block, block_length(t->o));
}

static size_t read_seq(const word *block, size_t n)
{
    size_t last = 0;

    for (size_t i = 0; i < n; i++)
        last = atomic_load_explicit(&block[i], memory_order_relaxed);
    return last;
}

static void write_seq(word *block, size_t n, size_t value)
{
    for (size_t i = 0; i < n; i++)
        atomic_store_explicit(&block[i], value, memory_order_relaxed);
}

// n is a power of two.
static size_t read_rnd(const word *block, size_t n, struct sb_rng *rng)
{
    size_t last = 0;

    for (size_t i = 0; i < n; i++)
        last = atomic_load_explicit(
            &block[sb_rng_next(rng) & (n - 1)], memory_order_relaxed);
    return last;
}

static void write_rnd(word *block, size_t n, size_t value, struct sb_rng *rng)
{
    for (size_t i = 0; i < n; i++)
        atomic_store_explicit(
            &block[sb_rng_next(rng) & (n - 1)], value, memory_order_relaxed);
}

static void memory_event(
    const struct memory_opts *o, word *block, size_t value, struct sb_rng *rng)
{
    size_t n = (size_t)o->block / sizeof(word);

    if (o->oper == OPER_READ) {
        if (o->access == ACCESS_SEQ)
            read_seq(block, n);
        else
            read_rnd(block, n, rng);
    } else if (o->oper == OPER_WRITE) {
        if (o->access == ACCESS_SEQ)
            write_seq(block, n, value);
        else
            write_rnd(block, n, value, rng);
    }
}

// Each user has its own share of the total, so that threads share no counter.
static int64_t memory_share_of(const struct memory *t, unsigned id)
{
    int64_t n = t->o->total / t->o->block, threads = t->run->threads;

    assert((int64_t)id < threads);
    if (t->o->total == 0)
        return INT64_MAX;
    return n / threads + ((int64_t)id < n % threads);
}

static int memory_user_init(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct memory *t = w->data;

    u->data = t->block;
    if (t->o->scope == SCOPE_LOCAL)
        u->data = block_new(t, err);
    return u->data ? 0 : SB_ENOMEM;
}

static int memory_user_run(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    const struct memory *t = w->data;
    const struct memory_opts *o = t->o;
    int64_t left = memory_share_of(t, u->id);

    // Random words are chosen by a mask.
    assert(u->data && (o->block & (o->block - 1)) == 0);
    for (; left > 0 && sb_user_next(u) == 1; left--) {
        memory_event(o, u->data, (size_t)left, &u->random.rng);
        if (o->oper == OPER_READ)
            sb_tally_add(&u->rec->tally.bytes_read, (uint64_t)o->block);
        else if (o->oper == OPER_WRITE)
            sb_tally_add(&u->rec->tally.bytes_written, (uint64_t)o->block);
    }
    sb_user_end(u);
    return 0;
}

static void memory_user_free(struct sb_workload *w, struct sb_user *u)
{
    const struct memory *t = w->data;

    if (t->o->scope == SCOPE_LOCAL)
        block_free(t, u->data);
    u->data = NULL;
}

static const struct sb_workload_ops memory_ops = {
    .user_init = memory_user_init,
    .user_run = memory_user_run,
    .user_free = memory_user_free,
};

static void memory_destroy(struct sb_workload *w)
{
    struct memory *t = w ? w->data : NULL;

    if (!t)
        return;
    block_free(t, t->block);
    free(t);
}

static struct sb_workload *memory_create(
    const void *opts, const struct sb_run_opts *run, struct sb_err *err)
{
    const struct memory_opts *o = opts;
    struct memory *t;

    if (o->block < (int64_t)sizeof(word) || (o->block & (o->block - 1))) {
        sb_err_set(err, SB_EUSAGE,
            "Invalid value for memory-block-size: %" PRId64
            " (a power of two, at least %zu)",
            o->block, sizeof(word));
        return NULL;
    }
    if (o->total && o->block > o->total) {
        sb_err_set(err, SB_EUSAGE,
            "--memory-block-size=%" PRId64
            " is greater than --memory-total-size=%" PRId64
            ": no block would be transferred",
            o->block, o->total);
        return NULL;
    }
    t = calloc(1, sizeof(*t));
    if (!t) {
        sb_err_set(err, SB_ENOMEM, "memory: out of memory");
        return NULL;
    }
    t->w =
        (struct sb_workload){ .ops = &memory_ops, .data = t, .blocks = true };
    t->o = o;
    t->run = run;
    if (o->scope == SCOPE_GLOBAL)
        t->block = block_new(t, err);
    if (o->scope == SCOPE_GLOBAL && !t->block) {
        memory_destroy(&t->w);
        return NULL;
    }
    return &t->w;
}

static bool memory_ends(const void *opts)
{
    const struct memory_opts *o = opts;

    return o->total > 0;
}

static void memory_describe(struct sb_workload *w, FILE *out)
{
    const struct memory *t = w->data;

    fprintf(out,
        "Running memory speed test with the following options:\n"
        "  block size: %" PRId64 "KiB\n  total size: %" PRId64 "MiB\n"
        "  operation: %s\n  scope: %s\n\n",
        t->o->block / 1024, t->o->total / 1048576, opers[t->o->oper],
        scopes[t->o->scope]);
}

static double mebibytes(const struct sb_report *r)
{
    const struct sb_counters *c = &r->snap->c;

    return (double)(c->bytes_read + c->bytes_written) / 1048576;
}

static void memory_interval(
    void *w, const struct sb_report *r, double pct, FILE *out)
{
    double seconds = r->interval_s > 0 ? r->interval_s : 1;

    fprintf(out, "%4.2f MiB/sec\n", mebibytes(r) / seconds);
}

static void memory_final(void *w, const struct sb_report *r, FILE *out)
{
    const struct memory *t = ((struct sb_workload *)w)->data;
    uint64_t n = r->snap->c.completed;
    double seconds = r->interval_s > 0 ? r->interval_s : 1;

    fprintf(out, "Total operations: %" PRIu64 " (%8.2f per second)\n\n", n,
        sb__bench_rate(r, n));
    if (t->o->oper != OPER_NONE)
        fprintf(out, "%4.2f MiB transferred (%4.2f MiB/sec)\n\n", mebibytes(r),
            mebibytes(r) / seconds);
}

const struct sb_builtin sb__bench_memory = {
    .name = "memory",
    .title = "Memory functions speed test",
    .opts = &memory_opt_table,
    .opts_size = sizeof(struct memory_opts),
    .own_limit = true,
    .ends = memory_ends,
    .create = memory_create,
    .destroy = memory_destroy,
    .describe = memory_describe,
    .interval = memory_interval,
    .final = memory_final,
};
