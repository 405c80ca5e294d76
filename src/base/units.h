// SPDX-License-Identifier: GPL-2.0-or-later
//
// Numbers as people write them. Every parser takes the whole string (spaces
// around it allowed) or fails with SB_EUSAGE (not a number) or SB_ERANGE
// (overflow, or a negative size or duration); *out is untouched then.
#ifndef SB_UNITS_H
#define SB_UNITS_H

#include <stddef.h>
#include <stdint.h>

// "12", "-3", "10k", "1.5M", "2G", "1B", "1T": steps of 1,000, any case. The
// result must be whole.
int sb_units_count(const char *text, int64_t *out);
// "512", "64K", "10M", "1.5GiB", "2TB": bytes, steps of 1,024, any case. The
// result must be whole.
int sb_units_size(const char *text, int64_t *out);
// "10", "1.5", "250ms", "90s", "1h30m", "2d": nanoseconds out. A bare number
// is in units of bare_ns (1000000000 for seconds). Units ns us ms s m h d, in
// lower case, the largest first; parts of a nanosecond are cut off.
int sb_units_duration(const char *text, int64_t bare_ns, int64_t *out);
// A finite double.
int sb_units_double(const char *text, double *out);
// The same with the suffixes of sb_units_count: "0.5", "1e3", "10k", "1.5M".
int sb_units_number(const char *text, double *out);

// Short text that parses back to the value: "1h30m", "1.5s", "250ms", "64K".
// Always NUL-terminated, cut when it does not fit (32 bytes are enough).
void sb_units_format_duration(int64_t ns, char *buf, size_t size);
void sb_units_format_size(int64_t bytes, char *buf, size_t size);

// Decimals to print a time in milliseconds with: `usual`, or as many more, up
// to 6 (a nanosecond), as three significant digits need when the time is below
// 0.1 ms.
int sb_units_ms_decimals(double ms, int usual);

#endif
