// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/dist.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kit/hash.h"
#include "kit/rng.h"

// Permutations ----------------------------------------------------------------

// No other stream uses this number, so a key may equal the seed of the run.
#define STREAM (UINT64_C(1) << 63)

// With fewer bits, there are too few permutations to choose from.
#define MIN_BITS 8

void sb_scatter_init(struct sb_scatter *s, uint64_t key)
{
    struct sb_rng r;

    sb_rng_init(&r, key, STREAM);
    for (int i = 0; i < SB_SCATTER_ROUNDS; i++) {
        s->add[i] = sb_rng_next(&r);
        s->factor[i] = sb_rng_next(&r) | 1;
    }
}

// A bijection of the integers of `bits` bits: each step is reversible.
// Multiplication only affects higher bits; the shift mixes the upper half into
// the lower.
static uint64_t permute(const struct sb_scatter *s, uint64_t x, unsigned bits)
{
    uint64_t mask = UINT64_MAX >> (64 - bits);
    unsigned half = (bits + 1) / 2;

    for (int i = 0; i < SB_SCATTER_ROUNDS; i++) {
        x = ((x + s->add[i]) * s->factor[i]) & mask;
        x ^= x >> half;
    }
    return x;
}

int64_t sb_scatter(const struct sb_scatter *s, int64_t v, int64_t a, int64_t b)
{
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    uint64_t span = (uint64_t)high - (uint64_t)low;
    uint64_t x = (uint64_t)v - (uint64_t)low;
    unsigned bits;

    if (span == 0 || v < low || v > high)
        return v;
    bits = 64 - (unsigned)__builtin_clzll(span);
    if (bits < MIN_BITS)
        bits = MIN_BITS;
    // If the result is out of range, permute it again. The cycle of x leads
    // back to x, which is in the range, so the loop ends, and different values
    // give different results. Except for short ranges, at least half of the
    // integers of `bits` bits are in the range.
    do
        x = permute(s, x, bits);
    while (x > span);
    return (int64_t)((uint64_t)low + x);
}

// Distributions ---------------------------------------------------------------

static const char *const type_names[] = { "uniform", "gaussian", "special",
    "pareto", "zipfian", NULL };
_Static_assert(sizeof(type_names) / sizeof(type_names[0]) == SB_DIST_TYPES + 1,
    "complete");

#define AT(field) offsetof(struct sb_dist_opts, field)
#define PERCENT   .min = 0, .max = 100

static const struct sb_opt options[] = {
    { .name = "rand-type",
        .type = SB_OPT_ENUM,
        .offset = AT(type),
        .def = "special",
        .choices = type_names,
        .help = "random numbers distribution" },
    { .name = "rand-seed",
        .type = SB_OPT_INT,
        .offset = AT(seed),
        .def = "0",
        .flags = SB_OPT_COMMON,
        .help = "seed for random number generator. When 0, the current time "
                "is used as a seed, and 'run' prints that seed" },
    { .name = "rand-spec-iter",
        .type = SB_OPT_INT,
        .offset = AT(spec_iter),
        .def = "12",
        .min = 1,
        .max = 1000,
        .help = "number of iterations used for numbers generation" },
    { .name = "rand-spec-pct",
        .type = SB_OPT_INT,
        .offset = AT(spec_pct),
        .def = "1",
        PERCENT,
        .help = "percentage of values to be treated as 'special' (for special "
                "distribution)" },
    { .name = "rand-spec-res",
        .type = SB_OPT_INT,
        .offset = AT(spec_res),
        .def = "75",
        PERCENT,
        .help = "percentage of 'special' values to use (for special "
                "distribution)" },
    { .name = "rand-pareto-h",
        .type = SB_OPT_DOUBLE,
        .offset = AT(pareto_h),
        .def = "0.2",
        .min = 1e-6,
        .max = 1 - 1e-6,
        .help = "parameter h for pareto distribution" },
    { .name = "rand-zipfian-exp",
        .type = SB_OPT_DOUBLE,
        .offset = AT(zipfian_exp),
        .def = "0.8",
        .min = 0,
        .max = 100,
        .help = "shape parameter (exponent, theta) for zipfian distribution" },
    { .name = "rand-scatter",
        .type = SB_OPT_BOOL,
        .offset = AT(scatter),
        .def = "off",
        .flags = SB_OPT_YIELDS,
        .help = "spread the hot values of skewed distributions over the whole "
                "range" },
    { .name = NULL },
};

