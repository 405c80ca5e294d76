// SPDX-License-Identifier: GPL-2.0-or-later
#include "check_sweep.h"

// The values of a run as text.
static const char *values(struct fixture *f, unsigned run)
{
    static char text[200];
    struct sb_fact swept[SB_SWEEP_OPTIONS_MAX];

    sb_sweep_values(&f->plan, run, swept);
    sb_sweep_text(swept, f->plan.noptions, text, sizeof(text));
    return text;
}

static void all_combinations_are_measured_in_rounds(void)
{
    struct fixture f;

    CHECK_INT(
        fill(&f, ARGS("--sweep=threads=1,2", "--sweep=x=a,b,c", "--repeat=2")),
        0);
    CHECK_INT(f.plan.npoints, 6);
    CHECK_INT(f.plan.nruns, 12);
    CHECK_STR(values(&f, 0), "threads=1 x=a");
    CHECK_STR(values(&f, 1), "threads=1 x=b");
    CHECK_STR(values(&f, 3), "threads=2 x=a");
    CHECK_STR(values(&f, 11), "threads=2 x=c");
    for (unsigned i = 0; i < 12; i++)
        CHECK_INT(f.plan.order[i], i);
    empty(&f);
    CHECK_INT(fill(&f, ARGS("--repeat=3", "run")), 0);
    CHECK_INT(f.plan.nruns, 3);
    CHECK_STR(values(&f, 2), "");
    empty(&f);
}

static void a_random_order_has_every_point_in_every_round(void)
{
    struct fixture f;
    unsigned first[20];
    bool sorted = true, same = true;

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1..20:1", "--repeat=2",
                           "--sweep-order=random")),
        0);
    for (unsigned round = 0; round < 2; round++) {
        unsigned seen = 0;

        for (unsigned i = 0; i < 20; i++) {
            unsigned run = f.plan.order[20 * round + i];

            CHECK_INT(run / 20, round);
            seen |= 1u << (run % 20);
            sorted = sorted && run % 20 == i;
            same = same && (round == 0 || run % 20 == first[i]);
            first[i] = run % 20;
        }
        CHECK_INT(seen, (1u << 20) - 1);
    }
    CHECK(!sorted);
    CHECK(!same);
    empty(&f);
}

static void wrong_sweeps_are_named(void)
{
    static const struct {
        const char *a, *b, *message;
    } wrong[] = {
        { "--sweep=threads=1", "--sweep=threads=2",
            "--sweep: --threads is swept twice" },
        { "--sweep=threads=1", "--threads=4",
            "--threads is given, and it is also swept: use only one of them" },
        { "--sweep=num-threads=1", "--sweep=threads=2",
            "--sweep: --threads is swept twice" },
        { "--sweep=num-threads=1", "--threads=4",
            "--threads is given, and it is also swept: use only one of them" },
        { "--sweep=threads=1", "--num_threads=4",
            "--num-threads is given, and --threads is also swept: use only "
            "one of them" },
        { "--sweep=db-password=a", "--x",
            "--sweep: the value of --db-password is a secret, which cannot be "
            "swept" },
        { "--sweep=url=http://u:a@h/,http://u:b@h/", "--x",
            "--sweep: two values of --url differ only in a secret, which "
            "results do not show" },
        { "--sweep=script_option=1", "--script-option=4",
            "--script-option is given, and it is also swept: use only one of "
            "them" },
        { "--sweep=report=a", "--x", "--sweep: --report cannot be swept" },
        { "--sweep=sweep-pause=1", "--x",
            "--sweep: --sweep-pause cannot be swept" },
        { "--sweep=help=1", "--x", "--sweep: --help cannot be swept" },
        { "--sweep=threads=1..501:1", "--repeat=2",
            "--sweep: 1002 runs are too many; the maximum is 1000" },
    };
    struct fixture f;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CHECK(fill(&f, ARGS((char *)wrong[i].a, (char *)wrong[i].b)) < 0);
        CHECK_STR(f.err.msg, wrong[i].message);
        empty(&f);
    }
    CHECK_INT(fill(&f, ARGS("--sweep=a=1", "--sweep=b=1", "--sweep=c=1",
                           "--sweep=d=1", "--sweep=e=1", "--sweep=f=1",
                           "--sweep=g=1", "--sweep=h=1", "--sweep=i=1")),
        SB_ERANGE);
    empty(&f);
}

static bool wanted(char **args)
{
    struct fixture f;
    bool yes;

    fill(&f, args);
    yes = sb_sweep_wanted(f.opts);
    empty(&f);
    return yes;
}

static void a_sweep_must_be_asked_for(void)
{
    CHECK(!wanted(ARGS("run")));
    CHECK(!wanted(ARGS("--repeat=1", "run")));
    CHECK(!wanted(ARGS("--sweep-pause=1", "run")));
    CHECK(wanted(ARGS("--repeat=2", "run")));
    CHECK(wanted(ARGS("--sweep=threads=1", "run")));
}

