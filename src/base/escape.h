// SPDX-License-Identifier: GPL-2.0-or-later
//
// Makes untrusted text (a server's message, a script's) safe to print: a
// terminal displays it and executes no escape sequences in it. Pure.
#ifndef SB_ESCAPE_H
#define SB_ESCAPE_H

#include <stddef.h>

// Copies text to out: control characters, except line feed and tab, and bytes
// that are not UTF-8 become \xNN. out is NUL-terminated (size > 0) and
// truncated before the first character that does not fit; it must not overlap
// text. Returns the length of out.
size_t sb_escape(char *out, size_t size, const char *text);
// The same on one line: each run of line feeds, carriage returns and tabs
// becomes one space; trailing ones are removed.
size_t sb_escape_line(char *out, size_t size, const char *text);

#endif
