// SPDX-License-Identifier: GPL-2.0-or-later
//
// The hash FNV-1a, 64 bits: fast for short texts such as names. Not for keys
// that an attacker chooses. Installed, for drivers outside of this tree.
#ifndef SB_HASH_H
#define SB_HASH_H

#include <stddef.h>
#include <stdint.h>

#define SB_HASH_START UINT64_C(0xcbf29ce484222325)

// Adds one byte, so that a caller can hash parts that are not in one place.
static inline uint64_t sb_hash_byte(uint64_t h, unsigned char byte)
{
    return (h ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t sb_hash_more(uint64_t h, const void *data, size_t len)
{
    const unsigned char *p = (const unsigned char *)data;

    for (size_t i = 0; i < len; i++)
        h = sb_hash_byte(h, p[i]);
    return h;
}

static inline uint64_t sb_hash(const void *data, size_t len)
{
    return sb_hash_more(SB_HASH_START, data, len);
}

// Of a string, without its NUL.
static inline uint64_t sb_hash_text(const char *text)
{
    uint64_t h = SB_HASH_START;

    for (; *text; text++)
        h = sb_hash_byte(h, (unsigned char)*text);
    return h;
}

#endif
