// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/skew.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/dist.h"

// The range is divided into so many parts, or into its keys, if there are
// fewer.
#define CELLS 1000

// Of uniform draws, ranges with a smaller share are no keys.
#define KEYS_SHARE 20

static double keys_of(const struct sb_draw *d)
{
    return (double)d->span + 1;
}

static bool is_small(const struct sb_draw *d)
{
    return d->span < CELLS;
}

static int sign(bool greater, bool less)
{
    return (int)greater - (int)less;
}

// Of large ranges, all of similar size are one: tables grow.
static int by_range(const void *a, const void *b)
{
    const struct sb_draw *x = a, *y = b;
    int i = 0, j = 0;

    if (x->kind != y->kind)
        return sign(x->kind > y->kind, x->kind < y->kind);
    frexp(keys_of(x), &i);
    frexp(keys_of(y), &j);
    if (i != j || !is_small(x) || !is_small(y)) {
        bool one = !is_small(x) && !is_small(y) && i == j;

        return one ? 0 : sign(x->span > y->span, x->span < y->span);
    }
    if (x->span != y->span)
        return sign(x->span > y->span, x->span < y->span);
    return sign(x->low > y->low, x->low < y->low);
}

// Whether the n draws at a are keys rather than the m draws at b, which were
// drawn by the same function or by one of more interest. uniform: the number of
// all uniform draws.
static bool is_better(const struct sb_draw *a, size_t n,
    const struct sb_draw *b, size_t m, size_t uniform)
{
    if (m == 0)
        return true;
    if ((a->kind == SB_DRAW_UNIFORM) != (b->kind == SB_DRAW_UNIFORM))
        return b->kind == SB_DRAW_UNIFORM;
    if (a->kind != SB_DRAW_UNIFORM)
        return n > m;
    return KEYS_SHARE * n >= uniform &&
           (KEYS_SHARE * m < uniform || a->span > b->span);
}

// Returns the draws of the range of the keys; *n: their number.
static const struct sb_draw *choose(struct sb_draw *draw, size_t *n)
{
    const struct sb_draw *best = NULL;
    size_t all = *n, uniform = 0, end;

    for (size_t i = 0; i < all; i++)
        uniform += draw[i].kind == SB_DRAW_UNIFORM;
    *n = 0;
    for (size_t i = 0; i < all; i = end) {
        for (end = i + 1; end < all && by_range(&draw[i], &draw[end]) == 0;)
            end++;
        if (is_better(&draw[i], end - i, best, *n, uniform)) {
            best = &draw[i];
            *n = end - i;
        }
    }
    return best;
}

// The part of the range that a draw belongs to.
static size_t cell_of(const struct sb_draw *d, size_t cells)
{
    uint64_t at = d->at;

    if (d->kind == SB_DRAW_SCRAMBLED)
        at = (uint64_t)sb_ycsb_hash(at) % (d->span + 1);
    if (is_small(d))
        return at;
    double part = (double)at / keys_of(d) * (double)cells;

    return part < (double)cells ? (size_t)part : cells - 1;
}

struct cell {
    size_t number;
    size_t count[2]; // of each half of the sample
};

// Falling. Which of two equal cells is first does not depend on the other half.
static int by_count(const struct cell *x, const struct cell *y, int half)
{
    size_t a = x->count[half], b = y->count[half];

    return a == b ? sign(x->number > y->number, x->number < y->number)
                  : sign(a<b, a> b);
}

static int by_first(const void *a, const void *b)
{
    return by_count(a, b, 0);
}

static int by_second(const void *a, const void *b)
{
    return by_count(a, b, 1);
}

// The hottest parts of a sample got more in it than they get in the long run,
// because that is why they were chosen. So each half of the sample chooses
// parts whose draws are counted in the other half.
static double share_of_cells(
    const struct sb_draw *draw, size_t n, size_t cells, size_t hot)
{
    struct cell cell[CELLS] = { 0 };
    size_t sum = 0;

    for (size_t i = 0; i < cells; i++)
        cell[i].number = i;
    for (size_t i = 0; i < n; i++)
        cell[cell_of(&draw[i], cells)].count[i % 2]++;
    qsort(cell, cells, sizeof(*cell), by_first);
    for (size_t i = 0; i < hot; i++)
        sum += cell[i].count[1];
    qsort(cell, cells, sizeof(*cell), by_second);
    for (size_t i = 0; i < hot; i++)
        sum += cell[i].count[0];
    return (double)sum / (double)n;
}

// The hottest keys are the hashes of the first numbers, and get their part of
// the others.
static double share_of_items(const struct sb_draw *draw, size_t n, double hot)
{
    double first = 0;

    for (size_t i = 0; i < n; i++)
        first += (double)draw[i].at < hot;
    first /= (double)n;
    return first + (1 - first) * hot / keys_of(draw);
}

void sb_skew(struct sb_draw *draw, size_t n, struct sb_skew *out)
{
    const struct sb_draw *keys;
    size_t cells;

    *out = (struct sb_skew){ 0 };
    qsort(draw, n, sizeof(*draw), by_range);
    keys = choose(draw, &n);
    if (!keys)
        return;
    out->kind = keys->kind;
    out->draws = n;
    for (size_t i = 0; i < n; i++)
        out->keys = fmax(out->keys, keys_of(&keys[i]));
    out->hot = fmax(1, floor(out->keys / 100));
    cells = is_small(keys) ? (size_t)out->keys : CELLS;
    if (keys->kind == SB_DRAW_SCRAMBLED && !is_small(keys))
        out->share = share_of_items(keys, n, out->hot);
    else
        out->share = share_of_cells(
            keys, n, cells, is_small(keys) ? (size_t)out->hot : CELLS / 100);
}
