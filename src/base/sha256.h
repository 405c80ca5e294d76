// SPDX-License-Identifier: GPL-2.0-or-later
//
// SHA-256 (FIPS 180-4): which version of a file was used, in a form that users
// can check with sha256sum.
#ifndef SB_SHA256_H
#define SB_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SB_SHA256_TEXT 65 // 64 hexadecimal digits and a NUL

struct sb_sha256 {
    uint32_t state[8];
    uint64_t length; // bytes so far
    unsigned char block[64];
};

void sb_sha256_init(struct sb_sha256 *s);
void sb_sha256_add(struct sb_sha256 *s, const void *data, size_t len);
// Writes the digest as text; *s must be initialized before it is used again.
void sb_sha256_text(struct sb_sha256 *s, char out[SB_SHA256_TEXT]);
// Writes the digest of a file. False: it cannot be read.
bool sb_sha256_file(const char *path, char out[SB_SHA256_TEXT]);

#endif
