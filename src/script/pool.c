// SPDX-License-Identifier: GPL-2.0-or-later
#include "script/pool.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Less than a page, with the header of malloc(): it fits into what larger
// blocks have left.
#define CHUNK 4080
// Every state needs more than this. In threads other than the first one,
// malloc() extends its heap by what is asked for, with a system call each time.
#define FIRST_CHUNK 49136

_Static_assert(SB__POOL_UNIT >= sizeof(void *),
    "a free block of one unit has room for the next one's address");

static size_t units(size_t size)
{
    return (size + SB__POOL_UNIT - 1) / SB__POOL_UNIT;
}

static void put_block(struct sb__pool *pool, void *p, size_t n)
{
    assert(n > 0 && n <= SB__POOL_SMALL / SB__POOL_UNIT);
    memcpy(p, &pool->free[n], sizeof(void *));
    pool->free[n] = p;
    pool->some[n / 64] |= UINT64_C(1) << n % 64;
}

static char *take_block(struct sb__pool *pool, size_t n)
{
    char *p = pool->free[n];

    memcpy(&pool->free[n], p, sizeof(void *));
    if (!pool->free[n])
        pool->some[n / 64] &= ~(UINT64_C(1) << n % 64);
    return p;
}

// Returns the size of the smallest free blocks of at least n units; 0: none.
static size_t fitting(const struct sb__pool *pool, size_t n)
{
    uint64_t mask = UINT64_MAX << n % 64;

    for (size_t w = n / 64; w < SB__POOL_WORDS; w++, mask = UINT64_MAX) {
        if (pool->some[w] & mask)
            return w * 64 + (size_t)__builtin_ctzll(pool->some[w] & mask);
    }
    return 0;
}

// As realloc().
static void *system_alloc(struct sb__pool *pool, void *old, size_t size)
{
    void *p = realloc(old, size);

    if (p || !pool->refused)
        return p;
    pool->refused(pool->arg);
    return realloc(old, size);
}

static bool add_chunk(struct sb__pool *pool)
{
    size_t size = pool->chunks ? CHUNK : FIRST_CHUNK;
    char *chunk = system_alloc(pool, NULL, size);

    if (!chunk)
        return false;
    if (pool->left)
        put_block(pool, pool->next, pool->left / SB__POOL_UNIT);
    memcpy(chunk, &pool->chunks, sizeof(void *));
    pool->chunks = chunk;
    pool->next = chunk + sizeof(void *);
    pool->left = size - sizeof(void *);
    return true;
}

static void *get_block(struct sb__pool *pool, size_t size)
{
    size_t n = units(size);
    char *p;

    if (size > SB__POOL_SMALL)
        return system_alloc(pool, NULL, size);
    size_t found = fitting(pool, n);
    if (found) {
        p = take_block(pool, found);
        if (found > n)
            put_block(pool, p + n * SB__POOL_UNIT, found - n);
        return p;
    }
    if (pool->left < n * SB__POOL_UNIT && !add_chunk(pool))
        return NULL;
    p = pool->next;
    pool->next += n * SB__POOL_UNIT;
    pool->left -= n * SB__POOL_UNIT;
    return p;
}

static void give_back(struct sb__pool *pool, void *p, size_t size)
{
    if (size > SB__POOL_SMALL)
        free(p);
    else if (p)
        put_block(pool, p, units(size));
}

void *sb__pool_alloc(void *arg, void *p, size_t old, size_t size)
{
    struct sb__pool *pool = arg;
    void *q;

    if (size == 0) {
        give_back(pool, p, old);
        return NULL;
    }
    if (!p)
        return get_block(pool, size);
    if (old > SB__POOL_SMALL && size > SB__POOL_SMALL)
        return system_alloc(pool, p, size);
    if (size <= SB__POOL_SMALL && units(old) == units(size))
        return p;
    q = get_block(pool, size);
    if (q) {
        memcpy(q, p, old < size ? old : size);
        give_back(pool, p, old);
    }
    return q;
}

void sb__pool_done(struct sb__pool *pool)
{
    void *next;

    for (void *chunk = pool->chunks; chunk; chunk = next) {
        memcpy(&next, chunk, sizeof(next));
        free(chunk);
    }
    memset(pool, 0, sizeof(*pool));
}
