// SPDX-License-Identifier: GPL-2.0-or-later
//
// The config file: name=value lines, [sections].

#include <errno.h>

#include "kit/buf.h"
#include "base/files.h"
#include "base/opts_private.h"

#define FILE_MAX (16u << 20)
#define BLANKS   " \t\r\v\f"

static bool is_blank(char c)
{
    return c && strchr(BLANKS, c);
}

// Parses the value at v in place: removes quotes around the value or around
// items of a list, a comment, and blanks at both ends. Sets *has_options if
// " name=" or " --name=" is outside of quotes. Returns an error message or
// NULL.
static const char *unquote(char *v, bool *has_options)
{
    char *in = v + strspn(v, BLANKS), *out = v, *end = v;
    bool item = true;
    size_t len;

    while (*in && !(*in == '#' && in > v && is_blank(in[-1]))) {
        if (item && (*in == '"' || *in == '\'')) {
            char *close = strchr(in + 1, *in);

            if (!close)
                return "no closing quote";
            memmove(out, in + 1, (size_t)(close - in - 1));
            end = out += close - in - 1;
            in = close + 1 + strspn(close + 1, BLANKS);
            if (*in && *in != ',' && *in != '#')
                return "text after the closing quote";
            if (*in == '#')
                break;
            item = false;
            continue;
        }
        if (in > v && is_blank(in[-1]) && sb__opts_option_at(in, &len))
            *has_options = true;
        if (!is_blank(*in)) {
            item = *in == ',';
            end = out + 1;
        }
        *out++ = *in++;
    }
    *end = '\0';
    return NULL;
}

// Parses a header in place: "[name]" and an optional comment. Returns an error
// message or NULL.
static const char *unbracket(char *p, char **name)
{
    char *close = strchr(p, ']'), *behind = close ? close + 1 : NULL;

    if (!close)
        return "no closing bracket";
    behind += strspn(behind, BLANKS);
    if (*behind && *behind != '#' && *behind != ';')
        return "text after the closing bracket";
    while (close > p + 1 && is_blank(close[-1]))
        close--;
    *close = '\0';
    *name = p + 1 + strspn(p + 1, BLANKS);
    return **name ? NULL : "no section name";
}

// Splits a line in place into the name and the value of a setting. Returns an
// error message or NULL. The name is NULL for an empty line.
static const char *split(char *line, struct sb__opts_setting *s)
{
    char *p = line + strspn(line, BLANKS), *end, *value = NULL;

    if (*p == '\0' || *p == '#' || *p == ';')
        return NULL;
    if (strncmp(p, "--", 2) == 0)
        p += 2;
    end = p + strcspn(p, "=#" BLANKS);
    if (end == p)
        return "no option name";
    s->name = p;
    p = end + strspn(end, BLANKS);
    if (*p == '=')
        s->value = value = p + 1;
    else if (*p && !(*p == '#' && p > end))
        return "'=' must follow the option name";
    *end = '\0';
    return value ? unquote(value, &s->has_options) : NULL;
}

// State from earlier lines of the file that affects the next line.
struct before {
    bool in_section;   // a header was read
    bool needs_secret; // "mysql-password =": the value may be in this line
};

// The value of an option may have been written below it.
static bool is_value(const struct sb__opts_setting *s)
{
    return !s->value || s->value[strspn(s->value, "=")] == '\0';
}

static int read_line(struct sb_opts *o, const char *origin, size_t number,
    char *line, struct before *before, struct sb_err *err)
{
    struct sb__opts_setting s = { .source = SB_SRC_FILE };
    char *p = line + strspn(line, BLANKS), *section;
    bool header = *p == '[';
    const char *wrong = header ? unbracket(p, &section) : split(p, &s);
    struct sb_buf where;
    int rc = 0;

    sb_buf_init(&where, 0);
    sb_buf_addf(&where, "%s:%zu", origin, number);
    if (where.failed) {
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
        goto out;
    }
    if (wrong) {
        rc = sb_err_set(err, SB_EUSAGE, "%s: %s", where.data, wrong);
        goto out;
    }
    if (header) {
        before->in_section = true;
        rc = sb__opts_section(o, section, where.data, err);
        goto out;
    }
    if (!s.name)
        goto out;
    s.origin = where.data;
    s.unshown = before->needs_secret && is_value(&s);
    before->needs_secret = is_value(&s) && sb_opts_secret_name(s.name);
    rc = before->in_section ? sb__opts_add_to_section(o, &s, err)
                            : sb__opts_add_setting(o, &s, err);
out:
    sb_buf_done(&where);
    return rc;
}

int sb_opts_file_text(struct sb_opts *o, const char *origin, const char *text,
    size_t len, struct sb_err *err)
{
    const char *end = text + len, *p = text;
    struct before before = { 0 };

    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    for (size_t number = 1; p < end; number++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((nl ? nl : end) - p);
        char *line;
        int rc;

        if (memchr(p, '\0', n))
            return sb_err_set(err, SB_EUSAGE,
                "%s:%zu: NUL byte found: not a text file", origin, number);
        line = sb__opts_strndup(o, p, n);
        if (!line)
            return sb_err_set(err, SB_ENOMEM, "out of memory");
        rc = read_line(o, origin, number, line, &before, err);
        if (rc)
            return rc;
        p += n + 1;
    }
    return 0;
}

static int read_all(FILE *f, struct sb_buf *b)
{
    char part[4096];
    size_t n;

    while ((n = fread(part, 1, sizeof(part), f)) > 0) {
        if (sb_buf_add(b, part, n))
            return SB_ELIMIT;
    }
    return ferror(f) ? SB_ESYS : 0;
}

int sb_opts_file(struct sb_opts *o, const char *path, struct sb_err *err)
{
    char copy[SB_FILE_PATH];
    struct sb_buf b;
    FILE *f;
    int rc;

    sb_buf_init(&b, FILE_MAX);
    f = fopen(sb_file_path(path, copy), "re");
    rc = f ? read_all(f, &b) : SB_ESYS;
    if (rc == SB_ESYS) {
        int native = errno;

        sb_err_set(err, rc, "cannot read the config file '%s': %s",
            SB_SHOWN(path), strerror(native));
        if (err)
            err->native = native;
    } else if (rc) {
        rc = sb_err_set(err, SB_ESYS, "%s: too large for a config file", path);
    } else if (b.len) {
        rc = sb_opts_file_text(o, path, b.data, b.len, err);
    }
    if (f)
        fclose(f);
    sb_buf_done(&b);
    return rc;
}
