// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tells URLs and connection strings that are well formed from those in which
// the position of a password is unknown.

#include <string.h>

#include "base/opts_private.h"

#define KEY "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

const char *sb__opts_value_end(const char *p, const char *ends)
{
    while (*p && !strchr(ends, *p))
        p += *p == '\\' && p[1] ? 2 : 1;
    return p;
}

// "host[:port],..." in [p, end).
static bool are_clean_hosts(const char *p, const char *end)
{
    while (p < end) {
        p += *p == '[' ? strcspn(p, "]") : 0;
        p += strcspn(p, ":,/?#");
        if (*p == ':')
            p += 1 + strspn(p + 1, "0123456789");
        if (p < end && *p++ != ',')
            return false;
    }
    return true;
}

// "?key=value&...", or nothing.
static bool is_clean_query(const char *p)
{
    while (p && *p) {
        p++;
        if (*p && !memchr(p, '=', strcspn(p, "&")))
            return false;
        p += strcspn(p, "&");
    }
    return true;
}

// True if text is one URL whose password, if any, ends where find_secrets()
// assumes: scheme://[user[:password]@]host[:port],.../path?key=value&...
static bool is_clean_url(const char *text)
{
    const char *login = text + strspn(text, SB__OPTS_SPACES), *at, *end;

    login += strspn(login, KEY "+");
    if (strncmp(login, "://", 3) != 0)
        return false;
    login += 3;
    if (strstr(login, "://") || login[strcspn(login, SB__OPTS_SPACES)])
        return false;
    at = memchr(login, '@', strcspn(login, "/?#"));
    if (at && memchr(login, ';', (size_t)(at - login)))
        return false;
    if (at)
        login = at + 1;
    end = login + strcspn(login, "/?#");
    return !strchr(login, '@') && are_clean_hosts(login, end) &&
           is_clean_query(strchr(end, '?'));
}

// True if text is a list of "key = value" or "key = 'value'".
static bool is_clean_list(const char *text)
{
    const char *p = text + strspn(text, SB__OPTS_SPACES);

    while (*p) {
        size_t key = strspn(p, KEY);

        p += key + strspn(p + key, SB__OPTS_SPACES);
        if (key == 0 || *p != '=')
            return false;
        p++;
        p += strspn(p, SB__OPTS_SPACES);
        if (*p == '\'') {
            p = sb__opts_value_end(p + 1, "'");
            if (*p != '\'')
                return false;
            p++;
        } else {
            p = sb__opts_value_end(p, SB__OPTS_SPACES);
        }
        p += strspn(p, SB__OPTS_SPACES);
    }
    return true;
}

bool sb__opts_address_is_clean(const char *text)
{
    return is_clean_url(text) || is_clean_list(text);
}
