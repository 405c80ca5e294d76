// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where settings come from: arguments, the environment, the config file with
// its sections; and those that no table declares.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/files.h"
#include "base/near.h"
#include "base/opts_private.h"
#include "kit/buf.h"

// Arguments and environment ---------------------------------------------------

#define ENV_PREFIX "SYSBENCH_"

static int bad_argument(char *arg, const char *why, struct sb_err *err)
{
    int rc = sb_err_set(
        err, SB_EUSAGE, "invalid option: %s (%s)", SB_SHOWN(arg), why);

    sb__opts_overwrite(arg, false);
    return rc;
}

static int read_option(struct sb_opts *o, char *arg, struct sb_err *err)
{
    struct sb__opts_setting s = { .source = SB_SRC_CMDLINE };
    char *equals = strchr(arg, '=');
    size_t len = equals ? (size_t)(equals - arg) : strlen(arg);

    if (len == 2)
        return bad_argument(arg, "a name must follow the dashes", err);
    s.name = sb__opts_strndup(o, arg + 2, len - 2);
    if (!s.name)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    if (equals)
        s.value = s.argv = equals + 1;
    return sb__opts_add_setting(o, &s, err);
}

// before: the argument before this one, as the user gave it.
static int read_argument(
    struct sb_opts *o, const char *before, char *arg, struct sb_err *err)
{
    struct sb__opts_setting help = { .name = "help", .source = SB_SRC_CMDLINE };
    char *copy;

    if (strncmp(arg, "--", 2) == 0)
        return read_option(o, arg, err);
    if (strcmp(arg, "-h") == 0)
        return sb__opts_add_setting(o, &help, err);
    // A password in the syntax of other clients, -pPASSWORD.
    const char *sign = strchr(arg, '='); // not "-percentile=99", but "-pUFc="
    if (arg[0] == '-' && arg[1] == 'p' && (!sign || !sign[1] || sign[1] == '='))
        sb__opts_overwrite(arg + 2, true);
    if (arg[0] == '-' && arg[1])
        return bad_argument(arg, "options begin with two dashes", err);
    copy = sb__opts_strdup(o, arg);
    if (!copy || sb__opts_push(o, &o->positions, copy))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    // Such an option may have no value, as in "--mysql-password run".
    if (strncmp(before, "--", 2) == 0 && !strchr(before, '=') &&
        sb_opts_secret_name(before + 2)) {
        o->unshown = copy;
        o->unshown_after = before;
    }
    // The syntax of other clients, -p PASSWORD. "-p" was an error, see above.
    if (strcmp(before, "-p") == 0)
        sb__opts_overwrite(arg, true);
    return 0;
}

int sb_opts_argv(struct sb_opts *o, int argc, char **argv, struct sb_err *err)
{
    int rc = 0;

    // Continues after an error, so that no secret stays in the process list
    // while the user reads the message.
    for (int i = 1; i < argc; i++) {
        struct sb_err later;
        int one = read_argument(
            o, i > 1 ? argv[i - 1] : "", argv[i], rc ? &later : err);

        if (!rc)
            rc = one;
    }
    return rc;
}

const char *sb_opts_positional(const struct sb_opts *o, size_t n)
{
    return n < o->positions.len ? o->positions.item[n] : NULL;
}

int sb_opts_unshown(
    const struct sb_opts *o, const char *argument, struct sb_err *err)
{
    const char *name;
    struct sb_opts_unknown u;

    if (!argument || argument != o->unshown)
        return 0;
    name = o->unshown_after + 2;
    snprintf(u.name, sizeof(u.name), "%s", name);
    if (!sb__opts_lookup(o, name))
        sb_opts_unknown(o, name, true, &u);
    bool cut = strcmp(u.name, name) != 0 && u.meant[0];
    return sb_err_set(err, SB_EUSAGE,
        "Unrecognized command line argument after --%s: write --%s%s", u.name,
        cut ? u.meant : u.name, cut ? "" : "=...");
}

