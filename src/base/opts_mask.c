// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds text that must not be shown: passwords in URLs (scheme://user:pw@host)
// and connection strings (password=pw), session tokens of AWS, and whole
// values of secret options. A URL or string may be malformed: if the password
// is ambiguous, more text is hidden rather than less.
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/opts_private.h"
#include "kit/buf.h"

// Tells URLs and connection strings that are well formed from those in which
// the position of a password is unknown.

#define SPACES " \t\r\n\v\f"
#define KEY    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

// Returns the position of the first of the characters `ends` in p, or the end
// of the text. A backslash escapes the next character. Any thread.
static const char *opts_value_end(const char *p, const char *ends)
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
    const char *login = text + strspn(text, SPACES), *at, *end;

    login += strspn(login, KEY "+");
    if (strncmp(login, "://", 3) != 0)
        return false;
    login += 3;
    if (strstr(login, "://") || login[strcspn(login, SPACES)])
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
    const char *p = text + strspn(text, SPACES);

    while (*p) {
        size_t key = strspn(p, KEY);

        p += key + strspn(p + key, SPACES);
        if (key == 0 || *p != '=')
            return false;
        p++;
        p += strspn(p, SPACES);
        if (*p == '\'') {
            p = opts_value_end(p + 1, "'");
            if (*p != '\'')
                return false;
            p++;
        } else {
            p = opts_value_end(p, SPACES);
        }
        p += strspn(p, SPACES);
    }
    return true;
}

// True if text is a well-formed URL, or a list of key=value pairs as in the
// connection strings of libpq. Any thread.
static bool opts_address_is_clean(const char *text)
{
    return is_clean_url(text) || is_clean_list(text);
}

// A text and a flag per byte: hidden or not.
struct masked {
    const char *text, *end;
    char *hidden; // '*' for each hidden byte of the text; may be the text
};

static bool is_word(const char *word, size_t len, const char *text)
{
    return len == strlen(text) && strncasecmp(word, text, len) == 0;
}

// Last words of names of secrets; those of `keys` with the word before them,
// because "--keys=10", "--primary-key=on" and "--ssl-key=FILE" are no secrets.
// "require_auth" is a method of authentication.
static bool is_secret_ending(
    const char *before, size_t before_len, const char *last, size_t len)
{
    static const char *const words[] = { "token", "pw", "pass", "dbpass",
        "mypass", "pgpass", "userpass", "dbpw", "userpw", "passkey", "passcode",
        "cred", "creds", "credential", "credentials", "apikey", "authkey",
        "accesskey", "privatekey", "authorization", "bearer", "cookie", "jwt",
        "signature" };
    static const char *const keys[] = { "api", "access", "account", "auth",
        "encryption", "master", "private", "shared", "signing" };

    if (is_word(last, len, "auth"))
        return !is_word(before, before_len, "require");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (is_word(last, len, words[i]))
            return true;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (is_word(last, len, "key") && is_word(before, before_len, keys[i]))
            return true;
    }
    return false;
}

// The length of the word at p, which ends before a sign, a space, a digit or a
// capital: "api-key", "api key", "apiKey", "APIKey", "key2".
static size_t word_length(const char *p, const char *end)
{
    size_t len = 0, n = (size_t)(end - p);

    while (len < n && isalpha((unsigned char)p[len])) {
        bool capital = isupper((unsigned char)p[len]);
        bool after_small = len > 0 && islower((unsigned char)p[len - 1]);
        bool before_small = len + 1 < n && islower((unsigned char)p[len + 1]);

        if (capital && len > 0 && (after_small || before_small))
            break;
        len++;
    }
    return len;
}

size_t sb__opts_secret_part(const char *name, size_t n)
{
    // "sword", "pasw" and "passo" are parts of a mistyped "password".
    static const char *const parts[] = { "password", "passphrase", "passw",
        "sword", "pasw", "passo", "secret", "pwd" };

    for (size_t at = 0; at < n; at++) {
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
            size_t len = strlen(parts[i]);

            if (len <= n - at && is_word(name + at, len, parts[i]))
                return at + len;
        }
    }
    return 0;
}

static bool is_secret_name(const char *name, size_t n)
{
    const char *end = name + n, *before = "", *last = "";
    size_t before_len = 0, len = 0;

    if (sb__opts_secret_part(name, n))
        return true;
    for (const char *p = name; p < end; p++) {
        size_t word = word_length(p, end);

        if (word == 0)
            continue;
        before = last;
        before_len = len;
        last = p;
        len = word;
        p += word - 1;
    }
    return is_secret_ending(before, before_len, last, len);
}

