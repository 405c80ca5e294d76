// SPDX-License-Identifier: GPL-2.0-or-later
//
// The memory of one Lua state. Lua passes the size of the memory it frees, so
// small blocks need no header and no rounding to 16 bytes. A user has one or
// two thousand small objects, so this saves a sixth of its memory.
#ifndef SB_SCRIPT_POOL_H
#define SB_SCRIPT_POOL_H

#include <stddef.h>
#include <stdint.h>

#define SB__POOL_UNIT  8    // sizes are rounded up to this, and blocks aligned
#define SB__POOL_SMALL 1024 // larger blocks come from malloc()
#define SB__POOL_WORDS (SB__POOL_SMALL / SB__POOL_UNIT / 64 + 1)

struct sb__pool {
    void *free[SB__POOL_SMALL / SB__POOL_UNIT + 1]; // by size in units
    uint64_t some[SB__POOL_WORDS]; // bit n: free[n] is not empty
    char *next;                    // rest of the newest chunk
    size_t left;
    void *chunks; // list; the first word of each is the next one
    // Called if the system refuses memory, which the pool then requests once
    // more. NULL: it does not.
    void (*refused)(void *arg);
    void *arg;
};

// A lua_Alloc. arg: the pool, initially {0}. One thread at a time.
void *sb__pool_alloc(void *arg, void *p, size_t old, size_t size);
// Frees the chunks. To be called after lua_close(), which frees larger blocks.
void sb__pool_done(struct sb__pool *pool);

#endif