const struct sb_opt_table sb_dist_opt_table = {
    .title = "Pseudo-Random Numbers Generator options",
    .section = "random",
    .opts = options,
};

static int prepare_check(const struct sb_dist_opts *o, struct sb_err *err)
{
    if (o->type < 0 || o->type >= SB_DIST_TYPES)
        return sb_err_set(err, SB_ERANGE, "unknown rand-type");
    if (o->spec_iter < 1)
        return sb_err_set(err, SB_ERANGE, "rand-spec-iter must be at least 1");
    if (o->spec_pct < 0 || o->spec_pct > 100)
        return sb_err_set(err, SB_ERANGE, "rand-spec-pct must be 0 to 100");
    if (o->spec_res < 0 || o->spec_res > 100)
        return sb_err_set(err, SB_ERANGE, "rand-spec-res must be 0 to 100");
    if (!(o->pareto_h > 0 && o->pareto_h < 1))
        return sb_err_set(
            err, SB_ERANGE, "rand-pareto-h must be between 0 and 1");
    if (!(o->zipfian_exp >= 0 && o->zipfian_exp <= 100))
        return sb_err_set(err, SB_ERANGE, "rand-zipfian-exp must be 0 to 100");
    return 0;
}

int sb_dist_prepare(
    struct sb_dist *d, const struct sb_dist_opts *o, struct sb_err *err)
{
    int rc = prepare_check(o, err);

    if (rc)
        return rc;
    d->o = *o;
    d->pareto_power = log(o->pareto_h) / log1p(-o->pareto_h);
    d->special_share = (double)o->spec_res / 100;
    d->spec_width = (double)o->spec_pct / 100;
    sb_scatter_init(&d->scatter, 0);
    return 0;
}

// Differences of int64_t are computed as uint64_t, which cannot overflow.
static uint64_t range_span(int64_t *a, int64_t b)
{
    int64_t low = *a < b ? *a : b, high = *a < b ? b : *a;

    *a = low;
    return (uint64_t)high - (uint64_t)low;
}

static int64_t range_at(int64_t a, uint64_t span, double offset)
{
    uint64_t whole = span;

    if (offset < 0x1p64 && (uint64_t)offset < span)
        whole = (uint64_t)offset;
    return (int64_t)((uint64_t)a + whole);
}

int64_t sb_dist_uniform(struct sb_rng *r, int64_t a, int64_t b)
{
    uint64_t span = range_span(&a, b);
    uint64_t offset = span == UINT64_MAX ? sb_rng_next(r)
                                         : sb_rng_below(r, span + 1);

    return (int64_t)((uint64_t)a + offset);
}

int64_t sb_dist_gaussian(
    const struct sb_dist *d, struct sb_rng *r, int64_t a, int64_t b)
{
    uint64_t span = range_span(&a, b);
    double sum = 0;

    for (int64_t i = 0; i < d->o.spec_iter; i++)
        sum += sb_rng_double(r);
    return range_at(
        a, span, ((double)span + 1) * (sum / (double)d->o.spec_iter));
}

// As in sysbench 1.0.20, one random number both decides whether the value is a
// hot one and selects it. As a result, only the upper rand-spec-res % of the
// rand-spec-pct % around the center are ever selected. This is surprising, but
// recorded results depend on it.
int64_t sb_dist_special(
    const struct sb_dist *d, struct sb_rng *r, int64_t a, int64_t b)
{
    double u = sb_rng_double(r), n;
    uint64_t span;

    if (u < 1 - d->special_share)
        return sb_dist_gaussian(d, r, a, b);
    span = range_span(&a, b);
    n = (double)span;
    return range_at(
        a, span, n * (1 - d->spec_width) / 2 + u * (n * d->spec_width + 1));
}