bool sb_opts_secret_name(const char *name)
{
    return is_secret_name(name, strlen(name));
}

// True if a word of the name says that the value is a URL or a connection
// string.
static bool is_address_name(const char *name)
{
    static const char *const words[] = { "url", "uri", "conninfo", "dsn" };

    while (*name) {
        size_t len = strcspn(name, "-_");

        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            if (is_word(name, len, words[i]))
                return true;
        }
        name += len + (name[len] != '\0');
    }
    return false;
}

bool sb__opts_secret(
    const struct sb_opt *opt, const char *name, const char *text)
{
    if ((opt && (opt->flags & SB_OPT_SECRET)) || sb_opts_secret_name(name))
        return true;
    // In a malformed URL or connection string, the position of a password is
    // unknown, so all of it is hidden.
    return is_address_name(name) && !opts_address_is_clean(text);
}

// Reading --------------------------------------------------------------------

static void hide(struct masked *m, const char *from, const char *to)
{
    assert(from >= m->text && to <= m->end);
    if (from < to)
        memset(m->hidden + (from - m->text), '*', (size_t)(to - from));
}

static int digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10;
}

// Returns the character at *p, decoded if written as %XX, and moves *p after
// it.
static char next_char(const char **p)
{
    const char *s = *p;

    if (s[0] == '%' && isxdigit((unsigned char)s[1]) &&
        isxdigit((unsigned char)s[2])) {
        *p += 3;
        return (char)(digit(s[1]) * 16 + digit(s[2]));
    }
    *p += 1;
    return s[0];
}

static const char *skip_spaces(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

// Returns the first or last occurrence of c in [p, end), or NULL. escaped:
// also match %XX.
static const char *find_char(
    const char *p, const char *end, char c, bool last, bool escaped)
{
    const char *found = NULL;

    while (p < end && (last || !found)) {
        const char *at = p;

        if ((escaped ? next_char(&p) : *p++) == c)
            found = at;
    }
    return found;
}

static const char *behind(const char *at)
{
    next_char(&at);
    return at;
}

// Names ----------------------------------------------------------------------

static const char *word_end(const char *p)
{
    return opts_value_end(p, SPACES);
}

// A URL may contain spaces if it is the whole text.
static bool is_url(const char *text)
{
    const char *scheme = strstr(text, "://");

    return scheme && word_end(text) >= scheme;
}

// The end of an unquoted value. A following word that is not "key=value"
// belongs to the value.
static const char *words_end(const char *p)
{
    for (;;) {
        const char *end = word_end(p), *next = skip_spaces(end);

        if (!*next || memchr(next, '=', (size_t)(word_end(next) - next)))
            return end;
        p = next;
    }
}

static bool is_quote(char c)
{
    return c == '\'' || c == '"';
}

// The end of a string of which `at` is the first quote. A quote in it is
// doubled or escaped.
static const char *string_end(const char *at)
{
    const char quote[] = { *at, '\0' };

    at = opts_value_end(at + 1, quote);
    while (at[0] && at[1] == quote[0])
        at = opts_value_end(at + 2, quote);
    return at;
}

// The end of the value after a name and a sign.
static const char *value_end(const char *value, char sign, bool url)
{
    if (is_quote(*value))
        return string_end(value);
    return url ? value + strcspn(value, sign == ':' ? ",&" : "&")
               : words_end(value);
}

// Returns the beginning of the name that ends at `end`, such as "apiKey" of
// "x=1,apiKey=2".
static const char *name_before(const char *text, const char *end)
{
    while (end > text &&
           (isalnum((unsigned char)end[-1]) || strchr("_-.%", end[-1])))
        end--;
    return end;
}

// True for names of secrets, and for those that are only names of secrets
// before a value: the signature of a URL, properties that contain a session
// token of AWS, and -p=PASSWORD.
static bool names_secret(const char *p, const char *end)
{
    static const char *const more[] = { "sig", "authMechanismProperties",
        "-p" };
    char name[128];
    size_t n = 0;

    while (p < end && n < sizeof(name))
        name[n++] = next_char(&p);
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
        if (is_word(name, n, more[i]))
            return true;
    }
    return is_secret_name(name, n);
}

