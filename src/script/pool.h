// SPDX-License-Identifier: GPL-2.0-or-later
//
// The memory of one Lua state. Lua says how large what it frees is, so small
// blocks need no header and no rounding to 16 bytes: with the thousand or two
// small objects of a user this is a sixth of its memory.
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
};

// A lua_Alloc; arg: the pool, {0} at first. One thread at a time.
void *sb__pool_alloc(void *arg, void *p, size_t old, size_t size);
// Frees the chunks: after lua_close(), which frees the larger blocks.
void sb__pool_done(struct sb__pool *pool);

#endif
