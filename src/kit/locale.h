// SPDX-License-Identifier: GPL-2.0-or-later
//
// Protects the input and output of the program from the locale that a script
// sets for the process: reports, SQL and JSON have a decimal point.
#ifndef SB_KIT_LOCALE_H
#define SB_KIT_LOCALE_H

#include <locale.h>

// Gives the calling thread the locale "C", whatever setlocale() does. A thread
// calls it when it begins, and after Lua code, which may call uselocale().
static inline void sb_locale_keep(void)
{
    // Neither allocates nor locks.
    uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

#endif
