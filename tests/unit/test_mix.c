// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/mix.h"

#include <string.h>

#include "kit/rng.h"
#include "check.h"

static struct sb_mix m;
static struct sb_err err;

static int parse(const char *text)
{
    memset(&err, 0, sizeof(err));
    return sb_mix_parse(&m, text, &err);
}

static void check_part(
    unsigned i, const char *name, const char *workload, double weight)
{
    CHECK_STR(m.part[i].name, name);
    CHECK_STR(m.part[i].workload, workload);
    CHECK_NEAR(m.weight[i], weight, 1e-9);
}

static void names_and_weights(void)
{
    CHECK_INT(parse("oltp_read_write:8,  my/re-port.lua : 1"), SB_EUSAGE);
    CHECK_INT(parse("oltp_read_write:8,  my/re-port.lua:1 "), 0);
    CHECK_INT(m.n, 2);
    check_part(0, "oltp_read_write", "oltp_read_write", 8);
    check_part(1, "re-port", "my/re-port.lua", 1);
    CHECK_STR(m.part[1].prefix, "re-port/");
    CHECK_INT(parse("a=x.lua:0.25,b=x.lua,mongodb/oltp:2k"), 0);
    CHECK_INT(m.n, 3);
    check_part(0, "a", "x.lua", 0.25);
    check_part(1, "b", "x.lua", 1);
    check_part(2, "oltp", "mongodb/oltp", 2000);
    // A colon in the name of a folder, and a name before it.
    CHECK_INT(parse("a=./x:y/z.lua"), 0);
    check_part(0, "a", "./x:y/z.lua", 1);
}

static void wrong_texts(void)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        { "", "workload 1, '': the name of a workload is missing" },
        { "a,", "workload 2, '': the name of a workload is missing" },
        { "a,,b", "workload 2, ''" },
        { "a:0", "workload 1, 'a:0': the weight must be above 0" },
        { "a:-1", "the weight must be above 0" },
        { "b,a:2G", "workload 2, 'a:2G': the weight must be above 0" },
        { "a:x", "the weight is not a number" },
        { "a:nan", "the weight is not a number" },
        { "a:", "a weight must follow the colon" },
        { "a:1234567890123456789012345678901234567890", "is too long" },
        { "a=:1", "the name of the workload is missing" },
        { "=a", "a name has only letters" },
        { "a b=c", "a name has only letters" },
        { "a b", "this needs a name" },
        { "a.b.lua", "this needs a name" },
        { "a,x/a.lua:2", "workload 2, 'x/a.lua:2': this name occurs twice" },
        { "a2345678901234567890123456789012", "the maximum length of a name" },
        { "\x1b[1m", "\\x1b[1m" },
        { "a,read.lua:8", "workload 2, 'read.lua:8': this name has another" },
        { "write", "this name has another meaning in limits and figures" },
        { "other", "another meaning" },
        { "service=x", "another meaning" },
        { "x/response", "another meaning" },
        { "lag", "another meaning" },
        { "connect.lua", "another meaning" },
        { "beside", "another meaning" },
    };
    char many[3 * SB_MIX_MAX + 3] = "";

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int rc = parse(bad[i].text);

        CHECK(rc == SB_EUSAGE || rc == SB_ERANGE);
        if (!strstr(err.msg, bad[i].part))
            CHECK_STR(err.msg, bad[i].part);
    }
    for (int i = 0; i <= SB_MIX_MAX; i++)
        snprintf(many + strlen(many), 4, "%s%c", i ? "," : "", 'a' + i);
    CHECK_INT(parse(many), SB_ERANGE);
    CHECK(strstr(err.msg, "workload 17, 'q': the maximum is 16"));
    many[2 * SB_MIX_MAX - 1] = '\0';
    CHECK_INT(parse(many), 0);
    CHECK_INT(m.n, SB_MIX_MAX);
}

static void weights_of_stages(void)
{
    double w[SB_MIX_MAX];
    char why[300], text[SB_MIX_TEXT];
    const char *all = "c:0.5/a:8 for 10s";

    CHECK_INT(parse("a:3,b,c"), 0);
    CHECK_INT(sb_mix_weights(&m, all, 9, w, why, sizeof(why)), 0);
    CHECK_NEAR(w[0], 8, 0);
    CHECK_NEAR(w[1], 0, 0);
    CHECK_NEAR(w[2], 0.5, 0);
    sb_mix_text(&m, w, text, sizeof(text));
    CHECK_STR(text, "a:8/c:0.5");
    CHECK_INT(sb_mix_weights(&m, "a:0/b", 5, w, why, sizeof(why)), 0);
    CHECK_NEAR(w[0], 0, 0);
    CHECK_NEAR(w[1], 1, 0);
    CHECK_INT(sb_mix_weights(&m, "a/d:1", 5, w, why, sizeof(why)), SB_EUSAGE);
    CHECK_STR(why, "'d' is not in --mix, which has a, b, c");
    CHECK_INT(sb_mix_weights(&m, "a/", 2, w, why, sizeof(why)), SB_EUSAGE);
    CHECK_INT(sb_mix_weights(&m, "a/a", 3, w, why, sizeof(why)), SB_EUSAGE);
    CHECK_STR(why, "a workload is named twice");
    CHECK_INT(sb_mix_weights(&m, "a:-1", 4, w, why, sizeof(why)), SB_EUSAGE);
    CHECK_INT(sb_mix_weights(&m, "a:0", 3, w, why, sizeof(why)), SB_ERANGE);
    CHECK_STR(why, "all weights are 0");
}