// Hides what follows the name of a secret and a sign: "token=T",
// "p%61ssword = 'P'", "Authorization: Bearer T". strings: only values in
// quotes.
static void hide_named(struct masked *m, bool strings)
{
    bool url = is_url(m->text);

    for (const char *p = m->text; *p;) {
        const char *end = p, *name, *value;
        char sign = next_char(&p);

        if (sign != '=' && sign != ':')
            continue;
        while (end > m->text && strchr(SPACES "'\"", end[-1]))
            end--;
        name = name_before(m->text, end);
        // A user's name precedes a colon.
        if ((sign == ':' && name > m->text && name[-1] == '/') ||
            !names_secret(name, end))
            continue;
        value = skip_spaces(p);
        if (!strings || is_quote(*value))
            hide(m, value + is_quote(*value), value_end(value, sign, url));
    }
}

// Whether a string with a password follows the word PASSWORD: PASSWORD('P'),
// PASSWORD E'P', SET PASSWORD FOR u = 'P'.
static bool begins_password(const char *p)
{
    p += strspn(p, SPACES "(");
    if (strncasecmp(p, "FOR", 3) == 0 && isspace((unsigned char)p[3]))
        return true;
    if (*p && strchr("eEnN", *p))
        p++;
    return is_quote(*p);
}

// Hides the strings of SQL from IDENTIFIED or PASSWORD to the end of the
// statement.
static void hide_sql(struct masked *m)
{
    const char *p = m->text;

    while (*p) {
        const char *word = p;

        while (isalnum((unsigned char)*p) || *p == '_')
            p++;
        size_t n = (size_t)(p - word);

        if (n == 0)
            p++;
        if (!is_word(word, n, "identified") &&
            !(is_word(word, n, "password") && begins_password(p)))
            continue;
        for (const char *end; *p && *p != ';'; p = end + (*end != '\0')) {
            end = p;
            if (!is_quote(*p))
                continue;
            end = string_end(p);
            hide(m, p + 1, end);
        }
    }
}

// "?passwordpw": a parameter whose sign is missing.
static void hide_parameters(struct masked *m)
{
    const char *p = strchr(m->text, '?');

    while (p && *p) {
        const char *end = p + 1 + strcspn(p + 1, "&");

        if (strncasecmp(p + 1, "passw", 5) == 0 &&
            !memchr(p, '=', (size_t)(end - p)))
            hide(m, p + 6, end);
        p = end;
    }
}

// Logins ---------------------------------------------------------------------

// Returns the '@' after the login that begins at p. A '/' or space that should
// have been escaped is still part of the password.
static const char *login_end(const char *p, const char *limit)
{
    const char *plain = p + strcspn(p, "/?#");
    const char *space = word_end(p), *at = NULL;

    if (space > limit)
        space = limit;
    if (plain < space)
        at = find_char(p, plain, '@', true, false);
    if (!at)
        at = find_char(p, space, '@', plain >= space, false);
    if (!at)
        at = find_char(p, limit, '@', true, false);
    return at ? at
              : find_char(p, plain < limit ? plain : limit, '@', true, true);
}

static bool is_port(const char *p, const char *end)
{
    while (p < end && isdigit((unsigned char)*p))
        p++;
    return p == end;
}

// Without an '@', the text after the colon of a host should be a port.
static void hide_port(struct masked *m, const char *p, const char *limit)
{
    const char *end = p + strcspn(p, "/?#");

    if (end > limit)
        end = limit;
    while (p < end) {
        const char *part = p + strcspn(p, ",");
        const char *close = *p == '[' ? strchr(p, ']') : NULL;
        const char *colon;

        if (part > end)
            part = end;
        colon = find_char(
            close && close < part ? close : p, part, ':', false, true);
        if (colon && !is_port(behind(colon), part)) {
            hide(m, behind(colon), limit);
            return;
        }
        p = part + 1;
    }
}

// p points after "://".
static void hide_login(struct masked *m, const char *p)
{
    const char *next = strstr(p, "://"), *limit = next ? next : m->end;
    const char *at = login_end(p, limit), *colon;

    // "://" may also be part of the password.
    if (!at && next && (colon = find_char(p, next, ':', false, true)) &&
        !is_port(behind(colon), next))
        at = find_char(next, m->end, '@', true, false);
    if (!at) {
        hide_port(m, p, limit);
        return;
    }
    colon = find_char(p, at, ':', false, false);
    if (!colon)
        colon = find_char(p, at, ':', false, true);
    if (colon)
        hide(m, behind(colon), at);
    hide_port(m, behind(at), limit);
}

// "user:pw@host", "scheme:/user:pw@host": not a URL, but meant to be one.
static void hide_bare_login(struct masked *m, const char *p, const char *limit)
{
    const char *stop = p + strcspn(p, "= \t\r\n\v\f'\"");
    const char *colon = find_char(p, stop, ':', false, true);
    const char *at = colon ? find_char(colon, limit, '@', true, true) : NULL;

    if (at)
        hide(m, behind(colon), at);
}

