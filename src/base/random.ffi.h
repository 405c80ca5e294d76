// SPDX-License-Identifier: GPL-2.0-or-later
//
// Random numbers of one user, for Lua. Ranges are inclusive; results are
// doubles because Lua numbers are (exact up to 2^53). A struct sb_random
// belongs to one user; not thread-safe.
#ifndef SB_RANDOM_FFI_H
#define SB_RANDOM_FFI_H

#include <stddef.h>
#include <stdint.h>

#include "base/export.h"

struct sb_random;

SB_FFI double sb_random_default(struct sb_random *r, double a, double b);
SB_FFI double sb_random_uniform(struct sb_random *r, double a, double b);
SB_FFI double sb_random_gaussian(struct sb_random *r, double a, double b);
SB_FFI double sb_random_special(struct sb_random *r, double a, double b);
SB_FFI double sb_random_pareto(struct sb_random *r, double a, double b);
SB_FFI double sb_random_zipfian(struct sb_random *r, double a, double b);
// As in YCSB: the hash of a zipfian number, modulo the width of the range.
SB_FFI double sb_random_scrambled_zipfian(
    struct sb_random *r, double a, double b);
// As in YCSB: zipfian, with the greatest value as the most frequent one.
SB_FFI double sb_random_latest(struct sb_random *r, double a, double b);
// As in YCSB: the FNV-1a hash of an integer, from 0 to 2^63 - 1. Thread-safe.
SB_FFI int64_t sb_random_fnv(double v);
// Returns the value that replaces v in a permutation of [a, b], which depends
// only on the key; key 0 is the permutation of --rand-scatter. Returns v if it
// is outside of the range.
SB_FFI double sb_random_scatter(
    struct sb_random *r, double v, double a, double b, double key);
// Returns a 32-bit number that no other call in a process of this run returns
// (up to 2^32 calls, divided by the number of ranks, in each), in an order that
// looks random. Thread-safe.
SB_FFI uint32_t sb_random_unique(struct sb_random *r);
// As sb_random_unique(), from a to b: returns each number of the range once
// before one repeats, whatever other ranges are in use. This holds for the
// first 64 ranges of a run; further ones share the counter of
// sb_random_unique(), and their numbers may repeat earlier. Numbers of ranges
// that overlap may be equal.
SB_FFI double sb_random_unique_in(struct sb_random *r, double a, double b);
SB_FFI uint64_t sb_random_uint64(struct sb_random *r);
// In [0, 1).
SB_FFI double sb_random_double(struct sb_random *r);
// Fills out with len bytes: '#' in fmt becomes a digit, '@' a letter a-z.
SB_FFI void sb_random_string(
    struct sb_random *r, const char *fmt, size_t len, char *out);
// Fills out with min to max characters '0' to 'z'; returns their number.
SB_FFI size_t sb_random_varstring(
    struct sb_random *r, size_t min, size_t max, char *out);
// Fills out with len digits and letters A-Z and a-z.
SB_FFI void sb_random_alphanumeric(struct sb_random *r, size_t len, char *out);
// From now on, numbers depend only on (run seed, table, id), until
// sb_random_resume() continues the user's own stream.
SB_FFI void sb_random_row(struct sb_random *r, uint32_t table, double id);
SB_FFI void sb_random_resume(struct sb_random *r);

#endif
