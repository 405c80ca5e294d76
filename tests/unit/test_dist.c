// SPDX-License-Identifier: GPL-2.0-or-later
//
// Each distribution is compared with its own formula by chi-square, and with
// the formula of a slightly different parameter, which must not fit. The
// formula of `special` is the shape that sysbench 1.0.20 draws;
// docs/internals/dist.md explains how that was checked.
// Not with qemu, tsan: one thread, much arithmetic.
#include "base/dist.h"

#include "check.h"
#include "check_stat.h"

#define RANGE 1000 // values 1..RANGE
#define DRAWS 400000

struct fixture {
    struct sb_dist d;
    struct sb_zipf zipf;
    struct sb_rng rng;
};

static const struct sb_dist_opts defaults = { SB_DIST_SPECIAL, 0, 12, 1, 75,
    0.2, 0.8, false };

static struct fixture with(const struct sb_dist_opts *o, uint64_t seed)
{
    struct fixture f = { 0 };

    CHECK_INT(sb_dist_prepare(&f.d, o, NULL), 0);
    sb_rng_init(&f.rng, seed, 0);
    return f;
}

// Probability that a value is at most k + 1, that is, its offset is at most k.
typedef double cdf(double k, const struct sb_dist_opts *o);

static double cdf_uniform(double k, const struct sb_dist_opts *o)
{
    return (k + 1) / RANGE;
}

// Mean of m uniform variables (Bates distribution), by Irwin and Hall's sum.
// Only the lower half is summed, where digits do not cancel.
static double bates(double x, int m)
{
    double sum = 0, term = 1;

    if (x > 0.5)
        return 1 - bates(1 - x, m);
    for (int j = 1; j <= m; j++)
        term /= j;
    for (int j = 0; j <= m && j < x * m; j++) {
        sum += term * pow(x * m - j, m);
        term *= -(double)(m - j) / (j + 1);
    }
    return sum;
}

static double cdf_gaussian(double k, const struct sb_dist_opts *o)
{
    return bates((k + 1) / RANGE, (int)o->spec_iter);
}

// rand-spec-res % of the values are uniform over the upper rand-spec-res % of a
// window of rand-spec-pct % plus one value, which begins half its width below
// the center. The others are gaussian.
static double cdf_special(double k, const struct sb_dist_opts *o)
{
    double t = RANGE - 1, share = (double)o->spec_res / 100;
    double pct = (double)o->spec_pct / 100, window = t * pct + 1;
    double low = t / 2 - t * pct / 2 + (1 - share) * window;
    double hot = (k + 1 - low) / (share * window);

    return (1 - share) * cdf_gaussian(k, o) + share * fmin(fmax(hot, 0), 1);
}

static double cdf_pareto(double k, const struct sb_dist_opts *o)
{
    return pow((k + 1) / RANGE, log(1 - o->pareto_h) / log(o->pareto_h));
}

static double cdf_zipfian(double k, const struct sb_dist_opts *o)
{
    double below = 0, all = 0;

    for (int i = 1; i <= RANGE; i++) {
        all += pow(i, -o->zipfian_exp);
        if (i <= k + 1)
            below = all;
    }
    return below / all;
}

static cdf *const cdfs[] = { cdf_uniform, cdf_gaussian, cdf_special, cdf_pareto,
    cdf_zipfian };
_Static_assert(sizeof(cdfs) / sizeof(cdfs[0]) == SB_DIST_TYPES, "complete");

static double fit(const uint64_t *seen, int type, const struct sb_dist_opts *o)
{
    double share[RANGE], last = 0;

    for (int k = 0; k < RANGE; k++) {
        double p = cdfs[type](k, o);

        share[k] = p - last;
        last = p;
    }
    return stat_chi2(seen, share, RANGE, DRAWS);
}

static void draw(
    const struct sb_dist_opts *o, uint64_t seed, uint64_t seen[RANGE])
{
    struct fixture f = with(o, seed);

    memset(seen, 0, RANGE * sizeof(seen[0]));
    for (int i = 0; i < DRAWS; i++) {
        int64_t v = sb_dist_default(&f.d, &f.zipf, &f.rng, 1, RANGE);

        CHECK(v >= 1 && v <= RANGE);
        seen[v >= 1 && v <= RANGE ? v - 1 : 0]++;
    }
}

