// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/stages.h"

#include <string.h>

#include "check.h"

#define S UINT64_C(1000000000)

static struct sb_stages s;
static struct sb_err err;

static int parse(const char *text)
{
    memset(&err, 0, sizeof(err));
    return sb_stages_parse(&s, text, 8, 200, NULL, &err);
}

static void check_stage(unsigned i, const char *name, double seconds,
    uint32_t from, uint32_t to, double rate_from, double rate_to)
{
    CHECK_STR(s.stage[i].name, name);
    CHECK_NEAR((double)s.stage[i].ns / 1e9, seconds, 1e-9);
    CHECK_INT(s.stage[i].users_from, from);
    CHECK_INT(s.stage[i].users_to, to);
    CHECK_NEAR(s.stage[i].rate_from, rate_from, 1e-9);
    CHECK_NEAR(s.stage[i].rate_to, rate_to, 1e-9);
}

static void settings_and_what_they_keep(void)
{
    CHECK_INT(parse("threads=16 for 10s; threads=..64 for 30; "
                    "spike: threads=200, rate=1k for 5s;for 1m; "
                    "rate=50%..150% threads=2k..0 for 100ms;"),
        0);
    CHECK_INT(s.n, 5);
    check_stage(0, "threads=16", 10, 16, 16, 200, 200);
    check_stage(1, "threads=..64", 30, 16, 64, 200, 200);
    check_stage(2, "spike", 5, 200, 200, 1000, 1000);
    check_stage(3, "hold", 60, 200, 200, 1000, 1000);
    check_stage(4, "rate=50%..150% threads=2k..0", 0.1, 2000, 0, 100, 300);
    CHECK_INT(s.max_users, 2000);
    CHECK_INT(s.ns, 105 * S + S / 10);
    CHECK(s.open_loop);
}

static void a_closed_loop(void)
{
    CHECK_INT(
        sb_stages_parse(&s, "a:threads=0..3 for 2s", 1, 0, NULL, &err), 0);
    CHECK(!s.open_loop);
    check_stage(0, "a", 2, 0, 3, 0, 0);
    CHECK_INT(
        sb_stages_parse(&s, "rate=0 for 2s;rate=5 for 1s", 4, 0, NULL, &err),
        0);
    CHECK(s.open_loop);
    check_stage(0, "rate=0", 2, 4, 4, 0, 0);
    CHECK_INT(s.max_users, 4);
}

static void errors_name_stage_and_position(void)
{
    static const struct {
        const char *text, *part;
        int rc;
    } bad[] = {
        { " ", "stage 1, character 2, '': no stages", SB_EUSAGE },
        { "for 1s;;for 1s", "stage 2, character 8, '': expected 'for'",
            SB_EUSAGE },
        { "threads=2", "stage 1, character 10, '': expected 'for'", SB_EUSAGE },
        { "for", "expected the length of the stage", SB_EUSAGE },
        { "for 1x", "character 5, '1x': not a time", SB_EUSAGE },
        { "for 0s", "character 5, '0s': the length", SB_ERANGE },
        { "for -1s", "'-1s': ", SB_EUSAGE },
        { "for 6000000s; for 6000000s", "stage 2, character 19", SB_ERANGE },
        { "for 1s 2s", "'2s': expected ';'", SB_EUSAGE },
        { "for 1s; thread=5 for 1s",
            "stage 2, character 9, 'thread=5': there is no setting 'thread'",
            SB_EUSAGE },
        { "threads for 1s", "'threads': expected threads=N", SB_EUSAGE },
        { "threads= for 1s", "a value is missing", SB_EUSAGE },
        { "threads=5.. for 1s", "a value is missing", SB_EUSAGE },
        { "threads=1.5 for 1s", "'1.5' is not a number of threads", SB_EUSAGE },
        { "threads=-1 for 1s", "the range is 0 to 1000000", SB_ERANGE },
        { "threads=1..2M for 1s", "the range is 0 to 1000000", SB_ERANGE },
        { "threads=50% for 1s", "'50%' is not a number", SB_EUSAGE },
        { "rate=x for 1s", "'x' is not a rate", SB_EUSAGE },
        { "rate=% for 1s", "'' is not a rate", SB_EUSAGE },
        { "rate=-1 for 1s", "the range is 0 to 10000000", SB_ERANGE },
        { "rate=20M for 1s", "the range is 0 to 10000000", SB_ERANGE },
        { "rate=nan for 1s", "is not a rate", SB_EUSAGE },
        { "rate=1 rate=2 for 1s", "'rate=2': rate is set twice", SB_EUSAGE },
        { "threads=1,threads=2 for 1s", "threads is set twice", SB_EUSAGE },
        { "rate=0 for 1s", "all rates are 0", SB_EUSAGE },
        { "\x1b[1m for 1s", "\\x1b[1m", SB_EUSAGE },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK_INT(parse(bad[i].text), bad[i].rc);
        if (!strstr(err.msg, bad[i].part))
            CHECK_STR(err.msg, bad[i].part);
    }
    CHECK_INT(
        sb_stages_parse(&s, "rate=50% for 1s", 1, 0, NULL, &err), SB_EUSAGE);
    CHECK(strstr(err.msg, "a percentage requires --rate"));
    CHECK_INT(sb_stages_parse(&s, "for 1s;rate=5 for 1s", 1, 0, NULL, &err),
        SB_EUSAGE);
    CHECK(strstr(err.msg, "the first one has none"));
}

