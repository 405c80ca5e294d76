// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // FNM_CASEFOLD
#include "db/counters.h"

#include <assert.h>
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "kit/array.h"
#include "kit/hash.h"

#define COUNTER_MAX_LEN 160
// A counter with its server; escaped bytes take four times the room.
#define NAME_MAX_LEN (4 * COUNTER_MAX_LEN + 420)

// Selection ------------------------------------------------------------------

static bool is_word(const char *item)
{
    return strcmp(item, "off") == 0 || strcmp(item, "auto") == 0;
}

int sb__picks_check(const struct sb_opt_list *items, struct sb_err *err)
{
    if (items->count == 0)
        return SB__PICK_NONE;
    for (size_t i = 0; items->count > 1 && i < items->count; i++) {
        if (is_word(items->item[i]))
            return sb_err_set(err, SB_EUSAGE,
                "--server-stats: '%s' cannot be combined with other items",
                items->item[i]);
    }
    if (strcmp(items->item[0], "off") == 0)
        return SB__PICK_NONE;
    return strcmp(items->item[0], "auto") == 0 ? SB__PICK_AUTO : SB__PICK_SOME;
}

static bool match(const char *pattern, const char *name)
{
    return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
}

// True if a name that begins with prefix may match: compares the part of the
// pattern before its first wildcard.
static bool match_prefix(const char *pattern, const char *prefix)
{
    for (; *pattern && *prefix && !strchr("*?[\\", *pattern);
         pattern++, prefix++) {
        if (tolower((unsigned char)*pattern) != tolower((unsigned char)*prefix))
            return false;
    }
    return *pattern || !*prefix;
}

static bool match_list(const char *list, const char *name,
    bool (*test)(const char *pattern, const char *name))
{
    char pattern[128];

    while (*list) {
        size_t n = strcspn(list, ",");

        snprintf(pattern, sizeof(pattern), "%.*s", (int)n, list);
        if (test(pattern, name))
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

static bool picked(const struct sb_opt_list *items, const char *short_list,
    const char *name, bool (*test)(const char *pattern, const char *name))
{
    for (size_t i = 0; i < items->count; i++) {
        const char *item = items->item[i];

        if (strcmp(item, "all") == 0)
            return true;
        if (strcmp(item, "default") != 0 && !is_word(item)) {
            if (test(item, name))
                return true;
        } else if (!short_list || match_list(short_list, name, test)) {
            return true;
        }
    }
    return false;
}

bool sb__picked(
    const struct sb_opt_list *items, const char *short_list, const char *name)
{
    return picked(items, short_list, name, match);
}

bool sb__picked_prefix(
    const struct sb_opt_list *items, const char *short_list, const char *prefix)
{
    return picked(items, short_list, prefix, match_prefix);
}

static bool is_pattern(const char *item)
{
    return !is_word(item) && strcmp(item, "default") != 0 &&
           strcmp(item, "all") != 0;
}

void sb__picks_found(
    const struct sb_opt_list *items, const char *name, bool *found)
{
    for (size_t i = 0; i < items->count; i++)
        found[i] = found[i] ||
                   (is_pattern(items->item[i]) && match(items->item[i], name));
}

size_t sb__picks_unknown(
    const struct sb_opt_list *items, const bool *found, char *out, size_t size)
{
    size_t n = 0, len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < items->count; i++) {
        if (found[i] || !is_pattern(items->item[i]))
            continue;
        if (len < size)
            len += (size_t)snprintf(
                out + len, size - len, "%s'%s'", n ? ", " : "", items->item[i]);
        n++;
    }
    return n;
}

// Table ----------------------------------------------------------------------

struct sb__counter_entry {
    char *name;    // with the suffix
    size_t suffix; // where it begins
    int kind;
    const char *unit; // a constant
    bool known;       // `raw` is the value at `to`, `base` that at `from`
    bool has_value;
    bool used; // the next rate begins at `to`
    double raw, base, value;
    uint64_t from, to;
    unsigned values;     // of a total
    double last, growth; // the last value, and the sum of all differences
};

void sb__counters_done(struct sb__counters *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->entry[i].name);
    free(t->entry);
    free(t->slot);
    *t = (struct sb__counters){ 0 };
}

// Returns the slot of the name, or the free one where it belongs.
static uint32_t *slot_of(const struct sb__counters *t, const char *name)
{
    size_t i = sb_hash_text(name) & (t->slots - 1);

    assert(t->n < t->slots); // the search ends at a free one
    while (t->slot[i] && strcmp(t->entry[t->slot[i] - 1].name, name) != 0)
        i = (i + 1) & (t->slots - 1);
    return &t->slot[i];
}

static bool grow_slots(struct sb__counters *t)
{
    size_t slots = t->slots ? t->slots * 2 : 64;
    uint32_t *old = t->slot;

    t->slot = calloc(slots, sizeof(*t->slot));
    if (!t->slot) {
        t->slot = old;
        return false;
    }
    free(old);
    t->slots = slots;
    for (size_t i = 0; i < t->n; i++)
        *slot_of(t, t->entry[i].name) = (uint32_t)i + 1;
    return true;
}

