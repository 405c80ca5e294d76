// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lua modules and cdef texts in the executable; scripts/embed generates the
// table.
#ifndef SB_EMBED_H
#define SB_EMBED_H

#include <stddef.h>

struct sb__embed {
    const char *name; // "sql": a Lua module, "sql.ffi": declarations
    const char *text; // NUL-terminated
    size_t len;       // without the NUL
};

extern const struct sb__embed sb__embed_table[]; // ends with a NULL name

#endif
