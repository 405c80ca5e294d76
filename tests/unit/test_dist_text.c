// SPDX-License-Identifier: GPL-2.0-or-later
//
// Random texts: the same ones as from a slow reference.
#include <string.h>

#include "base/dist.h"
#include "check.h"

// One character after the other, as the fraction of a random number is defined.
struct slow {
    struct sb_rng rng;
    uint64_t fraction;
    int bits;
};

static unsigned slow_take(struct slow *s, unsigned below, int bits)
{
    if (s->bits < bits) {
        s->fraction = sb_rng_next(&s->rng);
        s->bits = 42;
    }
    s->bits -= bits;
    unsigned __int128 m = (unsigned __int128)s->fraction * below;
    s->fraction = (uint64_t)m;
    return (unsigned)(m >> 64);
}

static void slow_string(struct sb_rng *r, const char *fmt, char *out)
{
    struct slow s = { .rng = *r };

    for (; *fmt; fmt++) {
        if (fmt[0] == '#' && fmt[1] == '#') {
            unsigned two = slow_take(&s, 100, 7);

            *out++ = (char)('0' + two / 10);
            *out++ = (char)('0' + two % 10);
            fmt++;
        } else {
            unsigned c = (unsigned char)*fmt;

            *out++ = (char)(c == '#'   ? '0' + slow_take(&s, 10, 4)
                            : c == '@' ? 'a' + slow_take(&s, 26, 5)
                                       : c);
        }
    }
    *out = '\0';
    *r = s.rng;
}

static void slow_alphanumeric(struct sb_rng *r, size_t len, char *out)
{
    static const char set[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "abcdefghijklmnopqrstuvwxyz";
    struct slow s = { .rng = *r };
    size_t i = 0;

    for (; i + 1 < len; i += 2) {
        unsigned two = slow_take(&s, 62 * 62, 12);

        out[i] = set[two / 62];
        out[i + 1] = set[two % 62];
    }
    if (i < len)
        out[i] = set[slow_take(&s, 62, 6)];
    out[len] = '\0';
    *r = s.rng;
}

// The same seed makes the same texts, however many characters are made at once.
static void texts_of_a_seed(void)
{
    static const char *const formats[] = { "@", "@@", "@@@@@@@@@@@@@@@@@@@@@",
        "#", "##", "@#@@-##@###@@@@@#@@@", "##@@@@@@@@@#@@##-@@@@@@@@@@@" };
    char want[80], have[80];
    struct sb_rng a, b;

    sb_rng_init(&a, 5, 0);
    sb_rng_init(&b, 5, 0);
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
            size_t len = strlen(formats[i]);

            slow_string(&a, formats[i], want);
            sb_dist_string(&b, formats[i], len, have);
            have[len] = '\0';
            CHECK_STR(have, want);
        }
        for (size_t len = 0; len < 50; len++) {
            slow_alphanumeric(&a, len, want);
            sb_dist_alphanumeric(&b, len, have);
            have[len] = '\0';
            CHECK_STR(have, want);
        }
    }
}

CHECK_FILE
{
    RUN(texts_of_a_seed);
    return check_done();
}
