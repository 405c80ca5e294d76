// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/series.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/hash.h"

void sb_series_init(struct sb_series *s)
{
    memset(s, 0, sizeof(*s));
}

void sb_series_done(struct sb_series *s)
{
    for (unsigned i = 0; i < s->ncols; i++)
        free(s->col[i].name);
    free(s->col);
    free(s->value);
    free(s->slot);
    free(s->op);
    memset(s, 0, sizeof(*s));
}

static bool is_column(const struct sb_column *c, const char *group,
    const char *name, const char *figure)
{
    return strcmp(c->figure, figure) == 0 && strcmp(c->name, name) == 0 &&
           strcmp(c->group, group) == 0;
}

// Returns the slot of a column, or the free one where it belongs. There are
// free slots.
static unsigned *slot_of(const struct sb_series *s, const char *group,
    const char *name, const char *figure)
{
    uint64_t h = sb_hash_text(name);

    h = sb_hash_more(h, group, strlen(group));
    h = sb_hash_more(h, figure, strlen(figure));
    assert(s->ncols < s->nslots && (s->nslots & (s->nslots - 1)) == 0);
    for (;; h++) {
        unsigned *slot = &s->slot[h & (s->nslots - 1)];

        if (!*slot || is_column(&s->col[*slot - 1], group, name, figure))
            return slot;
    }
}

static int grow_slots(struct sb_series *s, unsigned cap)
{
    unsigned *slot = calloc(2 * (size_t)cap, sizeof(*slot));

    if (!slot)
        return SB_ENOMEM;
    free(s->slot);
    s->slot = slot;
    s->nslots = 2 * cap;
    for (unsigned i = 0; i < s->ncols; i++) {
        const struct sb_column *c = &s->col[i];

        *slot_of(s, c->group, c->name, c->figure) = i + 1;
    }
    return 0;
}

static int grow_columns(struct sb_series *s)
{
    unsigned cap = s->cap ? 2 * s->cap : 64;
    struct sb_column *col = realloc(s->col, cap * sizeof(*col));

    if (!col)
        return SB_ENOMEM;
    s->col = col;
    double *value = realloc(s->value, cap * sizeof(*value));
    if (!value)
        return SB_ENOMEM;
    s->value = value;
    if (grow_slots(s, cap))
        return SB_ENOMEM;
    s->cap = cap;
    return 0;
}

static int add_column(struct sb_series *s, const char *group, const char *name,
    const char *figure, const char *unit)
{
    if (s->ncols == s->cap && grow_columns(s))
        return SB_ENOMEM;
    // One block: the unit is behind the name.
    size_t length = strlen(name) + 1, size = strlen(unit) + 1;
    char *copy = malloc(length + size);
    if (!copy)
        return SB_ENOMEM;
    memcpy(copy, name, length);
    memcpy(copy + length, unit, size);
    s->col[s->ncols] = (struct sb_column){ group, copy, figure, copy + length };
    s->value[s->ncols++] = NAN;
    *slot_of(s, group, name, figure) = s->ncols;
    return 0;
}

int sb_series_copy(struct sb_series *to, const struct sb_series *from)
{
    while (to->ncols < from->ncols) {
        const struct sb_column *c = &from->col[to->ncols];

        if (add_column(to, c->group, c->name, c->figure, c->unit))
            return SB_ENOMEM;
    }
    if (from->ncols)
        memcpy(to->value, from->value, from->ncols * sizeof(*to->value));
    to->until = from->until;
    return 0;
}

// Returns the number of the column, ncols if there is none. Values come in the
// same order in every interval, so the column after the last one is tried
// first.
static unsigned find_column(const struct sb_series *s, unsigned from,
    const char *group, const char *name, const char *figure)
{
    unsigned slot;

    if (from < s->ncols && is_column(&s->col[from], group, name, figure))
        return from;
    slot = s->ncols ? *slot_of(s, group, name, figure) : 0;
    return slot ? slot - 1 : s->ncols;
}

int sb_series_set(struct sb_series *s, const char *group, const char *name,
    const char *figure, const char *unit, double value)
{
    unsigned i = find_column(s, s->next, group, name, figure);

    if (i == s->ncols) {
        if (s->ncols >= SB_COLUMNS_MAX) {
            s->left_out++;
            return 0;
        }
        if (add_column(s, group, name, figure, unit))
            return SB_ENOMEM;
    }
    assert(i < s->ncols);
    s->value[i] = value;
    s->next = i + 1;
    return 0;
}

double sb_series_get(const struct sb_series *s, const char *group,
    const char *name, const char *figure)
{
    unsigned i = find_column(s, 0, group, name, figure);

    return i < s->ncols ? s->value[i] : NAN;
}

// Text ------------------------------------------------------------------------

const char *sb_series_digits(const struct sb_column *c)
{
    return strcmp(c->group, "metric") == 0 ? "" : c->unit;
}

// Values without a unit are exact counts, sums of scripts, and shares.
static bool has_many_digits(const char *unit)
{
    return *unit == '\0' || strcmp(unit, "s") == 0;
}

void sb_series_text(char *out, size_t size, double value, const char *unit)
{
    bool many = has_many_digits(unit);

    if (!isfinite(value))
        snprintf(out, size, "null");
    else if (value == floor(value) && fabs(value) < 1e15)
        snprintf(out, size, "%.0f", value);
    else if (!many && fabs(value) >= 1000 && fabs(value) < 1e15)
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, many ? "%.7g" : "%.4g", value);
}

void sb_series_number(struct sb_buf *b, double value, const char *unit)
{
    char text[32];

    sb_series_text(text, sizeof(text), value, unit);
    sb_buf_adds(b, text);
}

void sb_series_json(struct sb_buf *b, const struct sb_series *s)
{
    for (unsigned i = 0; i < s->ncols; i++) {
        sb_buf_adds(b, i ? "," : "[");
        sb_series_number(b, s->value[i], sb_series_digits(&s->col[i]));
    }
    sb_buf_adds(b, "]");
}

static void add_heat(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    uint64_t *heat = arg;

    (void)width;
    heat[sb_hist_index(low) >> SB_HEAT_SHIFT] += count;
}

void sb_series_heat(struct sb_buf *b, const struct sb_hist_snap *h)
{
    uint64_t heat[SB_HEAT_BUCKETS] = { 0 };

    sb_hist_snap_each(h, add_heat, heat);
    sb_series_heat_row(b, heat);
}

void sb_series_heat_row(struct sb_buf *b, const uint64_t heat[SB_HEAT_BUCKETS])
{
    unsigned first = 0, end = SB_HEAT_BUCKETS;

    while (first < end && heat[first] == 0)
        first++;
    while (end > first && heat[end - 1] == 0)
        end--;
    if (first == end) {
        sb_buf_adds(b, "[]");
        return;
    }
    sb_buf_addf(b, "[%u", first);
    for (unsigned i = first; i < end; i++)
        sb_buf_addf(b, ",%" PRIu64, heat[i]);
    sb_buf_adds(b, "]");
}
