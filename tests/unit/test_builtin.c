// SPDX-License-Identifier: GPL-2.0-or-later
//
// The built-in tests do as much work as their options say. Limits are in
// events or bytes, so nothing depends on time.
#include "builtin/builtin.h"

#include <stdlib.h>

#include "base/opts.h"
#include "check.h"

struct fixture {
    const struct sb_builtin *b;
    struct sb_opts *registry;
    void *opts;
    struct sb_run_opts run;
    struct sb_err err;
    struct sb_workload *w;
    struct sb_counters c;
    char *text;
    size_t size;
};

static void setup(struct fixture *f, const char *name, int threads,
    const char *const *setting)
{
    memset(f, 0, sizeof(*f));
    f->b = sb_builtin_find(name);
    f->registry = sb_opts_new();
    f->opts = calloc(1, f->b->opts_size);
    CHECK_INT(sb_opts_add(f->registry, f->b->opts, f->opts, &f->err), 0);
    for (; setting && setting[0]; setting += 2)
        CHECK_INT(sb_opts_set(f->registry, setting[0], setting[1],
                      SB_SRC_CMDLINE, &f->err),
            0);
    f->run = (struct sb_run_opts){ .threads = threads,
        .forced_shutdown_ns = -1,
        .thread_stack_size = 1 << 20,
        .thread_init_timeout = INT64_C(30000000000),
        .think_time = "",
        .shutdown_grace = INT64_C(10000000000) };
}

static void teardown(struct fixture *f)
{
    sb_opts_free(f->registry);
    free(f->opts);
    free(f->text);
}

static void on_final(void *data, const struct sb_report *r)
{
    struct fixture *f = data;
    FILE *out = open_memstream(&f->text, &f->size);

    f->c = r->snap->c;
    if (f->b->final)
        f->b->final(f->w, r, out);
    fclose(out);
}

static int run(struct fixture *f)
{
    const struct sb_dist_opts dist = { .seed = 7,
        .spec_iter = 12,
        .spec_pct = 1,
        .spec_res = 75,
        .pareto_h = 0.2,
        .zipfian_exp = 0.8 };
    const struct sb_listener l = { .data = f, .final = on_final };
    struct sb_random_shared random;
    struct sb_run_result res;
    int rc;

    sb_random_share(&random, &dist, 1, NULL);
    f->w = f->b->create(f->opts, &f->run, &f->err);
    if (!f->w)
        return f->err.code;
    rc = sb_run(f->w, &f->run, &random, &l, &res);
    f->err = res.err;
    f->b->destroy(f->w);
    return rc;
}

static void names(void)
{
    size_t n = 0;

    while (sb_builtins[n]) {
        const struct sb_builtin *b = sb_builtins[n++];

        CHECK(sb_builtin_find(b->name) == b);
        CHECK(b->title && b->opts && b->opts_size && b->create && b->destroy);
        b->destroy(NULL);
    }
    CHECK_INT(n, 5);
    CHECK_INT(sb_builtin_count, n);
    CHECK(sb_builtin_find("oltp_read_write") == NULL);
    CHECK(sb_builtin_find("") == NULL);
}

static void cpu(void)
{
    const char *const o[] = { "cpu-max-prime", "100", NULL };
    struct fixture f;

    setup(&f, "cpu", 2, o);
    f.run.events = 20;
    CHECK_INT(run(&f), 0);
    CHECK_INT(f.c.completed, 20);
    CHECK(strncmp(f.text, "CPU speed:\n    events per second: ", 34) == 0);
    teardown(&f);
}

static void memory_case(const char *oper, const char *scope, const char *access,
    uint64_t read, uint64_t written)
{
    const char *const o[] = { "memory-total-size", "67K", "memory-oper", oper,
        "memory-scope", scope, "memory-access-mode", access, NULL };
    struct fixture f;

    setup(&f, "memory", 3, o);
    CHECK_INT(run(&f), 0);
    CHECK_INT(f.c.completed, 67);
    CHECK_INT(f.c.bytes_read, read);
    CHECK_INT(f.c.bytes_written, written);
    CHECK(strncmp(f.text, "Total operations: 67 (", 22) == 0);
    CHECK((strstr(f.text, "\n0.07 MiB transferred (") != NULL) ==
          (read + written > 0));
    teardown(&f);
}

static void memory(void)
{
    memory_case("write", "global", "seq", 0, 67 * 1024);
    memory_case("read", "local", "rnd", 67 * 1024, 0);
    memory_case("none", "global", "seq", 0, 0);
}

static void memory_blocks(void)
{
    const char *const odd[] = { "memory-block-size", "1000", NULL };
    const char *const small[] = { "memory-block-size", "4", NULL };
    struct fixture f;

    setup(&f, "memory", 1, odd);
    CHECK_INT(run(&f), SB_EUSAGE);
    CHECK(strstr(f.err.msg, "memory-block-size: 1000") != NULL);
    teardown(&f);
    setup(&f, "memory", 1, small);
    CHECK_INT(run(&f), SB_EUSAGE);
    teardown(&f);
}

static void threads(void)
{
    const char *const o[] = { "thread-yields", "5", "thread-locks", "2", NULL };
    struct fixture f;

    setup(&f, "threads", 3, o);
    f.run.events = 50;
    CHECK_INT(run(&f), 0);
    CHECK_INT(f.c.completed, 50);
    teardown(&f);
}

static void mutex(void)
{
    const char *const o[] = { "mutex-num", "3", "mutex-locks", "100",
        "mutex-loops", "10", NULL };
    struct fixture f;

    setup(&f, "mutex", 4, o);
    CHECK_INT(run(&f), 0);
    CHECK_INT(f.c.completed, 4); // one event per thread
    teardown(&f);
}

CHECK_FILE
{
    RUN(names);
    RUN(cpu);
    RUN(memory);
    RUN(memory_blocks);
    RUN(threads);
    RUN(mutex);
    return check_done();
}
