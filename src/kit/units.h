// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parses and formats numbers with units. Every parser accepts only the whole
// string (spaces around it allowed). It fails with SB_EUSAGE (not a number) or
// SB_ERANGE (overflow, or a negative size or duration); *out is then
// unchanged.
#ifndef SB_UNITS_H
#define SB_UNITS_H

#include <stddef.h>
#include <stdint.h>

// "12", "-3", "10k", "1.5M", "2G", "1B", "1T": powers of 1,000, any case. The
// result must be an integer.
int sb_units_count(const char *text, int64_t *out);
// "512", "64K", "10M", "1.5GiB", "2TB": bytes, powers of 1,024, any case. The
// result must be an integer.
int sb_units_size(const char *text, int64_t *out);
// "10", "1.5", "250ms", "90s", "1h30m", "2d": result in nanoseconds. A number
// without a unit is in units of bare_ns (1000000000 for seconds). Units are ns
// us ms s m h d, in lower case, the largest first; fractions of a nanosecond
// are truncated.
int sb_units_duration(const char *text, int64_t bare_ns, int64_t *out);
// Parses a finite double.
int sb_units_double(const char *text, double *out);
// The same with the suffixes of sb_units_count: "0.5", "1e3", "10k", "1.5M".
int sb_units_number(const char *text, double *out);
// Parses a finite double with a percent sign: "80%" is 80.
int sb_units_parse_percent(const char *text, double *out);

// Formats the value as short text that parses back to it: "1h30m", "1.5s",
// "250ms", "64K". Always NUL-terminated; truncated if it does not fit (32
// bytes are enough).
void sb_units_format_duration(int64_t ns, char *buf, size_t size);
void sb_units_format_size(int64_t bytes, char *buf, size_t size);

// Returns the number of decimals to print for a time in milliseconds: `usual`,
// or below 0.1 ms as many as three significant digits need, up to 6 (a
// nanosecond).
int sb_units_ms_decimals(double ms, int usual);

// Returns the precision of %.*g for three significant digits, and all digits
// before the point.
int sb_units_digits(double value);

#define SB_UNITS_PERCENT 16 // room for a percentage

// Formats a share of n among `of` as a percentage for users, without the sign:
// three significant digits ("0.0435", "4.35", "43.5", "100"). "0" and "100"
// mean none and all: a share near them is "99.9" or "< 0.0001". "-" if `of` is
// not above 0 or the share is not a number. Returns buf, SB_UNITS_PERCENT
// bytes.
const char *sb_units_percent(char *buf, double n, double of);

#endif