int64_t sb_dist_pareto(
    const struct sb_dist *d, struct sb_rng *r, int64_t a, int64_t b)
{
    uint64_t span = range_span(&a, b);

    return range_at(
        a, span, ((double)span + 1) * pow(sb_rng_double(r), d->pareto_power));
}

// The integral of x^-e from 1 to x; also accurate if e is 1 or close to it.
static double zipf_integral(double e, double x)
{
    double l = log(x), t = (1 - e) * l;

    return fabs(t) < 1e-9 ? l * (1 + t / 2) : l * expm1(t) / t;
}

static double zipf_inverse(double e, double y)
{
    double t = y * (1 - e);

    // Rounding may move t slightly beyond the range of the integral.
    if (t < -1)
        t = -1;
    return fabs(t) < 1e-9 ? exp(y * (1 - t / 2)) : exp(y * log1p(t) / t);
}

static void zipf_prepare(struct sb_zipf *z, uint64_t span, double e)
{
    double n = (double)span + 1;

    assert(span > 0);
    z->span = span;
    z->exponent = e;
    z->h_x1 = zipf_integral(e, 1.5) - 1;
    z->h_n = zipf_integral(e, n + 0.5);
    z->s = 2 - zipf_inverse(e, zipf_integral(e, 2.5) - pow(2, -e));
}

int64_t sb_dist_zipfian(const struct sb_dist *d, struct sb_zipf *cache,
    struct sb_rng *r, int64_t a, int64_t b)
{
    uint64_t span = range_span(&a, b);
    double e = d->o.zipfian_exp, n = (double)span + 1;

    if (span == 0)
        return a;
    if (cache->span != span || cache->exponent != e)
        zipf_prepare(cache, span, e);
    for (;;) {
        double u = cache->h_n + sb_rng_double(r) * (cache->h_x1 - cache->h_n);
        double x = zipf_inverse(e, u);
        double k = fmin(fmax(floor(x + 0.5), 1), n);

        if (k - x <= cache->s || u >= zipf_integral(e, k + 0.5) - pow(k, -e))
            return range_at(a, span, k - 1);
    }
}

int64_t sb_dist_default(const struct sb_dist *d, struct sb_zipf *cache,
    struct sb_rng *r, int64_t a, int64_t b)
{
    int64_t v = a;

    switch ((enum sb_dist_type)d->o.type) { // all of them: -Wswitch
    case SB_DIST_UNIFORM:
        return sb_dist_uniform(r, a, b);
    case SB_DIST_GAUSSIAN:
        v = sb_dist_gaussian(d, r, a, b);
        break;
    case SB_DIST_SPECIAL:
        v = sb_dist_special(d, r, a, b);
        break;
    case SB_DIST_PARETO:
        v = sb_dist_pareto(d, r, a, b);
        break;
    case SB_DIST_ZIPFIAN:
        v = sb_dist_zipfian(d, cache, r, a, b);
        break;
    case SB_DIST_TYPES: // excluded by sb_dist_prepare()
        break;
    }
    return d->o.scatter ? sb_scatter(&d->scatter, v, a, b) : v;
}

// Makes several characters from one random number, which is read as a fraction
// f of 2^64: the integer part of f * n selects one of n characters, and the
// rest is used for the next one. A new number is drawn after 42 bits, so that
// no character is biased by more than 1 part in 2^22.
struct pool {
    struct sb_rng *rng;
    uint64_t fraction;
    int bits;
};

#define POOL_BITS 42

static inline unsigned pool_take(struct pool *p, unsigned below, int bits)
{
    unsigned __int128 m;

    if (p->bits < bits) {
        p->fraction = sb_rng_next(p->rng);
        p->bits = POOL_BITS;
    }
    p->bits -= bits;
    m = (unsigned __int128)p->fraction * below;
    p->fraction = (uint64_t)m;
    return (unsigned)(m >> 64);
}

static const char two_digits[] = "00010203040506070809"
                                 "10111213141516171819"
                                 "20212223242526272829"
                                 "30313233343536373839"
                                 "40414243444546474849"
                                 "50515253545556575859"
                                 "60616263646566676869"
                                 "70717273747576777879"
                                 "80818283848586878889"
                                 "90919293949596979899";

