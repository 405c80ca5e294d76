// SPDX-License-Identifier: GPL-2.0-or-later
//
// Rows as LOAD DATA reads them: cells between tabs, rows between newlines, \N
// for NULL, backslashes before what would mean something. Pure; needs no
// client library.
#ifndef MYSQL_ENCODE_H
#define MYSQL_ENCODE_H

#include <stddef.h>

#include "db/driver.h"

// Most bytes that sbmy_encode() writes for v.
size_t sbmy_encode_room(const struct sb_value *v);
// Writes v and `after`, the tab or newline behind it; returns the end of what
// was written. Doubles are exact. The text needs sbmy_encode_room() bytes.
char *sbmy_encode(char *out, const struct sb_value *v, char after);

#endif