// The same for the whole text, or for the value in "key=value".
static void hide_bare_logins(struct masked *m)
{
    const char *p = m->text;

    hide_bare_login(m, p, m->end);
    while ((p = strchr(p, '='))) {
        p++;
        hide_bare_login(m, p, *m->text == '-' ? m->end : word_end(p));
    }
}

// True if the word is the program "mysql", "/bin/mariadb-dump", "mongosh": a
// client that takes a password as -p. Of most programs, -p is something else.
static bool is_client(const char *word, const char *end)
{
    static const char *const clients[] = { "mysql", "mariadb", "mongo",
        "sysbench" };
    const char *name;

    while (end > word && (end[-1] == '"' || end[-1] == '\''))
        end--;
    for (name = end; name > word; name--) {
        if (!isalpha((unsigned char)name[-1]) && !strchr("-_", name[-1]))
            break;
    }
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
        if (strncmp(name, clients[i], strlen(clients[i])) == 0)
            return true;
    }
    return false;
}

// True if the next word is a secret: behind "--password", "Bearer", or "-p" of
// a client.
static bool needs_secret(const char *word, size_t len, bool client)
{
    if (len == 2)
        return client && word[0] == '-' && word[1] == 'p';
    if (is_word(word, len, "Bearer"))
        return true;
    if (len < 3 || memcmp(word, "--", 2) != 0 || memchr(word, '=', len))
        return false;
    return is_secret_name(word + 2, len - 2);
}

// Command lines: "--password SECRET", "mysql -pSECRET", "mysql -p SECRET". A
// text that begins with "-p" may be an argument for a client.
static void hide_arguments(struct masked *m)
{
    const char *p = skip_spaces(m->text), *end;
    bool client = *p == '-' && !strchr(p, '=');

    for (; *p; p = skip_spaces(end)) {
        end = word_end(p);
        client = client || is_client(p, end);
        if (needs_secret(p, (size_t)(end - p), client)) {
            const char *next = skip_spaces(end);

            if (*next == '-')
                continue;
            end = word_end(next);
            hide(m, next, end);
        } else if (client && p[0] == '-' && p[1] == 'p') {
            hide(m, p + 2, end);
        }
    }
}

static void find_secrets(struct masked *m)
{
    bool url = false;

    hide_named(m, false);
    hide_sql(m);
    hide_arguments(m);
    for (const char *p = m->text; (p = strstr(p, "://")); url = true) {
        p += 3;
        hide_login(m, p);
    }
    if (url)
        hide_parameters(m);
    else
        hide_bare_logins(m);
}

// Hiding ---------------------------------------------------------------------

// Returns one byte per byte of text: whether it is hidden. If out of memory
// while searching, all of it is hidden.
static char *hidden_of(const char *text)
{
    size_t len = strlen(text);
    struct masked m = { .text = text, .end = text + len };

    m.hidden = calloc(1, len + 1);
    if (m.hidden)
        find_secrets(&m);
    return m.hidden;
}

void sb__opts_overwrite(char *text, bool whole)
{
    char *hidden = whole ? NULL : hidden_of(text);

    for (size_t i = 0; text[i]; i++) {
        if (!hidden || hidden[i])
            text[i] = '*';
    }
    free(hidden);
}

void sb_opts_overwrite_sql(char *sql)
{
    struct masked m = { .text = sql, .end = sql + strlen(sql), .hidden = sql };

    hide_named(&m, true);
    hide_sql(&m);
}

int sb__opts_mask_into(struct sb_buf *b, const char *text, bool whole)
{
    char *hidden = whole || !*text ? NULL : hidden_of(text);

    if (!hidden)
        return sb_buf_adds(b, *text ? "***" : "");
    for (size_t i = 0; text[i]; i++) {
        if (!hidden[i])
            sb_buf_add(b, text + i, 1);
        else if (i == 0 || !hidden[i - 1])
            sb_buf_adds(b, "***");
    }
    free(hidden);
    return b->failed ? SB_ENOMEM : 0;
}

char *sb_opts_hide(const char *text)
{
    struct sb_buf b = { 0 };

    if (*text == '\0')
        return strdup("");
    if (sb__opts_mask_into(&b, text, false) == 0)
        return b.data;
    sb_buf_done(&b);
    return NULL;
}

const char *sb_opts_show(char *out, size_t size, const char *text)
{
    char *shown = sb_opts_hide(text);

    snprintf(out, size, "%s", shown ? shown : "***");
    free(shown);
    return out;
}
