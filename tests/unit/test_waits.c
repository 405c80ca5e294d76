// SPDX-License-Identifier: GPL-2.0-or-later
//
// How often an interval holds the true mean is simulated. Not with tsan: one
// thread.
#include "out/waits.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "simulate.h"

#define MS UINT64_C(1000000)

static void seen(
    struct sb_waits *w, int n, const char *wait_class, const char *operation)
{
    for (int i = 0; i < n; i++)
        sb_waits_seen(w, wait_class, "", operation);
}

// A sample at this ms with sessions that wait for locks, and that run.
static void sample(struct sb_waits *w, uint64_t ms, int locks, int runs)
{
    seen(w, locks, "Lock", "update");
    seen(w, runs, "CPU", "select");
    sb_waits_end(w, ms * MS);
}

static const struct sb_waits_row *row(const struct sb_waits_figures *f,
    const char *wait_class, const char *event, const char *operation)
{
    for (unsigned i = 0; i < f->nrows; i++) {
        const char *has[] = { f->row[i].wait_class, f->row[i].event,
            f->row[i].operation };
        const char *wanted[] = { wait_class, event, operation };
        int equal = 0;

        for (int k = 0; k < 3; k++)
            equal += has[k] == wanted[k] ||
                     (has[k] && wanted[k] && strcmp(has[k], wanted[k]) == 0);
        if (equal == 3)
            return &f->row[i];
    }
    return NULL;
}

static void test_means(void)
{
    struct sb_waits *w = sb_waits_new();
    struct sb_waits_figures f;

    for (uint64_t i = 0; i < 40; i++)
        sample(w, 100 * i, 3, i % 2 ? 2 : 0);
    sb_waits_finish(w, UINT64_MAX);
    CHECK(sb_waits_figures(w, &f));
    CHECK_INT(f.samples, 40);
    CHECK_NEAR(f.seconds, 3.9, 1e-9);
    CHECK_NEAR(f.all.sessions, 4, 1e-9);
    CHECK_NEAR(row(&f, "Lock", NULL, NULL)->sessions, 3, 1e-9);
    CHECK_NEAR(row(&f, "Lock", NULL, NULL)->sessions_within, 0, 1e-6);
    CHECK_NEAR(row(&f, "Lock", NULL, NULL)->share, 0.75, 1e-9);
    // The share of a number that does not change depends on the others.
    CHECK(row(&f, "Lock", NULL, NULL)->share_within > 0);
    CHECK_NEAR(row(&f, "Lock", "", NULL)->sessions, 3, 1e-9);
    CHECK_NEAR(row(&f, NULL, NULL, "select")->sessions, 1, 1e-9);
    CHECK_NEAR(row(&f, "CPU", NULL, "select")->share, 0.25, 1e-9);
    CHECK(!row(&f, "CPU", NULL, "update"));
    CHECK_STR(f.row[0].wait_class, "Lock"); // the most sessions first
    sb_waits_figures_done(&f);
    sb_waits_free(w);
}

// Only samples of the measured part count.
static void test_part(void)
{
    struct sb_waits *w = sb_waits_new();
    struct sb_waits_figures f;

    for (uint64_t i = 0; i < 50; i++)
        sample(w, i, 1, 0);
    sample(w, 60, 0, 1); // after the start, but not sampled for it
    sb_waits_restart(w, 60 * MS);
    for (uint64_t i = 61; i < 100; i++)
        sample(w, i, 0, 1);
    for (uint64_t i = 100; i < 120; i++)
        sample(w, i, 5, 0);
    sb_waits_finish(w, 99 * MS);
    CHECK(sb_waits_figures(w, &f));
    CHECK_INT(f.samples, 40);
    CHECK_NEAR(f.all.sessions, 1, 1e-9);
    CHECK(!row(&f, "Lock", NULL, NULL));
    sb_waits_figures_done(&f);
    sb_waits_free(w);
}

