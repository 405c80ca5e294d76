// SPDX-License-Identifier: GPL-2.0-or-later
//
// Room in an array that grows. The owner of the array keeps its pointer, its
// length and its capacity, and frees it.
#ifndef SB_ARRAY_H
#define SB_ARRAY_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SB_ARRAY_FIRST 16u // members of a new array, at least

// Makes room for `more` members of `size` bytes, > 0, behind the `len` that are
// in the array (NULL: new, *cap is 0). Returns the array, which may have moved,
// and updates *cap. NULL: out of memory, or more than memory can hold; the
// array and *cap are unchanged. At least one member always has room, so the
// array of no members is not NULL.
static inline void *sb_array_room(
    void *array, size_t *cap, size_t len, size_t more, size_t size)
{
    size_t want;
    void *grown;

    assert(size > 0 && len <= *cap && (array || *cap == 0));
    if (array && more <= *cap - len)
        return array;
    if (more > SIZE_MAX / 4 / size || len > SIZE_MAX / 4 / size)
        return NULL;
    want = 2 * *cap > SB_ARRAY_FIRST ? 2 * *cap : SB_ARRAY_FIRST;
    if (want < len + more)
        want = len + more;
    grown = realloc(array, want * size);
    if (grown)
        *cap = want;
    return grown;
}

// For arrays that grow rarely and have only a length, *n, and no capacity:
// makes the array at least `want` members long. `want` and `size`, the bytes of
// a member, are > 0. NULL with *n 0 is a new array. New members are zero.
// Returns the array, which may have moved, and updates *n. NULL: as above.
static inline void *sb_array_least(
    void *array, unsigned *n, unsigned want, size_t size)
{
    char *grown;

    assert(size > 0 && want > 0 && (array || *n == 0));
    if (want <= *n)
        return array;
    if (want > SIZE_MAX / 4 / size)
        return NULL;
    grown = realloc(array, want * size);
    if (!grown)
        return NULL;
    memset(grown + *n * size, 0, (want - *n) * size);
    *n = want;
    return grown;
}

#endif
