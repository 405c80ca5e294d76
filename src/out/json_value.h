// SPDX-License-Identifier: GPL-2.0-or-later
//
// Values and members of JSON (Jansson): what the parts of result files are made
// of. Functions that return a value return a new reference, or NULL if out of
// memory. Any thread.
#ifndef SB_JSON_VALUE_H
#define SB_JSON_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// How numbers and members are written.
#define SB_JSON_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

// Returns a string, or null for NULL; bytes that are not UTF-8 are replaced, so
// it never fails but for lack of memory.
json_t *sb_json_text(const char *text);
// Integers beyond 2^53 become strings, which no reader rounds.
json_t *sb_json_count(uint64_t n);
// A number: an integer if it has no fraction, null if it is not finite.
json_t *sb_json_number(double value);
// Writes a number for people: four significant digits and all digits before the
// point, or "-" if it is not finite. Returns out.
const char *sb_number_text(char *out, size_t size, double value);

// Set a member or append to an array, which may be NULL; false if out of
// memory. They take the reference.
bool sb__json_set(json_t *object, const char *name, json_t *value);
bool sb__json_set_text(json_t *object, const char *name, const char *text);
bool sb__json_set_count(json_t *object, const char *name, uint64_t n);
bool sb__json_append(json_t *array, json_t *value);
// Returns the value if everything in it was set, and otherwise frees it.
json_t *sb__json_complete(json_t *value, bool ok);
// Returns a text member of an object; "" if it has no such text.
const char *sb__json_text_of(const json_t *object, const char *name);
// Returns a number member of an object; NaN if it has no such number.
double sb__json_number_of(const json_t *object, const char *name);
// Reads an integer, or text of digits; false for others.
bool sb__json_is_count(const json_t *value, uint64_t *n);

#endif
