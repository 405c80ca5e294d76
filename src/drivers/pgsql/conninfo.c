// SPDX-License-Identifier: GPL-2.0-or-later
//
// Connection strings and URIs. libpq's messages quote what it cannot parse,
// which may be the password. If a URI contains a password with a character that
// was not escaped, libpq takes a part of the password for a host, a port or a
// database. Therefore messages show nothing of the text, only what is wrong
// with it.
#include <arpa/inet.h>

#include "drivers/pgsql/internal.h"

// Beginnings of libpq's messages, and the reasons that are shown instead.
static const struct {
    const char *begin, *reason;
} reasons[] = {
    { "invalid percent-encoded",
        "a '%' is not followed by two hexadecimal digits" },
    { "forbidden value", "%00 is not allowed" },
    { "end of string reached when looking for matching \"]\"",
        "a '[' has no ']'" },
    { "IPv6 host address may not be empty", "there is no address in '[]'" },
    { "unexpected character", "neither ':' nor '/' follows a ']'" },
    { "extra key/value separator", "a parameter has more than one '='" },
    { "missing key/value separator", "a parameter has no '='" },
    { "invalid URI query parameter", "it has an unknown parameter" },
    { "invalid connection option", "it has an unknown keyword" },
    { "missing \"=\"", "a keyword is not followed by '='" },
    { "unterminated quoted string", "a quoted value does not end" },
    { "unexpected spaces", "spaces must be written as %20" },
    { "out of memory", "out of memory" },
};

static const char *reason_of(const char *text)
{
    for (size_t i = 0; text && i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (strncmp(text, reasons[i].begin, strlen(reasons[i].begin)) == 0)
            return reasons[i].reason;
    }
    return "libpq cannot parse it";
}

static const char *value_of(const PQconninfoOption *all, const char *keyword)
{
    for (; all->keyword; all++) {
        if (all->val && strcmp(all->keyword, keyword) == 0)
            return all->val;
    }
    return "";
}

static bool is_port(const char *s, size_t len)
{
    return strspn(s, "0123456789") >= len;
}

bool pgsql_is_host(const char *s, size_t len)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr unused;
    size_t plain;

    if (len > 0 && (s[0] == '/' || s[0] == '@')) // a Unix socket
        return strncmp(s, "//", 2) != 0;
    if (memchr(s, '@', len))
        return false;
    if (!memchr(s, ':', len))
        return true;
    plain = strcspn(s, "%"); // a scope may follow
    if (plain > len)
        plain = len;
    if (plain >= sizeof(address))
        return false;
    memcpy(address, s, plain);
    address[plain] = '\0';
    return inet_pton(AF_INET6, address, &unused) == 1;
}

// True if `is` returns true for all items of a comma-separated list.
static bool all_of(const char *list, bool (*is)(const char *s, size_t len))
{
    for (;;) {
        size_t len = strcspn(list, ",");

        if (!is(list, len))
            return false;
        if (!list[len])
            return true;
        list += len + 1;
    }
}

// Returns the reason to assume that a part of the password was taken for
// another setting; NULL if there is none.
static const char *suspect_reason(const PQconninfoOption *all, bool uri)
{
    const char *port = value_of(all, "port"), *user = value_of(all, "user");
    const char *db = value_of(all, "dbname");

    if (!all_of(port, is_port))
        return "a port is not a number";
    if (!all_of(value_of(all, "host"), pgsql_is_host) ||
        !all_of(value_of(all, "hostaddr"), pgsql_is_host))
        return "a host contains '@' or ':'";
    if (uri && strchr(user, ':') && !value_of(all, "password")[0])
        return "the user has a ':' in it, and there is no password";
    if (strstr(db, "://"))
        return "the name of the database is a URI";
    if (uri && port[0] && !user[0] && strchr(db, '@'))
        return "there is an '@' after the first '/'";
    return NULL;
}

int pgsql_conninfo_parse(
    const char *conninfo, PQconninfoOption **out, struct sb_err *err)
{
    bool uri = strstr(conninfo, "://") != NULL;
    const char *why;
    char *text = NULL;

    *out = PQconninfoParse(conninfo, &text);
    why = *out ? suspect_reason(*out, uri) : reason_of(text);
    PQfreemem(text);
    if (!why)
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "--pgsql-conninfo: %s (the text is not shown, because it may contain "
        "the password%s)",
        why,
        uri ? "; in it '@' is written as %40, ':' as %3A, '/' as %2F, '%' as "
              "%25"
            : "");
}

void pgsql_cut_quotes(char *text)
{
    size_t n = strcspn(text, "\"");

    while (n > 0 && strchr(" :", text[n - 1]))
        n--;
    text[n] = '\0';
}
