// SPDX-License-Identifier: GPL-2.0-or-later
//
// Text for people, in lines that fit a terminal.
#ifndef SB_WRAP_H
#define SB_WRAP_H

#include <stddef.h>
#include <stdio.h>

// Returns how many characters a line may have: the environment variable COLUMNS
// if it is a number, otherwise the width of the terminal that `out` is, or 80
// if `out` is not a terminal. The minimum is 40.
size_t sb_wrap_width(FILE *out);

// Prints text from column `at` of a line that is begun, and ends the line.
// Further lines are indented by `indent` spaces, at most half the width. Lines
// break at spaces, and where the text has newlines; a word that is longer than
// a line breaks after a comma if it has one. Characters are those of UTF-8.
void sb_wrap(FILE *out, size_t at, size_t indent, const char *text);

#endif