static void weights_of_a_mix(void)
{
    static char text[700];
    struct sb_mix m;

    CHECK_INT(sb_mix_parse(&m, "a:8,long_name_of_a_workload_b,c", &err), 0);
    CHECK_INT(sb_stages_parse(&s,
                  "threads=2 for 1s; one: mix=a:1/c:3, threads=4 for 1s; "
                  "for 1s;mix=long_name_of_a_workload_b for 1s",
                  1, 0, &m, &err),
        0);
    CHECK_INT(s.n, 4);
    CHECK_NEAR(s.stage[0].mix[0], 8, 0);
    CHECK_NEAR(s.stage[0].mix[1], 1, 0);
    CHECK_STR(s.stage[0].mix_text, "a:8/long_name_of_a_workload_b:1/c:1");
    CHECK_STR(s.stage[1].mix_text, "a:1/c:3");
    CHECK_INT(s.stage[1].users_to, 4);
    CHECK_STR(s.stage[2].mix_text, "a:1/c:3"); // it stays
    CHECK_NEAR(s.stage[2].mix[2], 3, 0);
    CHECK_NEAR(s.stage[3].mix[0], 0, 0);
    CHECK_STR(s.stage[3].name, "mix=long_name_of_a_workload_b");
    CHECK(!s.open_loop);
    CHECK_INT(
        sb_stages_parse(&s, "mix=a:x/c for 1s", 1, 0, &m, &err), SB_EUSAGE);
    CHECK(strstr(err.msg, "stage 1, character 1, 'mix=a:x/c': the weight is "
                          "not a number"));
    CHECK_INT(
        sb_stages_parse(&s, "mix=a mix=c for 1s", 1, 0, &m, &err), SB_EUSAGE);
    CHECK(strstr(err.msg, "mix is set twice"));
    CHECK_INT(parse("mix=a for 1s"), SB_EUSAGE);
    CHECK(strstr(err.msg, "mix requires --mix"));
    // Longer than other settings can be.
    size_t len = (size_t)snprintf(text, sizeof(text), "mix=c");
    for (int i = 0; i < 60; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "/a:000001");
    snprintf(text + len, sizeof(text) - len, " for 1s");
    CHECK_INT(sb_stages_parse(&s, text, 1, 0, &m, &err), SB_EUSAGE);
    CHECK(strstr(err.msg, "named twice"));
}

static void limits_of_the_text(void)
{
    static char many[8 * (SB_STAGES_MAX + 1) + 1], text[300];
    char name[65];

    for (int i = 0; i <= SB_STAGES_MAX; i++)
        snprintf(many + 8 * i, 9, "for 1s; ");
    CHECK_INT(parse(many), SB_ERANGE);
    CHECK(strstr(err.msg, "stage 101, character 801"));
    many[8 * SB_STAGES_MAX] = '\0';
    CHECK_INT(parse(many), 0);
    CHECK_INT(s.n, SB_STAGES_MAX);
    memset(name, 'x', 64);
    name[64] = '\0';
    snprintf(text, sizeof(text), "%s:for 1s", name);
    CHECK_INT(parse(text), SB_ERANGE);
    name[63] = '\0';
    snprintf(text, sizeof(text), "%s:for 1s", name);
    CHECK_INT(parse(text), 0);
    CHECK_STR(s.stage[0].name, name);
    snprintf(text, sizeof(text), "threads=%0150d for 1s", 1);
    CHECK_INT(parse(text), SB_EUSAGE);
    CHECK(strstr(err.msg, ": too long"));
    // The text of long settings is shortened.
    snprintf(text, sizeof(text), "threads=%060d rate=1 for 1s", 1);
    CHECK_INT(parse(text), 0);
    CHECK_INT(strlen(s.stage[0].name), 63);
}