// Readers keep the unit, so it is not composed here.
static const char *shown_unit(const struct sb_counter *c)
{
    // Processors in use: seconds of processor time per second.
    static const char *const units[][2] = { { "bytes", "bytes/s" },
        { "pages", "pages/s" }, { "ms", "ms/s" }, { "s", "s/s" },
        { "processors", "processors" } };

    if (c->kind != SB_COUNTER_TOTAL)
        return c->unit ? c->unit : "";
    for (size_t i = 0; c->unit && i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(units[i][0], c->unit) == 0)
            return units[i][1];
    }
    return "/s";
}

static struct sb__counter_entry *entry_add(struct sb__counters *t,
    const struct sb_counter *c, const char *name, size_t suffix)
{
    struct sb__counter_entry *e;

    if (t->n >= SB__COUNTERS_MAX) {
        t->full = true;
        return NULL;
    }
    if (2 * (t->n + 1) > t->slots && !grow_slots(t))
        return NULL;
    e = sb_array_room(t->entry, &t->cap, t->n, 1, sizeof(*e));
    if (!e)
        return NULL;
    t->entry = e;
    e += t->n;
    *e = (struct sb__counter_entry){
        .name = strdup(name), .suffix = suffix, .kind = c->kind
    };
    if (!e->name)
        return NULL;
    e->unit = shown_unit(c);
    *slot_of(t, name) = (uint32_t)++t->n;
    return e;
}

static void store_level(struct sb__counter_entry *e, double raw, uint64_t now)
{
    e->used = false;
    e->has_value = true;
    e->value = raw;
    e->from = e->to = now;
}

// Unlike rates, growth continues across an outage, because its time does not
// matter.
static void add_growth(struct sb__counter_entry *e, double raw, bool base)
{
    if (base)
        e->values = 0;
    if (e->values == 0)
        e->growth = 0;
    else
        e->growth += raw >= e->last ? raw - e->last : raw;
    e->values += e->values < 2;
    e->last = raw;
}

static void store_total(struct sb__counter_entry *e, double raw, uint64_t now,
    uint64_t least, unsigned base)
{
    bool first = (base & SB__BASE_RATE) || !e->known || raw < e->raw;

    add_growth(e, raw, base & SB__BASE_GROWTH);
    if (first || e->used) {
        e->base = first ? raw : e->raw;
        e->from = first ? now : e->to;
    }
    e->used = false;
    e->has_value = now > e->from && now - e->from >= least;
    if (e->has_value)
        e->value = (raw - e->base) / ((double)(now - e->from) / 1e9);
    e->raw = raw;
    e->to = now;
    e->known = true;
}

bool sb__counters_put(struct sb__counters *t, const struct sb_counter *c,
    const char *suffix, uint64_t now, uint64_t least, unsigned base)
{
    char cut[COUNTER_MAX_LEN + 1], name[NAME_MAX_LEN];
    struct sb__counter_entry *e;
    size_t len;

    // Files and pages that show the name must be UTF-8.
    snprintf(cut, sizeof(cut), "%s", c->name);
    len = sb_escape_line(name, 4 * sizeof(cut), cut);
    snprintf(name + len, sizeof(name) - len, "%s", suffix);
    if (t->slots && *slot_of(t, name))
        e = &t->entry[*slot_of(t, name) - 1];
    else
        e = entry_add(t, c, name, len);
    if (e && e->kind == SB_COUNTER_TOTAL)
        store_total(e, c->value, now, least, base);
    else if (e)
        store_level(e, c->value, now);
    return e != NULL;
}

void sb__counters_forget(struct sb__counters *t, const char *suffix)
{
    for (size_t i = 0; i < t->n; i++) {
        struct sb__counter_entry *e = &t->entry[i];

        if (strcmp(e->name + e->suffix, suffix) == 0)
            e->known = e->has_value = false;
    }
}

bool sb__counters_growth(
    const struct sb__counters *t, size_t i, const char **name, double *growth)
{
    const struct sb__counter_entry *e = &t->entry[i];

    assert(i < t->n);
    *name = e->name;
    *growth = e->growth;
    return e->values > 1;
}

bool sb__counters_use(struct sb__counters *t, size_t i)
{
    bool first;

    assert(i < t->n);
    first = !t->entry[i].used;
    t->entry[i].used = true;
    return first;
}

void sb__counters_get(const struct sb__counters *t, size_t i, uint64_t oldest,
    struct sb_server_value *out)
{
    const struct sb__counter_entry *e = &t->entry[i];

    assert(i < t->n);
    *out = (struct sb_server_value){ .name = e->name,
        .unit = e->unit,
        .has_value = e->has_value && e->to >= oldest,
        .from = e->from,
        .to = e->to };
    if (out->has_value)
        out->value = e->value;
}