// The longest text of weights is not cut.
static void long_weights(void)
{
    char mix[1024] = "", text[SB_MIX_TEXT], why[100];
    double w[SB_MIX_MAX], again[SB_MIX_MAX];

    for (int i = 0; i < SB_MIX_MAX; i++)
        snprintf(mix + strlen(mix), 40, "%s%031d", i ? "," : "", i);
    CHECK_INT(parse(mix), 0);
    for (int i = 0; i < SB_MIX_MAX; i++)
        w[i] = 1.234567891e-300;
    sb_mix_text(&m, w, text, sizeof(text));
    CHECK_INT(strlen(text), sizeof(text) - 1);
    CHECK_INT(
        sb_mix_weights(&m, text, strlen(text), again, why, sizeof(why)), 0);
    for (int i = 0; i < SB_MIX_MAX; i++)
        CHECK(again[i] == w[i]);
}

static void draws(void)
{
    const double w[] = { 0, 8, 0, 1, 0 };
    const unsigned n = 90000;
    unsigned count[5] = { 0 };
    struct sb_rng r;

    CHECK_INT(sb_mix_draw(w, 5, 0), 1);
    CHECK_INT(sb_mix_draw(w, 5, 0.8888), 1);
    CHECK_INT(sb_mix_draw(w, 5, 0.8889), 3);
    CHECK_INT(sb_mix_draw(w, 5, 0x1.fffffffffffffp-1), 3);
    sb_rng_init(&r, 7, 1);
    for (unsigned i = 0; i < n; i++)
        count[sb_mix_draw(w, 5, sb_rng_double(&r))]++;
    CHECK_INT(count[0] + count[2] + count[4], 0);
    // The seed is fixed. A binomial distribution deviates by more than four
    // standard deviations once in 16,000 seeds.
    CHECK_NEAR(count[3], n / 9.0, 4 * sqrt(n * 8 / 81.0));
}

static void shares_of_users(void)
{
    const double w[] = { 8, 1 }, three[] = { 5, 0, 3, 2 };
    uint8_t of[1000];
    uint32_t least[4];
    unsigned count[4] = { 0 };

    sb_mix_assign(w, 2, of, 18);
    for (unsigned i = 0; i < 18; i++)
        count[of[i]]++;
    CHECK_INT(count[0], 16);
    CHECK_INT(count[1], 2);
    memset(count, 0, sizeof(count));
    sb_mix_assign(three, 4, of, 1000);
    for (unsigned i = 0; i < 1000; i++) {
        count[of[i]]++;
        for (unsigned k = 0; k < 4; k++)
            CHECK_NEAR(count[k], (i + 1) * three[k] / 10, 1 + 1e-9);
    }
    CHECK_INT(count[0], 500);
    CHECK_INT(count[1], 0);
    CHECK_INT(count[2], 300);
    sb_mix_users(w, 2, least, 100);
    CHECK_INT(least[0], 1);
    CHECK_INT(least[1], 5);
    sb_mix_users(w, 2, least, 4);
    CHECK_INT(least[0], 1);
    CHECK_INT(least[1], 0);
    sb_mix_users(three, 4, least, 100);
    CHECK_INT(least[0], 1);
    CHECK_INT(least[1], 0);
    CHECK_INT(least[2], 2);
    CHECK_INT(least[3], 3);
}

// Of any weights.
static void shares_of_many(void)
{
    static uint8_t of[500];
    struct sb_rng r;
    double worst = 0;

    sb_rng_init(&r, 1, 1);
    for (int round = 0; round < 200; round++) {
        double w[SB_MIX_MAX], sum = 0;
        unsigned count[SB_MIX_MAX] = { 0 };

        for (int k = 0; k < SB_MIX_MAX; k++)
            sum += w[k] = sb_rng_double(&r) * sb_rng_double(&r) + 0.001;
        sb_mix_assign(w, SB_MIX_MAX, of, 500);
        for (unsigned i = 0; i < 500; i++) {
            count[of[i]]++;
            // Not fmax(): gcc 12 for arm64 crashes on it in this loop.
            for (int k = 0; k < SB_MIX_MAX; k++) {
                double off = fabs(count[k] - (i + 1) * w[k] / sum);

                worst = off > worst ? off : worst;
            }
        }
    }
    CHECK(worst < 2);
}

CHECK_FILE
{
    RUN(names_and_weights);
    RUN(wrong_texts);
    RUN(weights_of_stages);
    RUN(long_weights);
    RUN(draws);
    RUN(shares_of_users);
    RUN(shares_of_many);
    return check_done();
}