// Variables that are read elsewhere and are not options.
static bool is_own_variable(const char *name, size_t len)
{
    static const char *const own[] = { "DRIVER_DIR", "LUA_DIR" };

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strlen(own[i]) == len && memcmp(own[i], name, len) == 0)
            return true;
    }
    return false;
}

static int read_variable(
    struct sb_opts *o, const char *var, size_t len, struct sb_err *err)
{
    const size_t skip = sizeof(ENV_PREFIX) - 1;
    struct sb__opts_setting s = { .source = SB_SRC_ENV };
    char *name = sb__opts_strndup(o, var + skip, len - skip);

    if (!name)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    for (char *p = name; *p; p++)
        *p = *p == '_' ? '-' : (char)tolower((unsigned char)*p);
    s.name = name;
    s.value = var + len + 1;
    s.origin = sb__opts_strndup(o, var, len);
    if (!s.origin)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return sb__opts_add_setting(o, &s, err);
}

int sb_opts_env(struct sb_opts *o, char *const *envp, struct sb_err *err)
{
    const size_t skip = sizeof(ENV_PREFIX) - 1;

    for (; *envp; envp++) {
        const char *equals = strchr(*envp, '=');
        size_t len = equals ? (size_t)(equals - *envp) : 0;
        int rc;

        if (len <= skip || strncmp(*envp, ENV_PREFIX, skip) != 0 ||
            is_own_variable(*envp + skip, len - skip))
            continue;
        rc = read_variable(o, *envp, len, err);
        if (rc)
            return rc;
    }
    return 0;
}

// Sections --------------------------------------------------------------------

// Settings below [headers] of config files are kept until the workload is
// known.

struct section {
    const char *name;   // text of the header without the brackets
    const char *origin; // "sysbench.cnf:12"
    enum sb_opts_section kind;
    struct sb__opts_list settings; // struct sb__opts_setting *
};

static int add_section(
    struct sb_opts *o, const char *name, const char *origin, struct sb_err *err)
{
    struct section *c = sb__opts_alloc(o, sizeof(*c));

    if (c) {
        c->name = sb__opts_strdup(o, name);
        c->origin = sb__opts_strdup(o, origin);
    }
    if (!c || !c->name || !c->origin || sb__opts_push(o, &o->sections, c))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return 0;
}

static int add_to_section(
    struct sb_opts *o, const struct sb__opts_setting *given, struct sb_err *err)
{
    struct sb__opts_setting *s = sb__opts_alloc(o, sizeof(*s));
    struct section *c;

    assert(o->sections.len > 0);
    c = o->sections.item[o->sections.len - 1];
    if (s) {
        *s = *given;
        s->name = sb__opts_strdup(o, given->name);
        s->value = given->value ? sb__opts_strdup(o, given->value) : NULL;
        s->origin = sb__opts_strdup(o, given->origin);
    }
    if (!s || !s->name || !s->origin || (given->value && !s->value) ||
        sb__opts_push(o, &c->settings, s))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return 0;
}

static int apply_all(
    struct sb_opts *o, const struct section *c, struct sb_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->settings.len; i++)
        rc = sb__opts_add_setting(o, c->settings.item[i], err);
    return rc;
}

// Applies the settings of a section to one component of a mix.
static int apply_as(struct sb_opts *o, const struct section *c,
    const char *component, struct sb_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->settings.len; i++) {
        struct sb__opts_setting s = *(
            struct sb__opts_setting *)c->settings.item[i];
        struct sb_buf name;

        sb_buf_init(&name, 0);
        sb_buf_addf(&name, "%s.%s", component, s.name);
        s.name = name.data;
        rc = name.failed ? sb_err_set(err, SB_ENOMEM, "out of memory")
                         : sb__opts_add_setting(o, &s, err);
        sb_buf_done(&name);
    }
    return rc;
}

// Applies a section of the workload, or workloads, that run.
static int apply_mine(
    struct sb_opts *o, const struct section *c, struct sb_err *err)
{
    const char *component;
    int rc = 0;