static void stages_at(void)
{
    CHECK_INT(parse("for 1s; for 2s; for 3s"), 0);
    CHECK_INT(sb_stages_at(&s, 0), 0);
    CHECK_INT(sb_stages_at(&s, S - 1), 0);
    CHECK_INT(sb_stages_at(&s, S), 1);
    CHECK_INT(sb_stages_at(&s, 3 * S), 2);
    CHECK_INT(sb_stages_at(&s, 100 * S), 2);
}

// The target of a ramp as a real number.
static double target(uint64_t ns)
{
    unsigned i = sb_stages_at(&s, ns);
    uint64_t start = 0;

    for (unsigned k = 0; k < i; k++)
        start += s.stage[k].ns;
    double x = (double)(ns - start) / (double)s.stage[i].ns;
    return s.stage[i].users_from +
           x * ((double)s.stage[i].users_to - s.stage[i].users_from);
}

// User i runs while i < target(t), up to the moment of the change itself.
static void users_follow_the_target(void)
{
    static const char *const texts[] = {
        "threads=3 for 1s; threads=3..9 for 2s; threads=0 for 1s; "
        "threads=5 for 1s",
        "threads=0..7 for 3s; threads=7..0 for 3s; for 1s; threads=..7 for 1s",
        "threads=9..2 for 1s; threads=2..9 for 1s; threads=9 for 1s",
        "threads=4 for 1s; threads=4 for 1s; threads=4..4 for 1s",
    };

    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
        CHECK_INT(parse(texts[k]), 0);
        for (uint64_t ns = 0; ns < s.ns; ns += S / 1000) {
            double want = target(ns);
            uint32_t n = sb_stages_users(&s, ns);

            CHECK(n >= want - 1e-6 && n <= want + 1 + 1e-6);
            for (uint32_t id = 0; id < 12; id++) {
                uint64_t until;

                CHECK(sb_stages_user(&s, id, ns, &until) == (id < n));
            }
        }
    }
}

// The time of the next change is the first at which the answer differs.
static void changes_are_announced(void)
{
    CHECK_INT(parse("threads=2 for 1s; threads=2..6 for 4s; hold: for 1s; "
                    "threads=6..0 for 3s; threads=3 for 1s"),
        0);
    for (uint32_t id = 0; id < 8; id++) {
        uint64_t ns = 0, until;
        bool here = sb_stages_user(&s, id, 0, &until);
        int changes = 0;

        while (until != UINT64_MAX) {
            uint64_t later, next;

            CHECK(until > ns);
            CHECK(sb_stages_user(&s, id, until - 1, &later) == here);
            CHECK(later == until);
            CHECK(sb_stages_user(&s, id, until, &next) != here);
            ns = until;
            here = !here;
            until = next;
            changes++;
        }
        // User 0 would go at the moment at which it comes again.
        static const int want[] = { 0, 2, 3, 2, 2, 2, 0, 0 };
        CHECK_INT(changes, want[id]);
        CHECK(sb_stages_user(&s, id, 100 * S, &until) == here);
        CHECK(until == UINT64_MAX);
    }
}

static void ramps_have_equal_distances(void)
{
    uint64_t until;

    CHECK_INT(parse("threads=0..4 for 4s; threads=4..0 for 4s"), 0);
    for (uint32_t id = 0; id < 4; id++) {
        CHECK(sb_stages_user(&s, id, id * S, &until));
        CHECK(until == (id ? 4 * S + (4 - id) * S : UINT64_MAX));
        if (id > 0)
            CHECK(!sb_stages_user(&s, id, id * S - 1, &until));
    }
}

static void what_stages_set_is_known(void)
{
    static const struct {
        const char *text;
        bool users, rate;
    } some[] = { { "for 1s", false, false },
        { "for 1s; threads=..9 for 1s", true, false },
        { "rate=50% for 1s; rate=0..100% for 1s", false, false },
        { "rate=50% for 1s; rate=0..10 for 1s", false, true } };

    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        CHECK_INT(parse(some[i].text), 0);
        CHECK_INT(s.sets_users, some[i].users);
        CHECK_INT(s.sets_rate, some[i].rate);
    }
}

CHECK_FILE
{
    RUN(settings_and_what_they_keep);
    RUN(a_closed_loop);
    RUN(errors_name_stage_and_position);
    RUN(weights_of_a_mix);
    RUN(limits_of_the_text);
    RUN(stages_at);
    RUN(users_follow_the_target);
    RUN(changes_are_announced);
    RUN(ramps_have_equal_distances);
    RUN(what_stages_set_is_known);
    return check_done();
}