// All pairs of letters; of digits and letters. One multiplication and one copy
// make two characters: the same ones as two multiplications.
#define LETTERS(c)                                                            \
    c "a" c "b" c "c" c "d" c "e" c "f" c "g" c "h" c "i" c "j" c "k" c "l" c \
      "m" c "n" c "o" c "p" c "q" c "r" c "s" c "t" c "u" c "v" c "w" c "x" c \
      "y" c "z"
#define CAPITALS(c)                                                           \
    c "A" c "B" c "C" c "D" c "E" c "F" c "G" c "H" c "I" c "J" c "K" c "L" c \
      "M" c "N" c "O" c "P" c "Q" c "R" c "S" c "T" c "U" c "V" c "W" c "X" c \
      "Y" c "Z"
#define DIGITS(c) c "0" c "1" c "2" c "3" c "4" c "5" c "6" c "7" c "8" c "9"
#define ANY(c)    DIGITS(c) CAPITALS(c) LETTERS(c)
#define FOR_DIGITS(M) \
    M("0") M("1") M("2") M("3") M("4") M("5") M("6") M("7") M("8") M("9")
#define FOR_A_TO_J(M) \
    M("a") M("b") M("c") M("d") M("e") M("f") M("g") M("h") M("i") M("j")
#define FOR_K_TO_T(M) \
    M("k") M("l") M("m") M("n") M("o") M("p") M("q") M("r") M("s") M("t")
#define FOR_U_TO_Z(M)  M("u") M("v") M("w") M("x") M("y") M("z")
#define FOR_LETTERS(M) FOR_A_TO_J(M) FOR_K_TO_T(M) FOR_U_TO_Z(M)
#define FOR_BIG_A_TO_J(M) \
    M("A") M("B") M("C") M("D") M("E") M("F") M("G") M("H") M("I") M("J")
#define FOR_BIG_K_TO_T(M) \
    M("K") M("L") M("M") M("N") M("O") M("P") M("Q") M("R") M("S") M("T")
#define FOR_BIG_U_TO_Z(M) M("U") M("V") M("W") M("X") M("Y") M("Z")
#define FOR_CAPITALS(M)   FOR_BIG_A_TO_J(M) FOR_BIG_K_TO_T(M) FOR_BIG_U_TO_Z(M)

#define NLETTERS 26
#define NANY     62 // digits, A to Z, a to z

static const char two_letters[] = FOR_LETTERS(LETTERS);
static const char two_of_any[] = FOR_DIGITS(ANY) FOR_CAPITALS(ANY)
    FOR_LETTERS(ANY);

_Static_assert(sizeof(two_letters) == 2 * NLETTERS * NLETTERS + 1, "complete");
_Static_assert(sizeof(two_of_any) == 2 * NANY * NANY + 1, "complete");

void sb_dist_string(struct sb_rng *r, const char *fmt, size_t len, char *out)
{
    struct pool p = { .rng = r };

    for (size_t i = 0; i < len; i++) {
        bool twice = i + 1 < len && fmt[i + 1] == fmt[i];

        if (fmt[i] == '#' && twice) {
            memcpy(out + i, two_digits + 2 * pool_take(&p, 100, 7), 2);
            i++;
        } else if (fmt[i] == '#') {
            out[i] = (char)('0' + pool_take(&p, 10, 4));
        } else if (fmt[i] == '@' && twice && (p.bits >= 10 || p.bits < 5)) {
            // 5 to 9 bits that are left make one more letter.
            memcpy(out + i,
                two_letters + 2 * pool_take(&p, NLETTERS * NLETTERS, 10), 2);
            i++;
        } else if (fmt[i] == '@') {
            out[i] = (char)('a' + pool_take(&p, NLETTERS, 5));
        } else {
            out[i] = fmt[i];
        }
    }
}

