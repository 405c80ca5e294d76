// SPDX-License-Identifier: GPL-2.0-or-later
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <stdlib.h>

#include "kit/asan.h"
#include "kit/rng.h"
#include "kit/tsan.h"
#include "check.h"
#include "script/pool.h"

#define BLOCKS 400

struct block {
    unsigned char *p;
    size_t size;
};

// Fills a block with its number.
static void fill(struct block *b, int i)
{
    if (b->p)
        memset(b->p, i & 0xff, b->size);
}

static int damaged(const struct block *b, int i, size_t size)
{
    for (size_t k = 0; k < size; k++) {
        if (b->p[k] != (i & 0xff))
            return 1;
    }
    return 0;
}

// Blocks of all sizes are grown, shrunk and freed; all others keep their bytes.
static void keeps_contents(void)
{
    struct sb__pool pool = { 0 };
    struct block b[BLOCKS] = { 0 };
    struct sb_rng r;
    int bad = 0;

    sb_rng_init(&r, 1, 1);
    for (int n = 0; n < 40000; n++) {
        int i = (int)sb_rng_below(&r, BLOCKS);
        size_t most = sb_rng_below(&r, 8) ? 80 : 3 * SB__POOL_SMALL;
        size_t size = sb_rng_below(&r, most), old = b[i].size;

        b[i].p = sb__pool_alloc(&pool, b[i].p, old, size);
        b[i].size = size;
        bad += (b[i].p == NULL) != (size == 0);
        bad += (uintptr_t)b[i].p % SB__POOL_UNIT != 0;
        bad += damaged(&b[i], i, old < size ? old : size);
        fill(&b[i], i);
    }
    for (int i = 0; i < BLOCKS; i++) {
        bad += damaged(&b[i], i, b[i].size);
        sb__pool_alloc(&pool, b[i].p, b[i].size, 0);
    }
    CHECK_INT(bad, 0);
    sb__pool_done(&pool);
}

static size_t chunks(const struct sb__pool *pool)
{
    size_t n = 0;

    for (void *p = pool->chunks; p; memcpy(&p, p, sizeof(p)))
        n++;
    return n;
}

// Freed memory is reused, and small blocks have no headers.
static void wastes_nothing(void)
{
    struct sb__pool pool = { 0 };
    void *p[1000];

    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 1000; i++)
            p[i] = sb__pool_alloc(&pool, NULL, 0, 40);
        for (int i = 0; i < 1000; i++)
            sb__pool_alloc(&pool, p[i], 40, 0);
    }
    CHECK(chunks(&pool) <= 10);
    sb__pool_done(&pool);
    CHECK(chunks(&pool) == 0);
}

static void serves_lua(void)
{
    struct sb__pool pool = { 0 };
    lua_State *L = lua_newstate(sb__pool_alloc, &pool);

    if (!L) // LuaJIT with 32-bit references has its own allocator
        return;
    luaL_openlibs(L);
    CHECK_INT(
        luaL_dostring(L, "local t = {} for i = 1, 20000 do t[i % 999] = "
                         "{ tostring(i), ('x'):rep(i % 700) } end return #t"),
        0);
    CHECK_INT(lua_tointeger(L, -1), 998);
    lua_close(L);
    sb__pool_done(&pool);
}

static void count(void *arg)
{
    ++*(int *)arg;
}

// More memory than any system has.
static void asks_once_more_if_memory_is_refused(void)
{
    const size_t large = SIZE_MAX / 2;
    int n = 0;
    struct sb__pool pool = { .refused = count, .arg = &n };
    void *p;

    CHECK(!sb__pool_alloc(&pool, NULL, 0, large));
    CHECK_INT(n, 1);
    p = sb__pool_alloc(&pool, NULL, 0, 5000);
    memset(p, 'x', 5000);
    CHECK(!sb__pool_alloc(&pool, p, 5000, large));
    CHECK_INT(n, 2);
    CHECK_INT(((char *)p)[4999], 'x');
    sb__pool_alloc(&pool, p, 5000, 0);
    CHECK_INT(n, 2);
    sb__pool_done(&pool);
}

CHECK_FILE
{
    RUN(keeps_contents);
    RUN(wastes_nothing);
    RUN(serves_lua);
#if !defined(SB_ASAN) && !defined(SB_TSAN) // they end the program instead
    RUN(asks_once_more_if_memory_is_refused);
#else
    (void)asks_once_more_if_memory_is_refused;
    (void)count;
#endif
    return check_done();
}