// The result of continuing a sweep with other arguments.
static const char *continued(char **before, char **now)
{
    static char text[500];
    struct fixture a, b;
    struct sb_err err = { 0 };

    CHECK_INT(fill(&a, before), 0);
    CHECK_INT(fill(&b, now), 0);
    a.plan.test = sb_opts_positional(a.opts, 0);
    b.plan.test = sb_opts_positional(b.opts, 0);
    json_t *kept = sb_sweep_plan_json(&a.plan, a.opts);
    json_t *new = sb_sweep_plan_json(&b.plan, b.opts);

    b.plan.seed = 43;
    if (sb_sweep_plan_continue(&b.plan, kept, new, &err) == 0) {
        CHECK_INT(b.plan.seed, 42);
        for (unsigned i = 0; i < a.plan.nruns; i++)
            CHECK_INT(b.plan.order[i], a.plan.order[i]);
    }
    snprintf(text, sizeof(text), "%s", err.msg);
    json_decref(kept);
    json_decref(new);
    empty(&a);
    empty(&b);
    return text;
}

static void only_the_same_sweep_can_be_continued(void)
{
    CHECK_STR(continued(ARGS("--sweep=threads=1..9:1", "--x=1",
                            "--sweep-order=random", "cpu", "run"),
                  ARGS("--x=1", "--sweep=threads=1..9:1", "--sweep-resume",
                      "--report=json=f", "cpu", "run")),
        "");
    CHECK_STR(continued(ARGS("--sweep=threads=1,2", "cpu", "run"),
                  ARGS("--sweep=threads=1,3", "cpu", "run")),
        "--sweep differs from that of the interrupted sweep");
    CHECK_STR(continued(ARGS("--sweep=threads=1,2", "cpu", "run"),
                  ARGS("--sweep=threads=1,2", "memory", "run")),
        "the test differs from that of the interrupted sweep");
    CHECK_STR(continued(ARGS("--sweep=threads=1,2", "cpu", "run"),
                  ARGS("--sweep=threads=1,2", "--repeat=2", "cpu", "run")),
        "--repeat differs from that of the interrupted sweep");
    CHECK_STR(continued(ARGS("--sweep=threads=1,2", "--x=1", "cpu", "run"),
                  ARGS("--sweep=threads=1,2", "--x=2", "cpu", "run")),
        "--x differs from that of the interrupted sweep");
    CHECK_STR(continued(ARGS("--sweep=threads=1,2", "cpu", "run"),
                  ARGS("--sweep=threads=1,2", "--x=2", "cpu", "run")),
        "--x differs from that of the interrupted sweep");
}

static void kept_plans_have_no_secrets(void)
{
    struct fixture f;

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1", "--db-password=hidden")), 0);
    json_t *kept = sb_sweep_plan_json(&f.plan, f.opts);
    char *text = json_dumps(kept, 0);

    CHECK(strstr(text, "db-password") != NULL);
    CHECK(strstr(text, "hidden") == NULL);
    free(text);
    json_decref(kept);
    empty(&f);
}

static void secrets_are_used_and_not_shown(void)
{
    struct fixture f;
    struct sb_fact raw[SB_SWEEP_OPTIONS_MAX];

    CHECK_INT(
        fill(&f, ARGS("--sweep=url=http://u:hidden@a/,http://u:pw@b/")), 0);
    CHECK_STR(values(&f, 0), "url=http://u:***@a/");
    sb_sweep_raw_values(&f.plan, 0, raw);
    CHECK_STR(raw[0].value, "http://u:hidden@a/");
    sb_sweep_raw_values(&f.plan, 1, raw);
    CHECK_STR(raw[0].value, "http://u:pw@b/");
    json_t *kept = sb_sweep_plan_json(&f.plan, f.opts);
    char *text = json_dumps(kept, 0);

    CHECK(strstr(text, "hidden") == NULL);
    free(text);
    json_decref(kept);
    empty(&f);
}

static void an_alias_stands_for_its_option(void)
{
    struct fixture f;

    CHECK_INT(fill(&f, ARGS("--sweep=num_threads=1,2")), 0);
    CHECK_STR(values(&f, 1), "threads=2");
    empty(&f);
}

CHECK_FILE
{
    RUN(all_combinations_are_measured_in_rounds);
    RUN(a_random_order_has_every_point_in_every_round);
    RUN(wrong_sweeps_are_named);
    RUN(a_sweep_must_be_asked_for);
    RUN(only_the_same_sweep_can_be_continued);
    RUN(kept_plans_have_no_secrets);
    RUN(secrets_are_used_and_not_shown);
    RUN(an_alias_stands_for_its_option);
    return check_done();
}
