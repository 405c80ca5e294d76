// SPDX-License-Identifier: GPL-2.0-or-later
//
// A table of the error numbers of a database: how the driver classifies each
// number, and its hint for the user. Pure.
#ifndef SB_ERRNUM_H
#define SB_ERRNUM_H

#include <stddef.h>

struct sb_errnum {
    int native;       // the number
    int kind;         // of the driver: a code, or an enum of its own
    const char *hint; // "": none
};

// Returns the entry of a number, or NULL. n: entries of the table.
static inline const struct sb_errnum *sb_errnum_find(
    const struct sb_errnum *table, size_t n, int native)
{
    for (size_t i = 0; i < n; i++) {
        if (table[i].native == native)
            return &table[i];
    }
    return NULL;
}

// Returns the kind of a number, or `unknown` if it is not in the table.
static inline int sb_errnum_kind(
    const struct sb_errnum *table, size_t n, int native, int unknown)
{
    const struct sb_errnum *e = sb_errnum_find(table, n, native);

    return e ? e->kind : unknown;
}

// Returns the hint of a number, or "".
static inline const char *sb_errnum_hint(
    const struct sb_errnum *table, size_t n, int native)
{
    const struct sb_errnum *e = sb_errnum_find(table, n, native);

    return e ? e->hint : "";
}

#endif
