// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "check_sweep.h"

// Parses and returns the values separated by blanks, or the error.
static const char *list_values(const char *text)
{
    static char out[1024];
    struct sb_sweep_list l;
    struct sb_err err = { 0 };

    out[0] = '\0';
    if (sb_sweep_list_parse(&l, text, &err)) {
        snprintf(out, sizeof(out), "%s", err.msg);
    } else {
        for (unsigned i = 0; i < l.n; i++) {
            size_t at = strlen(out);

            snprintf(
                out + at, sizeof(out) - at, "%s%s", i ? " " : "", l.value[i]);
        }
    }
    sb_sweep_list_done(&l);
    return out;
}

static void values_are_texts_separated_by_commas(void)
{
    struct sb_sweep_list l;
    struct sb_err err = { 0 };

    CHECK_INT(sb_sweep_list_parse(&l, "--rand_type=uniform, zipf", &err), 0);
    CHECK_STR(l.name, "rand-type");
    CHECK_INT(l.n, 2);
    CHECK_STR(l.value[1], "zipf");
    sb_sweep_list_done(&l);
    CHECK_STR(list_values("threads=1,2,4"), "1 2 4");
    CHECK_STR(list_values("a=1=2,b"), "1=2 b");
    CHECK_STR(list_values("dir=../a,./b,.."), "../a ./b ..");
    CHECK_STR(list_values("host=127.0.0.1,::1"), "127.0.0.1 ::1");
    CHECK_STR(list_values("x=on,on,off"), "on off");
}

static void ranges_double_or_add_a_step(void)
{
    CHECK_STR(list_values("threads=1,2,4..256"), "1 2 4 8 16 32 64 128 256");
    CHECK_STR(list_values("threads=4..256"), "4 8 16 32 64 128 256");
    CHECK_STR(list_values("threads=1..96"), "1 2 4 8 16 32 64 96");
    CHECK_STR(list_values("threads=8..8"), "8");
    CHECK_STR(list_values("n=1..9:2"), "1 3 5 7 9");
    CHECK_STR(list_values("n=1..10:2"), "1 3 5 7 9");
    CHECK_STR(list_values("n=0..3:1"), "0 1 2 3");
    CHECK_STR(list_values("n=-2..2:2"), "-2 0 2");
    CHECK_STR(list_values("x=0.1..0.5:0.1"), "0.1 0.2 0.3 0.4 0.5");
    CHECK_STR(list_values("x=.5..2"), "0.5 1 2");
    CHECK_STR(list_values("size=4K..64K"), "4K 8K 16K 32K 64K");
    CHECK_STR(list_values("t=10ms..30ms:10"), "10ms 20ms 30ms");
    CHECK_STR(list_values("t=10ms..30ms:10ms"), "10ms 20ms 30ms");
    CHECK_STR(list_values("n=1000000000000..4000000000000"),
        "1000000000000 2000000000000 4000000000000");
    CHECK_STR(list_values("x=0.00001..0.00004:0.00001"),
        "0.00001 0.00002 0.00003 0.00004");
    CHECK_STR(list_values("x=0.00001..0.00003"), "0.00001 0.00002 0.00003");
    CHECK_STR(list_values("n=9999999999999..10000000000001:1"),
        "9999999999999 10000000000000 10000000000001");
    CHECK_STR(list_values("x=-0.1..0.1:0.1"), "-0.1 0 0.1");
}

static void a_wrong_list_is_named(void)
{
    CHECK_STR(list_values("threads"),
        "--sweep: 'threads' is not of the form OPTION=VALUE,VALUE,...");
    CHECK_STR(list_values("=1"),
        "--sweep: '=1' is not of the form OPTION=VALUE,VALUE,...");
    CHECK_STR(list_values("threads="), "--sweep: threads has no values");
    CHECK_STR(list_values("threads=1,,2"),
        "--sweep: the list of threads has an empty item");
    CHECK_STR(list_values("threads=1,"),
        "--sweep: the list of threads has an empty item");
    CHECK_STR(list_values("threads=,"),
        "--sweep: the list of threads has an empty item");
    CHECK_STR(list_values("n=9..1"),
        "--sweep: '9..1' is not a range: the end is below the start");
    CHECK_STR(list_values("n=9..1:2"),
        "--sweep: '9..1:2' is not a range: the end is below the start");
    CHECK_STR(list_values("n=1..9:0"),
        "--sweep: '1..9:0' is not a range: the step must be above 0");
    CHECK_STR(list_values("n=1..9:-1"),
        "--sweep: '1..9:-1' is not a range: the step must be above 0");
    CHECK_STR(list_values("n=0..8"),
        "--sweep: '0..8' is not a range: a range that "
        "doubles begins above 0; give a step: "
        "A..B:STEP");
    CHECK_STR(list_values("n=1..x"),
        "--sweep: '1..x' is not a range: write A..B or A..B:STEP");
    CHECK_STR(list_values("n=1..9:"),
        "--sweep: '1..9:' is not a range: write A..B or A..B:STEP");
    CHECK_STR(list_values("n=1..9:2x3"),
        "--sweep: '1..9:2x3' is not a range: write A..B or A..B:STEP");
    CHECK_STR(list_values("n=1....9"),
        "--sweep: '1....9' is not a range: write A..B or A..B:STEP");
    CHECK_STR(list_values("n=1K..1M"),
        "--sweep: '1K..1M' is not a range: both ends must have the same unit");
    CHECK_STR(list_values("n=1K..9K:2M"),
        "--sweep: '1K..9K:2M' is not a range: the "
        "step must have the unit of the ends");
    // Adding 1 changes nothing.
    CHECK_STR(list_values("n=99999999999999999999..99999999999999999999:1"),
        "--sweep: '99999999999999999999..99999999999999999999:1' is not a "
        "range: the step is too small for its numbers");
    CHECK_STR(list_values("n=0..99999999999999999999:1"),
        "--sweep: '0..99999999999999999999:1' is not a range: the step is too "
        "small for its numbers");
    CHECK_STR(list_values("n=1..100000:1"),
        "--sweep: n has too many values; the maximum is 1000");
}

static double number(const char *text)
{
    double v = -1;

    return sb_sweep_number(text, &v) ? -1 : v;
}

static void values_with_units_have_an_order(void)
{
    CHECK_NEAR(number("64"), 64, 0);
    CHECK_NEAR(number("0.5"), 0.5, 0);
    CHECK(number("64K") > number("32K"));
    CHECK(number("1s") > number("250ms"));
    CHECK(number("1GiB") > number("1MiB"));
    CHECK_NEAR(number("uniform"), -1, 0);
    CHECK_NEAR(number(""), -1, 0);
}

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
    RUN(values_are_texts_separated_by_commas);
    RUN(ranges_double_or_add_a_step);
    RUN(a_wrong_list_is_named);
    RUN(values_with_units_have_an_order);
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