static void test_dropped(void)
{
    struct sb_waits *w = sb_waits_new();
    struct sb_waits_figures f;

    seen(w, 3, "Lock", "update");
    sb_waits_drop(w);
    sample(w, 1, 0, 1);
    sb_waits_finish(w, UINT64_MAX);
    CHECK(sb_waits_figures(w, &f));
    CHECK_INT(f.samples, 1);
    CHECK_NEAR(f.all.sessions, 1, 1e-9);
    sb_waits_figures_done(&f);
    sb_waits_free(w);
}

static void test_no_samples(void)
{
    struct sb_waits *w = sb_waits_new();
    struct sb_waits_figures f;

    sample(w, 10, 1, 1);
    sb_waits_finish(w, 9 * MS);
    CHECK(sb_waits_figures(w, &f));
    CHECK_INT(f.samples, 0);
    CHECK_INT(f.nrows, 0);
    sb_waits_figures_done(&f);
    sb_waits_free(w);
}

// Long runs: batches are joined, and nothing is lost.
static void test_long(void)
{
    struct sb_waits *w = sb_waits_new();
    struct sb_waits_figures f;

    for (uint64_t i = 0; i < 100000; i++)
        sample(w, i, i % 4 == 0, 1);
    sb_waits_finish(w, UINT64_MAX);
    CHECK(sb_waits_figures(w, &f));
    CHECK_INT(f.samples, 100000);
    CHECK_NEAR(row(&f, "Lock", NULL, NULL)->sessions, 0.25, 1e-9);
    CHECK_NEAR(row(&f, "CPU", NULL, NULL)->share, 0.8, 1e-9);
    CHECK_NEAR(row(&f, "CPU", NULL, NULL)->share_within, 0, 1e-3);
    sb_waits_figures_done(&f);
    sb_waits_free(w);
}

// More kinds than there is room for keep their classes.
static void test_many(void)
{
    struct sb_waits *w = sb_waits_new();
    struct sb_waits_figures f;

    for (int i = 0; i < 1000; i++) {
        char op[16];

        snprintf(op, sizeof(op), "op%d", i);
        seen(w, 1, i % 2 ? "Lock" : "CPU", op);
    }
    sb_waits_end(w, 1);
    sb_waits_finish(w, UINT64_MAX);
    CHECK(sb_waits_figures(w, &f));
    CHECK_NEAR(row(&f, "Lock", NULL, NULL)->sessions, 500, 1e-9);
    CHECK_NEAR(row(&f, "CPU", NULL, NULL)->sessions, 500, 1e-9);
    CHECK_NEAR(f.all.sessions, 1000, 1e-9);
    CHECK(row(&f, NULL, NULL, SB_WAITS_REST)->sessions > 700);
    sb_waits_figures_done(&f);
    sb_waits_free(w);
}

static double locks, cpus;

static void take(void *arg, const char *wait_class, double sessions)
{
    (*(int *)arg)++;
    *(strcmp(wait_class, "Lock") == 0 ? &locks : &cpus) = sessions;
}

static void test_intervals(void)
{
    struct sb_waits *w = sb_waits_new();
    int visits = 0;

    sb_waits_interval(w, take, &visits);
    CHECK_INT(visits, 0);
    sample(w, 1, 2, 1);
    sample(w, 2, 3, 0);
    sb_waits_interval(w, take, &visits);
    CHECK_INT(visits, 2);
    CHECK_NEAR(locks, 2.5, 1e-9);
    CHECK_NEAR(cpus, 0.5, 1e-9);
    sb_waits_interval(w, take, &visits);
    CHECK_INT(visits, 2);
    sample(w, 3, 0, 1);
    sb_waits_interval(w, take, &visits);
    CHECK_INT(visits, 4); // a class that was seen before has a value: 0
    CHECK_NEAR(locks, 0, 1e-9);
    sb_waits_free(w);
}