// Checks that the values drawn with `o` fit its formula, and not that of
// `wrong`.
static void fits(const struct sb_dist_opts *o, const struct sb_dist_opts *wrong)
{
    uint64_t seen[RANGE];

    for (uint64_t seed = 0; seed < 3; seed++) {
        draw(o, seed, seen);
        CHECK(fit(seen, o->type, o) < 1);
        CHECK(fit(seen, wrong->type, wrong) > 1);
    }
}

static void uniform(void)
{
    struct sb_dist_opts o = defaults, wrong = defaults;

    o.type = SB_DIST_UNIFORM;
    wrong.type = SB_DIST_PARETO;
    wrong.pareto_h = 0.49; // 0.5 would be uniform
    fits(&o, &wrong);
}

static void gaussian(void)
{
    struct sb_dist_opts o = defaults, wrong = defaults;

    o.type = wrong.type = SB_DIST_GAUSSIAN;
    wrong.spec_iter = 11;
    fits(&o, &wrong);
    o.spec_iter = 1;
    wrong.spec_iter = 2;
    fits(&o, &wrong);
}

static void special(void)
{
    struct sb_dist_opts o = defaults, wrong = defaults;

    wrong.spec_res = 74;
    fits(&o, &wrong);
    wrong = o;
    wrong.spec_pct = 2;
    fits(&o, &wrong);
    wrong = o;
    wrong.spec_iter = 11;
    fits(&o, &wrong);
    o.spec_pct = wrong.spec_pct = 100;
    o.spec_res = 20;
    fits(&o, &wrong);
}

static void pareto(void)
{
    struct sb_dist_opts o = defaults, wrong = defaults;

    o.type = wrong.type = SB_DIST_PARETO;
    wrong.pareto_h = 0.205;
    fits(&o, &wrong);
    o.pareto_h = 0.35;
    fits(&o, &wrong);
}

// h = 0.2 means 80 : 20.
static void pareto_rule(void)
{
    struct sb_dist_opts o = defaults;
    uint64_t seen[RANGE], low = 0;

    o.type = SB_DIST_PARETO;
    draw(&o, 4, seen);
    for (int i = 0; i < RANGE / 5; i++)
        low += seen[i];
    CHECK_NEAR((double)low / DRAWS, 0.8, STAT_Z * sqrt(0.16 / DRAWS));
}

static void zipfian(void)
{
    static const double exponents[] = { 0, 0.8, 1, 1.00000001, 1.5, 3 };
    struct sb_dist_opts o = defaults, wrong = defaults;

    o.type = wrong.type = SB_DIST_ZIPFIAN;
    for (int i = 0; i < 6; i++) {
        o.zipfian_exp = exponents[i];
        wrong.zipfian_exp = exponents[i] + 0.05;
        fits(&o, &wrong);
    }
}

// A cache used for alternating ranges and exponents gives the same values as
// new caches.
static void zipfian_cache(void)
{
    struct sb_dist_opts o = defaults;
    struct fixture a, b;

    o.type = SB_DIST_ZIPFIAN;
    a = with(&o, 1);
    b = with(&o, 1);
    for (int64_t i = 0; i < 1000; i++) {
        struct sb_zipf fresh = { 0 };
        int64_t n = 2 + i % 3 * 500;

        CHECK_INT(sb_dist_zipfian(&a.d, &a.zipf, &a.rng, 1, n),
            sb_dist_zipfian(&b.d, &fresh, &b.rng, 1, n));
    }
    for (int64_t i = 0; i < 1000; i++) {
        struct sb_zipf fresh = { 0 };

        a.d.o.zipfian_exp = b.d.o.zipfian_exp = i & 1 ? 0.2 : 2.5;
        CHECK_INT(sb_dist_zipfian(&a.d, &a.zipf, &a.rng, 1, 50),
            sb_dist_zipfian(&b.d, &fresh, &b.rng, 1, 50));
    }
}

// --rand-scatter permutes the values and changes nothing else.
static void scattered(void)
{
    for (int type = 0; type < SB_DIST_TYPES; type++) {
        struct sb_dist_opts o = defaults;
        struct fixture plain, moved;
        int same = 0;

        o.type = type;
        plain = with(&o, 3);
        o.scatter = true;
        moved = with(&o, 3);
        for (int i = 0; i < 2000; i++) {
            int64_t v = sb_dist_default(
                &plain.d, &plain.zipf, &plain.rng, 7, RANGE);
            int64_t w = sb_dist_default(
                &moved.d, &moved.zipf, &moved.rng, 7, RANGE);

            CHECK_INT(w, type == SB_DIST_UNIFORM
                             ? v
                             : sb_scatter(&moved.d.scatter, v, 7, RANGE));
            same += v == w;
        }
        CHECK(type == SB_DIST_UNIFORM || same < 200);
    }
}

