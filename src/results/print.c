// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "results/cmd_private.h"

static void print_escaped(FILE *out, const char *text,
    size_t (*escape)(char *out, size_t size, const char *text))
{
    size_t size = 4 * strlen(text) + 1;
    char *safe = malloc(size);

    // Without memory there is no text, but no unsafe one either.
    if (!safe)
        return;
    escape(safe, size, text);
    fputs(safe, out);
    free(safe);
}

void sb__cmd_print(FILE *out, const char *text)
{
    print_escaped(out, text, sb_escape);
}

void sb__cmd_print_line(FILE *out, const char *text)
{
    print_escaped(out, text, sb_escape_line);
}