// Whether the interval of a share holds the true one, 0.5: of 8 sessions that
// all wait or all run, in spells of some samples. Each sample says as much as
// one session, and less than if samples were independent.
static bool holds(uint64_t seed)
{
    struct sb_waits *w = sb_waits_new();
    struct sb_waits_figures f;
    double level[300];
    struct sb_rng r;

    sb_rng_init(&r, seed, 0);
    sim_ar1(&r, SIM_NORMAL, 0.6, level, 300);
    for (uint64_t i = 0; i < 300; i++)
        sample(w, 100 * i, level[i] > 0 ? 8 : 0, level[i] > 0 ? 0 : 8);
    sb_waits_finish(w, UINT64_MAX);
    CHECK(sb_waits_figures(w, &f));
    const struct sb_waits_row *x = row(&f, "Lock", NULL, NULL);
    bool held = fabs(x->share - 0.5) <= x->share_within;

    sb_waits_figures_done(&f);
    sb_waits_free(w);
    return held;
}

static void test_simulated(void)
{
    int n = 0;

    for (uint64_t seed = 0; seed < 1000; seed++)
        n += holds(seed);
    if (getenv("SHOW"))
        printf("# %d of 1000 intervals hold the true share\n", n);
    CHECK(n >= 910 && n <= 980);
}

// Text of figures that were read from a result file.
static void test_document(void)
{
    struct sb_waits *w = sb_waits_new();
    struct sb_waits_figures f, again;
    struct sb_waits_facts facts = { .address = "127.0.0.1:5432",
        .note = "all sessions of this user",
        .why = "",
        .figures = &f };
    char *text[2] = { NULL, NULL };
    size_t size;

    for (uint64_t i = 0; i < 20; i++)
        sample(w, 100 * i, 3, (int)(i % 2));
    sb_waits_finish(w, UINT64_MAX);
    CHECK(sb_waits_figures(w, &f));
    FILE *out = open_memstream(&text[0], &size);
    sb_waits_text(&facts, true, out);
    fclose(out);
    CHECK(strstr(text[0], "Waits of the server 127.0.0.1:5432:\n"));
    CHECK(strstr(text[0], "20 samples in 1.9 s"));
    CHECK(strstr(text[0], "        Lock           "));
    CHECK(strstr(text[0], "    3.00 ±0.00"));
    CHECK(strstr(text[0], "    all sessions of this user\n"));
    json_t *json = sb_waits_json(&facts);
    CHECK(sb_waits_read(json, &facts, &again));
    out = open_memstream(&text[1], &size);
    sb_waits_text(&facts, true, out);
    fclose(out);
    CHECK_STR(text[1], text[0]);
    sb_waits_figures_done(&again);
    sb_waits_figures_done(&f);
    json_decref(json);
    sb_waits_free(w);
    free(text[0]);
    free(text[1]);
}

static void test_unknown(void)
{
    const struct sb_waits_figures f = { 0 };
    const struct sb_waits_facts facts = {
        .address = "h", .note = "", .why = "no\x1b rights", .figures = &f
    };
    struct sb_waits_figures again;
    struct sb_waits_facts read;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    sb_waits_text(&facts, false, out);
    fclose(out);
    CHECK_STR(text, "Waits of the server:\n    no\\x1b rights\n\n");
    free(text);
    json_t *json = sb_waits_json(&facts);
    CHECK(!json_object_get(json, "samples"));
    CHECK(sb_waits_read(json, &read, &again));
    CHECK_STR(read.why, facts.why);
    sb_waits_figures_done(&again);
    json_decref(json);
}

CHECK_FILE
{
    RUN(test_means);
    RUN(test_part);
    RUN(test_dropped);
    RUN(test_no_samples);
    RUN(test_long);
    RUN(test_many);
    RUN(test_intervals);
    RUN(test_simulated);
    RUN(test_document);
    RUN(test_unknown);
    return check_done();
}
