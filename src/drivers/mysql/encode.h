// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes rows in the format of LOAD DATA: values are separated by tabs, rows by
// newlines. Special characters, and the N of NULL, follow an escape character,
// which is not a backslash: a backslash is the second byte of some characters
// of SJIS, Big5 and GBK. Pure; does not require the client library.
#ifndef MYSQL_ENCODE_H
#define MYSQL_ENCODE_H

#include <stddef.h>

#include "db/driver.h"

#define SBMY_ESCAPE 0x1b // of LOAD DATA: FIELDS ESCAPED BY

// Returns the maximum number of bytes that sbmy_encode() writes for v,
// including `after`.
size_t sbmy_encode_room(const struct sb_value *v);
// Writes v and `after` (the tab or newline that follows it), and returns the
// end of the output. Doubles are written exactly.
char *sbmy_encode(char *out, const struct sb_value *v, char after);

#endif
