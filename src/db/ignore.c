// SPDX-License-Identifier: GPL-2.0-or-later
//
// --db-ignore-errors: errors that restart the event instead of ending the run.
// The list is used only after an error, so its entries are not converted.
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "db/internal.h"

#define STATE_LEN 5u // of an SQLSTATE

// "all", an error number, an SQLSTATE ("40001", "HY000"), or the beginning of
// one followed by '*'.
static bool well_formed(const char *entry)
{
    size_t len = strlen(entry);
    size_t n = strspn(entry, "0123456789");

    if (strcasecmp(entry, "all") == 0 || (n > 0 && n == len))
        return true;
    for (n = 0; isalnum((unsigned char)entry[n]);)
        n++;
    return n == len ? n == STATE_LEN
                    : n > 0 && n < STATE_LEN && strcmp(entry + n, "*") == 0;
}

int sb__ignore_check(const struct sb_opt_list *list, struct sb_err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!well_formed(list->item[i]))
            return sb_err_set(err, SB_EUSAGE,
                "--db-ignore-errors: '%s' is neither an error number nor an "
                "SQLSTATE of 5 characters nor 'all'",
                list->item[i]);
    }
    return 0;
}

static bool matches(const char *entry, const struct sb_err *e)
{
    size_t len = strlen(entry);
    char *end;
    long number = strtol(entry, &end, 10);

    if (strcasecmp(entry, "all") == 0)
        return true;
    if (*end == '\0' && e->native != 0 && number == e->native)
        return true;
    if (entry[len - 1] == '*')
        return strncasecmp(entry, e->state, len - 1) == 0;
    return len == STATE_LEN && strcasecmp(entry, e->state) == 0;
}

bool sb__ignored(const struct sb_opt_list *list, const struct sb_err *e)
{
    for (size_t i = 0; i < list->count; i++) {
        if (matches(list->item[i], e))
            return true;
    }
    return false;
}