// The int64 range and its edges, with the bounds in both orders.
static void wide_and_narrow_ranges(void)
{
    static const int64_t ranges[][2] = { { INT64_MIN, INT64_MAX },
        { INT64_MIN, INT64_MIN + 1 }, { INT64_MAX - 2, INT64_MAX }, { -3, 4 },
        { 5, 5 }, { 0, INT64_MAX }, { -1, INT64_MAX } };

    for (int type = 0; type < SB_DIST_TYPES; type++)
        for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
            int64_t a = ranges[i][0], b = ranges[i][1];
            struct sb_dist_opts o = defaults;
            struct fixture f;

            o.type = type;
            f = with(&o, i);
            for (int k = 0; k < 500; k++) {
                int64_t v = k & 1
                                ? sb_dist_default(&f.d, &f.zipf, &f.rng, a, b)
                                : sb_dist_default(&f.d, &f.zipf, &f.rng, b, a);

                CHECK(v >= a && v <= b);
            }
        }
}

static void both_ends_are_drawn(void)
{
    for (int type = 0; type < SB_DIST_TYPES; type++) {
        struct sb_dist_opts o = defaults;
        struct fixture f;
        int seen[2] = { 0 };

        o.type = type;
        f = with(&o, 1);
        for (int k = 0; k < 1000; k++)
            seen[sb_dist_default(&f.d, &f.zipf, &f.rng, 7, 8) - 7]++;
        CHECK(seen[0] > 50 && seen[1] > 50);
    }
}

static void uniform_covers_all_bits(void)
{
    uint64_t ones = 0, zeros = 0;
    struct sb_rng r;

    sb_rng_init(&r, 1, 1);
    for (int i = 0; i < 200; i++) {
        uint64_t v = (uint64_t)sb_dist_uniform(&r, INT64_MIN, INT64_MAX);

        ones |= v;
        zeros |= ~v;
    }
    CHECK(ones == UINT64_MAX && zeros == UINT64_MAX);
}

static void prepare_rejects(void)
{
    struct sb_dist_opts o;
    struct sb_dist d;
    struct sb_err err = { 0 };

#define REJECTS(field, value)                                \
    do {                                                     \
        o = defaults;                                        \
        o.field = (value);                                   \
        sb_err_clear(&err);                                  \
        CHECK_INT(sb_dist_prepare(&d, &o, &err), SB_ERANGE); \
        CHECK_INT(err.code, SB_ERANGE);                      \
        CHECK(err.msg[0] != '\0');                           \
    } while (0)
    REJECTS(type, SB_DIST_TYPES);
    REJECTS(type, -1);
    REJECTS(spec_iter, 0);
    REJECTS(spec_pct, 101);
    REJECTS(spec_res, -1);
    REJECTS(pareto_h, 0);
    REJECTS(pareto_h, 1);
    REJECTS(pareto_h, NAN);
    REJECTS(zipfian_exp, -0.1);
    REJECTS(zipfian_exp, NAN);
}

static void option_table(void)
{
    size_t n = 0;

    CHECK_STR(
        sb_dist_opt_table.title, "Pseudo-Random Numbers Generator options");
    for (const struct sb_opt *o = sb_dist_opt_table.opts; o->name; o++, n++) {
        CHECK(o->help != NULL && o->def != NULL);
        CHECK(o->offset < sizeof(struct sb_dist_opts));
    }
    CHECK_INT(n, 8);
    CHECK_STR(sb_dist_opt_table.opts[0].choices[SB_DIST_ZIPFIAN], "zipfian");
    CHECK_STR(sb_dist_opt_table.opts[0].choices[SB_DIST_SPECIAL], "special");
}

