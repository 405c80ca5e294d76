// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds what must not be shown: passwords in URLs (scheme://user:pw@host) and
// in connection strings (password=pw), session tokens of AWS, and whole values
// of secret options.

#include <strings.h>

#include "base/buf.h"
#include "base/opts_private.h"

struct span {
    size_t start, len;
};

bool sb__opts_secret_name(const char *name)
{
    for (; *name; name++) {
        if (strncasecmp(name, "passw", 5) == 0 ||
            strncasecmp(name, "secret", 6) == 0)
            return true;
    }
    return false;
}

bool sb__opts_secret(const struct sb_opt *opt)
{
    return (opt->flags & SB_OPT_SECRET) || sb__opts_secret_name(opt->name);
}

// The end of the userinfo part that begins at p: its '@'. A password with a
// '/' that should have been escaped is still a password.
static const char *userinfo_end(const char *p)
{
    const char *stop = strstr(p, "://"), *at = NULL;
    size_t plain = strcspn(p, "/?# \t"), all = strcspn(p, " \t");

    if (stop && (size_t)(stop - p) < all)
        all = (size_t)(stop - p);
    for (size_t i = 0; i < all; i++) {
        if (i >= plain && at)
            break;
        if (p[i] == '@')
            at = p + i;
    }
    return at;
}

// p is behind "://".
static bool url_password(const char *text, const char *p, struct span *out)
{
    const char *end = userinfo_end(p), *colon;

    colon = end ? memchr(p, ':', (size_t)(end - p)) : NULL;
    if (!colon || colon + 1 == end)
        return false;
    out->start = (size_t)(colon + 1 - text);
    out->len = (size_t)(end - colon - 1);
    return true;
}

static size_t quoted_len(const char *p)
{
    size_t n = 0;

    while (p[n] && p[n] != '\'')
        n += p[n] == '\\' && p[n + 1] ? 2 : 1;
    return n;
}

// What has a secret behind it: "password=pw", "password = 'p w'".
static const struct key {
    const char *name;
    char sign;
    const char *ends_in_url;
} keys[] = {
    { "password", '=', "&# \t" },
    { "passwd", '=', "&# \t" },
    { "AWS_SESSION_TOKEN", ':', ",&# \t" },
};

// Whether p is such a key with a value.
static bool key_value(
    const char *text, const char *p, const struct key *key, struct span *out)
{
    const char *ends = strstr(text, "://") ? key->ends_in_url : " \t";
    size_t len = strlen(key->name);

    if (strncasecmp(p, key->name, len) != 0)
        return false;
    p += len;
    p += strspn(p, " \t");
    if (*p != key->sign)
        return false;
    p++;
    p += strspn(p, " \t");
    if (*p == '\'')
        len = quoted_len(++p);
    else
        len = strcspn(p, ends);
    out->start = (size_t)(p - text);
    out->len = len;
    return len > 0;
}

// The first secret at or behind `from`.
static bool next_secret(const char *text, size_t from, struct span *out)
{
    for (const char *p = text + from; *p; p++) {
        if (strncmp(p, "://", 3) == 0 && url_password(text, p + 3, out))
            return true;
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
            if (key_value(text, p, &keys[i], out))
                return true;
        }
    }
    return false;
}

void sb__opts_overwrite(char *text, bool whole)
{
    struct span s;

    if (whole) {
        memset(text, '*', strlen(text));
        return;
    }
    for (size_t at = 0; next_secret(text, at, &s); at = s.start + s.len)
        memset(text + s.start, '*', s.len);
}

const char *sb__opts_mask(struct sb_opts *o, const char *text, bool whole)
{
    const char *shown = NULL;
    struct sb_buf b;
    struct span s;
    size_t at = 0;

    if (!*text)
        return "";
    if (whole)
        return "***";
    sb_buf_init(&b, 0);
    for (; next_secret(text, at, &s); at = s.start + s.len) {
        sb_buf_add(&b, text + at, s.start - at);
        sb_buf_adds(&b, "***");
    }
    sb_buf_adds(&b, text + at);
    if (!b.failed)
        shown = sb__opts_strdup(o, b.data);
    sb_buf_done(&b);
    return shown;
}