size_t sb_dist_varstring(struct sb_rng *r, size_t min, size_t max, char *out)
{
    struct pool p = { .rng = r };
    size_t len = max;

    if (min < max)
        len = max - min == SIZE_MAX ? sb_rng_next(r)
                                    : min + sb_rng_below(r, max - min + 1);
    for (size_t i = 0; i < len; i++)
        out[i] = (char)('0' + pool_take(&p, 'z' - '0' + 1, 7));
    return len;
}

// Copies two characters and returns the rest of the fraction.
static inline uint64_t put_two(char *out, uint64_t fraction)
{
    unsigned __int128 m = (unsigned __int128)fraction * (NANY * NANY);

    memcpy(out, two_of_any + 2 * (size_t)(m >> 64), 2);
    return (uint64_t)m;
}

void sb_dist_alphanumeric(struct sb_rng *r, size_t len, char *out)
{
    struct pool p = { .rng = r };
    size_t i = 0;

    // As below, without the branches: three times 12 of 42 bits.
    for (; i + 6 <= len; i += 6) {
        p.fraction = put_two(out + i, sb_rng_next(r));
        p.fraction = put_two(out + i + 2, p.fraction);
        p.fraction = put_two(out + i + 4, p.fraction);
        p.bits = POOL_BITS - 36;
    }
    for (; i + 1 < len; i += 2)
        memcpy(out + i, two_of_any + 2 * pool_take(&p, NANY * NANY, 12), 2);
    if (i < len)
        out[i] = two_of_any[2 * pool_take(&p, NANY, 6) * NANY];
}

// YCSB ------------------------------------------------------------------------

#define THETA SB_YCSB_THETA

// Terms of a sum that are added one by one.
#define HEAD 32

int64_t sb_ycsb_hash(uint64_t v)
{
    uint64_t hash = SB_HASH_START;

    for (int i = 0; i < 8; i++) {
        hash = sb_hash_byte(hash, (unsigned char)v);
        v >>= 8;
    }
    if (hash >> 63)
        hash = -hash;
    // -2^63 has no positive counterpart.
    return (int64_t)(hash & INT64_MAX);
}

// After HEAD terms, the formula of Euler and Maclaurin: the integral, half of
// the two ends, and two corrections. The next one would be less than 1e-11.
double sb_ycsb_zeta(uint64_t n)
{
    uint64_t last = n < HEAD ? n : HEAD;
    double sum = 0, a = HEAD, b = (double)n, pa, pb;

    for (uint64_t k = 1; k <= last; k++)
        sum += pow((double)k, -THETA);
    if (n <= HEAD)
        return sum;
    pa = pow(a, -THETA);
    pb = pow(b, -THETA);
    sum += (b * pb - a * pa) / (1 - THETA);
    sum += (pb - pa) / 2;
    sum += THETA / 12 * (pa / a - pb / b);
    return sum - THETA * (THETA + 1) * (THETA + 2) / 720 *
                     (pa / (a * a * a) - pb / (b * b * b));
}

static void prepare_zipf(struct sb_ycsb_zipf *z, uint64_t n)
{
    double zeta2 = 1 + pow(0.5, THETA);

    assert(n > 0);
    z->n = n;
    z->zeta = sb_ycsb_zeta(n);
    z->eta = (1 - pow(2 / (double)n, 1 - THETA)) / (1 - zeta2 / z->zeta);
}

uint64_t sb_ycsb_zipfian(
    struct sb_ycsb_zipf *cache, struct sb_rng *r, uint64_t n)
{
    double u = sb_rng_double(r), uz, v;

    if (cache->n != n)
        prepare_zipf(cache, n);
    uz = u * cache->zeta;
    if (n == 1 || uz < 1)
        return 0;
    if (n == 2 || uz < 1 + pow(0.5, THETA))
        return 1;
    v = (double)n * pow(cache->eta * u - cache->eta + 1, 1 / (1 - THETA));
    return v < (double)(n - 1) ? (uint64_t)v : n - 1;
}

uint64_t sb_ycsb_scrambled(
    struct sb_ycsb_zipf *cache, struct sb_rng *r, uint64_t n)
{
    uint64_t item = sb_ycsb_zipfian(cache, r, SB_YCSB_ITEMS);

    return (uint64_t)sb_ycsb_hash(item) % n;
}