// Characters at the places of a template are uniform, and so are pairs of
// neighboring characters.
static void string_places(char mark, char first, int kinds)
{
    enum { LEN = 40, N = 60000 };
    static uint64_t single[LEN][26], pair[26 * 26];
    double share[26 * 26];
    char fmt[LEN], out[LEN];
    struct sb_rng r;

    memset(single, 0, sizeof(single));
    memset(pair, 0, sizeof(pair));
    memset(fmt, mark, LEN);
    sb_rng_init(&r, 8, 0);
    for (int n = 0; n < N; n++) {
        sb_dist_string(&r, fmt, LEN, out);
        for (int i = 0; i < LEN; i++) {
            int c = out[i] - first;

            CHECK(c >= 0 && c < kinds);
            single[i][c]++;
            if (i)
                pair[(out[i - 1] - first) * kinds + c]++;
        }
    }
    for (int i = 0; i < kinds * kinds; i++)
        share[i] = 1.0 / (kinds * kinds);
    CHECK(stat_chi2(
              pair, share, (size_t)(kinds * kinds), (double)N * (LEN - 1)) < 1);
    for (int i = 0; i < kinds; i++)
        share[i] = 1.0 / kinds;
    for (int i = 0; i < LEN; i++)
        CHECK(stat_chi2(single[i], share, (size_t)kinds, N) < 1);
}

static void string_is_uniform(void)
{
    string_places('#', '0', 10);
    string_places('@', 'a', 26);
}

static void string_keeps_other_characters(void)
{
    static const char fmt[] = "a#-##@b###-@@#\\%";
    char out[sizeof(fmt) + 1];
    struct sb_rng r;

    sb_rng_init(&r, 1, 0);
    for (size_t len = 0; len < sizeof(fmt); len++)
        for (int n = 0; n < 50; n++) {
            memset(out, '!', sizeof(out));
            sb_dist_string(&r, fmt, len, out);
            CHECK(out[len] == '!');
            for (size_t i = 0; i < len; i++)
                CHECK(fmt[i] == '#'   ? out[i] >= '0' && out[i] <= '9'
                      : fmt[i] == '@' ? out[i] >= 'a' && out[i] <= 'z'
                                      : out[i] == fmt[i]);
        }
}

static void varstring(void)
{
    enum { N = 50000 };
    uint64_t length[11] = { 0 }, character[75] = { 0 }, chars = 0;
    double share[75];
    char out[12];
    struct sb_rng r;

    sb_rng_init(&r, 1, 0);
    for (int n = 0; n < N; n++) {
        out[10] = '!';
        size_t len = sb_dist_varstring(&r, 3, 10, out);

        CHECK(len >= 3 && len <= 10 && out[10] == '!');
        length[len]++;
        for (size_t i = 0; i < len; i++) {
            CHECK(out[i] >= '0' && out[i] <= 'z');
            character[out[i] - '0']++;
            chars++;
        }
    }
    for (int i = 0; i < 75; i++)
        share[i] = 1 / 75.0;
    CHECK(stat_chi2(character, share, 75, (double)chars) < 1);
    for (int i = 0; i < 8; i++)
        share[i] = 1 / 8.0;
    CHECK(stat_chi2(length + 3, share, 8, N) < 1);
    CHECK_INT(sb_dist_varstring(&r, 5, 5, out), 5);
    CHECK_INT(sb_dist_varstring(&r, 0, 0, out), 0);
    CHECK_INT(sb_dist_varstring(&r, 9, 4, out), 4);
}

static void alphanumeric(void)
{
    enum { N = 50000 };
    static const char set[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "abcdefghijklmnopqrstuvwxyz";
    uint64_t seen[3][62] = { { 0 } };
    double share[62];
    char out[4] = "!!!";
    struct sb_rng r;

    sb_rng_init(&r, 1, 0);
    sb_dist_alphanumeric(&r, 0, out);
    CHECK(out[0] == '!');
    for (int n = 0; n < N; n++) {
        sb_dist_alphanumeric(&r, 3, out);
        CHECK(out[3] == '\0' && strspn(out, set) == 3);
        for (size_t i = 0; i < 3; i++)
            seen[i][strcspn(set, (char[]){ out[i], '\0' }) % 62]++;
    }
    for (int i = 0; i < 62; i++)
        share[i] = 1 / 62.0;
    for (int i = 0; i < 3; i++)
        CHECK(stat_chi2(seen[i], share, 62, N) < 1);
}

CHECK_FILE
{
    RUN(uniform);
    RUN(gaussian);
    RUN(special);
    RUN(pareto);
    RUN(pareto_rule);
    RUN(zipfian);
    RUN(zipfian_cache);
    RUN(scattered);
    RUN(wide_and_narrow_ranges);
    RUN(both_ends_are_drawn);
    RUN(uniform_covers_all_bits);
    RUN(prepare_rejects);
    RUN(option_table);
    RUN(string_is_uniform);
    RUN(string_keeps_other_characters);
    RUN(varstring);
    RUN(alphanumeric);
    return check_done();
}
