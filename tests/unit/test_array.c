// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit/array.h"

#include "check.h"

struct member {
    uint64_t a, b, c;
};

static void grows(void)
{
    struct member *p = NULL, *grown;
    size_t cap = 0, moves = 0;

    for (size_t n = 0; n < 10000; n++) {
        grown = sb_array_room(p, &cap, n, 1, sizeof(*p));
        CHECK(grown && cap > n);
        moves += grown != p;
        p = grown;
        p[n] = (struct member){ n, n + 1, n + 2 };
    }
    for (size_t n = 0; n < 10000; n++)
        CHECK(p[n].a == n && p[n].c == n + 2);
    CHECK(moves <= 12); // the capacity doubles
    free(p);
}

static void several_at_once(void)
{
    size_t cap = 0;
    struct member *p = sb_array_room(NULL, &cap, 0, 0, sizeof(*p));

    CHECK(p && cap > 0);
    p = sb_array_room(p, &cap, 1, 999, sizeof(*p));
    CHECK(p && cap >= 1000);
    CHECK(sb_array_room(p, &cap, 0, 1000, sizeof(*p)) == p);
    free(p);
}

// Sizes that do not fit size_t leave the array as it is.
static void too_much(void)
{
    size_t cap = 0;
    struct member *p = sb_array_room(NULL, &cap, 0, 1, sizeof(*p));
    size_t before = cap;

    p[0].a = 7;
    CHECK(!sb_array_room(p, &cap, 1, SIZE_MAX, sizeof(*p)));
    CHECK(!sb_array_room(p, &cap, 1, SIZE_MAX / sizeof(*p), sizeof(*p)));
    // The product is 16 modulo 2^64.
    CHECK(!sb_array_room(p, &cap, 1, SIZE_MAX / 24 + 1, sizeof(*p)));
    CHECK(cap == before && p[0].a == 7);
    free(p);
}

static void at_least(void)
{
    unsigned n = 0;
    struct member *p = sb_array_least(NULL, &n, 1, sizeof(*p));

    CHECK(p && p[0].a == 0 && p[0].c == 0);
    CHECK_INT(n, 1);
    p[0].a = 7;
    p = sb_array_least(p, &n, 1000, sizeof(*p));
    CHECK_INT(n, 1000);
    CHECK_INT(p[0].a, 7);
    for (unsigned i = 1; i < n; i++)
        CHECK(p[i].a == 0 && p[i].b == 0 && p[i].c == 0);
    CHECK(sb_array_least(p, &n, 999, sizeof(*p)) == p);
    CHECK_INT(n, 1000);
    CHECK(!sb_array_least(p, &n, 1001, SIZE_MAX / 4000));
    CHECK_INT(n, 1000);
    free(p);
}

CHECK_FILE
{
    RUN(grows);
    RUN(several_at_once);
    RUN(too_much);
    RUN(at_least);
    return check_done();
}
