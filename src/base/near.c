// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/near.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define NAME_MAX_LEN 64 // longer names are not compared

static int fold(char c)
{
    return c == '_' ? '-' : tolower((unsigned char)c);
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

// Number of edits between two names; a swap of two adjacent letters is one
// edit. Only the last three rows of the table are kept.
static size_t distance(const char *a, const char *b)
{
    size_t row[3][NAME_MAX_LEN + 1], na = strlen(a), nb = strlen(b);

    if (na > NAME_MAX_LEN || nb > NAME_MAX_LEN)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3];
        const size_t *before = row[(i + 1) % 3];

        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            int x = fold(a[i - 1]), y = fold(b[j - 1]);

            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == fold(b[j - 2]) && y == fold(a[i - 2]) &&
                before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
    }
    return row[na % 3][nb];
}

void sb_near_init(struct sb_near *n, const char *name)
{
    size_t len = strlen(name);

    n->name = name;
    n->best = NULL;
    n->max_edits = len / 3 > 2 ? len / 3 : 2;
    // With more edits, a very short name would match nearly any other name.
    if (len <= n->max_edits)
        n->max_edits = len ? len - 1 : 0;
}

void sb_near_try(struct sb_near *n, const char *candidate)
{
    size_t far = distance(n->name, candidate);

    if (far < n->max_edits || (far == n->max_edits && !n->best)) {
        n->best = candidate;
        n->max_edits = far;
    }
}
