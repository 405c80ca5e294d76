// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/sweep_plan.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

// Parses and returns the values separated by blanks, or the error.
static const char *values(const char *text)
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
    CHECK_STR(values("threads=1,2,4"), "1 2 4");
    CHECK_STR(values("a=1=2,b"), "1=2 b");
    CHECK_STR(values("dir=../a,./b,.."), "../a ./b ..");
    CHECK_STR(values("host=127.0.0.1,::1"), "127.0.0.1 ::1");
    CHECK_STR(values("x=on,on,off"), "on off");
}

static void ranges_double_or_add_a_step(void)
{
    CHECK_STR(values("threads=1,2,4..256"), "1 2 4 8 16 32 64 128 256");
    CHECK_STR(values("threads=4..256"), "4 8 16 32 64 128 256");
    CHECK_STR(values("threads=1..96"), "1 2 4 8 16 32 64 96");
    CHECK_STR(values("threads=8..8"), "8");
    CHECK_STR(values("n=1..9:2"), "1 3 5 7 9");
    CHECK_STR(values("n=1..10:2"), "1 3 5 7 9");
    CHECK_STR(values("n=0..3:1"), "0 1 2 3");
    CHECK_STR(values("n=-2..2:2"), "-2 0 2");
    CHECK_STR(values("x=0.1..0.5:0.1"), "0.1 0.2 0.3 0.4 0.5");
    CHECK_STR(values("x=.5..2"), "0.5 1 2");
    CHECK_STR(values("size=4K..64K"), "4K 8K 16K 32K 64K");
    CHECK_STR(values("t=10ms..30ms:10"), "10ms 20ms 30ms");
    CHECK_STR(values("t=10ms..30ms:10ms"), "10ms 20ms 30ms");
    CHECK_STR(values("n=1000000000000..4000000000000"),
        "1000000000000 2000000000000 4000000000000");
    CHECK_STR(values("x=0.00001..0.00004:0.00001"),
        "0.00001 0.00002 0.00003 0.00004");
    CHECK_STR(values("x=0.00001..0.00003"), "0.00001 0.00002 0.00003");
    CHECK_STR(values("n=9999999999999..10000000000001:1"),
        "9999999999999 10000000000000 10000000000001");
    CHECK_STR(values("x=-0.1..0.1:0.1"), "-0.1 0 0.1");
}

static void a_wrong_list_is_named(void)
{
    CHECK_STR(values("threads"),
        "--sweep: 'threads' is not of the form OPTION=VALUE,VALUE,...");
    CHECK_STR(values("=1"),
        "--sweep: '=1' is not of the form OPTION=VALUE,VALUE,...");
    CHECK_STR(values("threads="), "--sweep: threads has no values");
    CHECK_STR(values("threads=1,,2"),
        "--sweep: the list of threads has an empty item");
    CHECK_STR(
        values("threads=1,"), "--sweep: the list of threads has an empty item");
    CHECK_STR(
        values("threads=,"), "--sweep: the list of threads has an empty item");
    CHECK_STR(values("n=9..1"),
        "--sweep: '9..1' is not a range: the end is below the start");
    CHECK_STR(values("n=9..1:2"),
        "--sweep: '9..1:2' is not a range: the end is below the start");
    CHECK_STR(values("n=1..9:0"),
        "--sweep: '1..9:0' is not a range: the step must be above 0");
    CHECK_STR(values("n=1..9:-1"),
        "--sweep: '1..9:-1' is not a range: the step must be above 0");
    CHECK_STR(values("n=0..8"), "--sweep: '0..8' is not a range: a range that "
                                "doubles begins above 0; give a step: "
                                "A..B:STEP");
    CHECK_STR(values("n=1..x"),
        "--sweep: '1..x' is not a range: write A..B or A..B:STEP");
    CHECK_STR(values("n=1..9:"),
        "--sweep: '1..9:' is not a range: write A..B or A..B:STEP");
    CHECK_STR(values("n=1..9:2x3"),
        "--sweep: '1..9:2x3' is not a range: write A..B or A..B:STEP");
    CHECK_STR(values("n=1....9"),
        "--sweep: '1....9' is not a range: write A..B or A..B:STEP");
    CHECK_STR(values("n=1K..1M"),
        "--sweep: '1K..1M' is not a range: both ends must have the same unit");
    CHECK_STR(values("n=1K..9K:2M"), "--sweep: '1K..9K:2M' is not a range: the "
                                     "step must have the unit of the ends");
    // Adding 1 changes nothing.
    CHECK_STR(values("n=99999999999999999999..99999999999999999999:1"),
        "--sweep: '99999999999999999999..99999999999999999999:1' is not a "
        "range: the step is too small for its numbers");
    CHECK_STR(values("n=0..99999999999999999999:1"),
        "--sweep: '0..99999999999999999999:1' is not a range: the step is too "
        "small for its numbers");
    CHECK_STR(values("n=1..100000:1"),
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

CHECK_FILE
{
    RUN(values_are_texts_separated_by_commas);
    RUN(ranges_double_or_add_a_step);
    RUN(a_wrong_list_is_named);
    RUN(values_with_units_have_an_order);
    return check_done();
}