    if (!o->as)
        return apply_all(o, c, err);
    for (unsigned n = 0; rc == 0 && (component = o->as(o->as_arg, c->name, n));
         n++)
        rc = apply_as(o, c, component, err);
    return rc;
}

void sb_opts_sections_as(struct sb_opts *o,
    const char *(*as)(void *arg, const char *section, unsigned n), void *arg)
{
    o->as = as;
    o->as_arg = arg;
}

static int reject_section(const struct section *c, struct sb_err *err)
{
    return sb_err_set(err, SB_EUSAGE, "%s: unknown workload in [%s]", c->origin,
        SB_SHOWN(c->name));
}

int sb_opts_sections(struct sb_opts *o, bool strict,
    enum sb_opts_section (*kind)(void *arg, const char *name), void *arg,
    struct sb_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < o->sections.len; i++) {
        struct section *c = o->sections.item[i];

        c->kind = kind(arg, c->name);
        o->sectioned = o->sectioned || c->kind != SB_SECTION_UNKNOWN;
    }
    o->strict = strict || o->sectioned;
    for (size_t i = 0; rc == 0 && i < o->sections.len; i++) {
        struct section *c = o->sections.item[i];

        if (c->kind == SB_SECTION_UNKNOWN && strict)
            rc = reject_section(c, err);
        else if (c->kind == SB_SECTION_MINE)
            rc = apply_mine(o, c, err);
        else if (!o->sectioned)
            rc = apply_all(o, c, err);
    }
    return rc;
}

// Warns of sections that name no workload.
static void warn_of_sections(
    const struct sb_opts *o, void (*warn)(const char *text))
{
    char text[512];

    for (size_t i = 0; o->sectioned && i < o->sections.len; i++) {
        const struct section *c = o->sections.item[i];

        if (c->kind != SB_SECTION_UNKNOWN)
            continue;
        snprintf(text, sizeof(text),
            "%s: unknown workload in [%s]; its settings are ignored", c->origin,
            c->name);
        warn(text);
    }
}

// The config file -------------------------------------------------------------

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
        rc = add_section(o, section, where.data, err);
        goto out;
    }
    if (!s.name)
        goto out;
    s.origin = where.data;
    s.unshown = before->needs_secret && is_value(&s);
    before->needs_secret = is_value(&s) && sb_opts_secret_name(s.name);
    rc = before->in_section ? add_to_section(o, &s, err)
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

// Unknown names ---------------------------------------------------------------

const char *sb_opts_nearest(const struct sb_opts *o, const char *name)
{
    struct sb_near n;

    sb_near_init(&n, name);
    for (size_t i = 0; i < o->decls.len; i++)
        sb_near_try(
            &n, ((const struct sb__opts_decl *)o->decls.item[i])->opt->name);
    return n.best;
}

static size_t common_length(const char *name, const char *option)
{
    size_t n = 0;

    while (
        name[n] &&
        (name[n] == '_' ? '-' : tolower((unsigned char)name[n])) == option[n])
        n++;
    return n;
}

// Returns how much of an undeclared name may be shown: the rest may be a
// secret, as in "mysql-passwordPW" and "mysql-pasword:PW". *near: the option
// that is meant, or NULL.
static size_t shown_length(const struct sb_opts *o, const char *name,
    bool has_value, const char **near)
{
    size_t shown = sb__opts_secret_part(name, strlen(name)), most = 0;
    bool begins = false; // with the name of a secret option

    *near = NULL;
    for (size_t i = 0; i < o->decls.len; i++) {
        const struct sb__opts_decl *d = o->decls.item[i];
        size_t same = common_length(name, d->opt->name);

        // Each name would begin with that of --b.
        if (!sb__opts_secret(d->opt, d->opt->name, "") || !d->opt->name[1])
            continue;
        bool whole = d->opt->name[same] == '\0';
        // "beside-output" of "--beside-output=1" is another name.
        if (whole && has_value && strchr("-_", name[same]))
            continue;
        begins = begins || whole;
        if (same <= most)
            continue;
        most = same;
        *near = d->opt->name;
    }
    // With a value, the name ends before "=".
    if (!begins && (has_value || shown == 0)) {
        *near = NULL;
        return strlen(name);
    }
    if (most < shown / 2)
        *near = NULL;
    return most > shown ? most : shown;
}

