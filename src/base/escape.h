// SPDX-License-Identifier: GPL-2.0-or-later
//
// Makes untrusted text (a server's message, a script's) safe to print: a
// terminal displays it and executes no escape sequences in it. Makes it valid
// UTF-8 for formats that require it. Pure.
#ifndef SB_ESCAPE_H
#define SB_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

// Copies text to out: control characters, except line feed and tab, and bytes
// that are not UTF-8 become \xNN. out is NUL-terminated (size > 0) and
// truncated before the first character that does not fit; it must not overlap
// text. Returns the length of out.
size_t sb_escape(char *out, size_t size, const char *text);
// The same on one line: each run of line feeds, carriage returns and tabs
// becomes one space; trailing ones are removed.
size_t sb_escape_line(char *out, size_t size, const char *text);

// Copies text to out as UTF-8: U+FFFD replaces each byte that is not part of a
// character. out is NUL-terminated (size > 0) and truncated before the first
// character that does not fit. Returns whether out equals text.
bool sb_utf8_copy(char *out, size_t size, const char *text);
// The same for names that are keys: where sb_utf8_copy() would change the text,
// out ends with "~" and a hash of the whole text, so that different texts give
// different names. A name of this function is returned unchanged. size > 16.
void sb_utf8_name(char *out, size_t size, const char *text);
// Returns the greatest number of bytes up to `most` (<= len) that does not cut
// a character of the text.
size_t sb_utf8_cut(const char *text, size_t len, size_t most);

#endif