void sb_opts_unknown(const struct sb_opts *o, const char *name, bool has_value,
    struct sb_opts_unknown *u)
{
    const char *near;
    int shown = (int)shown_length(o, name, has_value, &near);
    bool cut = name[shown] != '\0';
    char part[sizeof(u->name)];

    if (!cut || !near)
        near = sb_opts_nearest(o, name);
    snprintf(part, sizeof(part), "%.*s%s", shown, name, cut ? "..." : "");
    sb_opts_show(u->name, sizeof(u->name), part);
    snprintf(u->meant, sizeof(u->meant), "%s%s", near ? near : "",
        near && cut ? "=..." : "");
    for (char *p = u->meant; *p; p++) {
        if (*p == '-' || *p == '_')
            *p = strchr(name, '_') ? '_' : '-';
    }
}

static const char *hint(
    const struct sb_opts_unknown *u, const char *dashes, char *out, size_t size)
{
    out[0] = '\0';
    if (u->meant[0])
        snprintf(out, size, " (did you mean %s%s?)", dashes, u->meant);
    return out;
}

static void describe(const struct sb_opts *o, const struct sb__opts_setting *s,
    char *text, size_t size)
{
    struct sb_opts_unknown u;
    char near[128];

    sb_opts_unknown(o, s->name, s->value != NULL, &u);
    if (s->unshown)
        snprintf(text, size,
            "%s: unknown option; a value must be in the line of its option",
            s->origin);
    else if (sb__opts_not_accepted(o, s))
        snprintf(text, size, "%s: --%s is only accepted on the command line",
            s->origin, s->name);
    else if (s->source == SB_SRC_ENV)
        snprintf(text, size, "%s is not an option%s", s->origin,
            hint(&u, "--", near, sizeof(near)));
    else
        snprintf(text, size, "%s: unknown option '%s'%s", s->origin, u.name,
            hint(&u, "", near, sizeof(near)));
}

static int unknown(
    struct sb_opts *o, const struct sb__opts_setting *s, struct sb_err *err)
{
    const struct sb__opts_decl *d = sb__opts_lookup(o, s->name);
    struct sb_opts_unknown u;
    union sb__opts_value v;
    char text[512];

    if (s->source == SB_SRC_FILE) {
        describe(o, s, text, sizeof(text));
        return sb_err_set(err, SB_EUSAGE, "%s", text);
    }
    // apply() does not report an invalid value of an option that a script may
    // redeclare. No script did, so it is reported now.
    if (d && sb__opts_value(o, d->opt, s->value, &v, err))
        return SB_EUSAGE;
    sb_opts_unknown(o, s->name, s->value != NULL, &u);
    return sb_err_set(err, SB_EUSAGE, "invalid option: --%s%s", u.name,
        hint(&u, "--", text, sizeof(text)));
}

// When a line was applied, the other option in it may not have been declared.
static int check_lines(const struct sb_opts *o, struct sb_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];
        const struct sb__opts_decl *d = sb__opts_lookup(o, s->name);

        if (d && s->claimed)
            rc = sb__opts_one_per_line(o, s, d->opt, err);
    }
    return rc;
}

int sb_opts_check(
    struct sb_opts *o, void (*warn)(const char *text), struct sb_err *err)
{
    const struct sb__opts_setting *first = NULL;
    char text[512];

    for (size_t i = 0; i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];

        if (s->claimed)
            continue;
        if (s->source == SB_SRC_CMDLINE ||
            (s->source == SB_SRC_FILE && o->strict)) {
            first = first ? first : s;
        } else if (warn) {
            describe(o, s, text, sizeof(text));
            warn(text);
        }
    }
    if (warn)
        warn_of_sections(o, warn);
    return first ? unknown(o, first, err) : check_lines(o, err);
}
