// SPDX-License-Identifier: GPL-2.0-or-later
//
// Queries on all options: which were given, which are undeclared, which name
// is similar, and views of options.

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>

#include "base/near.h"
#include "base/opts_private.h"
#include "kit/buf.h"

#define NAME_MAX_LEN 64 // longer names are not compared

static bool means_prefix(
    const struct sb__opts_setting *s, const char *prefix, bool whole)
{
    struct sb__opts_setting cut = *s;
    char name[NAME_MAX_LEN + 1];
    size_t len = strlen(prefix);

    if (whole)
        return sb__opts_means(s, prefix);
    if (len > NAME_MAX_LEN || strlen(s->name) < len)
        return false;
    memcpy(name, s->name, len);
    name[len] = '\0';
    cut.name = name;
    return sb__opts_means(&cut, prefix);
}

// A setting from a source that the option does not accept counts as not given.
static bool not_accepted(
    const struct sb_opts *o, const struct sb__opts_setting *s)
{
    const struct sb__opts_decl *d;

    if (s->claimed || s->source == SB_SRC_CMDLINE)
        return false;
    for (size_t i = 0; i < o->decls.len; i++) {
        d = o->decls.item[i];
        if (sb__opts_means(s, d->opt->name))
            return d->opt->flags & SB_OPT_NOFILE;
    }
    return false;
}

bool sb_opts_given(const struct sb_opts *o, const char *name, bool prefix)
{
    const struct sb__opts_decl *d = sb__opts_lookup(o, name);

    // The option may have been set by an alias.
    if (d && d->source > SB_SRC_DEFAULT)
        return true;
    for (size_t i = 0; i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];

        if (s->source > SB_SRC_DEFAULT && means_prefix(s, name, !prefix) &&
            !not_accepted(o, s))
            return true;
    }
    return false;
}

int sb_opts_unclaimed(const struct sb_opts *o,
    int (*visit)(void *arg, const char *name, const char *value,
        enum sb_opt_source source, const char *origin),
    void *arg)
{
    for (size_t i = 0; i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];
        int rc;

        if (s->claimed || not_accepted(o, s))
            continue;
        rc = visit(arg, s->name, s->value, s->source, s->origin);
        if (rc)
            return rc;
    }
    return 0;
}

// The name in the spelling of the tables.
static char *plain_name(const char *name)
{
    char *copy = strdup(name);

    for (char *p = copy; p && *p; p++)
        *p = *p == '_' ? '-' : *p;
    return copy;
}

int sb_opts_settings(const struct sb_opts *o,
    int (*visit)(void *arg, const char *name, const char *value,
        enum sb_opt_source source),
    void *arg)
{
    for (size_t i = 0; i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];
        const struct sb__opts_decl *d = sb__opts_lookup(o, s->name);
        const char *value = s->value ? s->value : "";
        char *name = plain_name(s->name);
        struct sb_buf shown = { 0 };
        int rc = sb__opts_mask_into(
            &shown, value, sb__opts_secret(d ? d->opt : NULL, s->name, value));

        if (!name)
            rc = SB_ENOMEM;
        if (rc == 0 && !not_accepted(o, s))
            rc = visit(arg, name, shown.data ? shown.data : "", s->source);
        sb_buf_done(&shown);
        free(name);
        if (rc)
            return rc;
    }
    return 0;
}

int sb_opts_values(const struct sb_opts *o, const char *name,
    enum sb_opt_source source, int (*visit)(void *arg, const char *value),
    void *arg)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];

        if (s->source == source && sb__opts_means(s, name) &&
            !not_accepted(o, s))
            rc = visit(arg, s->value ? s->value : "");
    }
    return rc;
}

const char *sb_opts_shown(
    struct sb_opts *o, const char *name, const char *value)
{
    const struct sb__opts_decl *d = sb__opts_lookup(o, name);

    return sb__opts_mask(
        o, value, sb__opts_secret(d ? d->opt : NULL, name, value));
}

int sb_opts_give(
    struct sb_opts *o, const char *name, const char *value, struct sb_err *err)
{
    const struct sb__opts_setting s = {
        .name = name, .value = value, .source = SB_SRC_CMDLINE
    };

    return sb__opts_add_setting(o, &s, err);
}

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

        if (!sb__opts_secret(d->opt, d->opt->name, ""))
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
    else if (not_accepted(o, s))
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
        sb__opts_sections_warn(o, warn);
    return first ? unknown(o, first, err) : check_lines(o, err);
}

void sb__opts_view(const struct sb__opts_decl *d, struct sb_opt_view *view)
{
    const struct sb__opts_decl *t = d->alias ? d->alias : d;

    assert(!t->alias && t->shown);
    view->table = d->table;
    view->opt = d->opt;
    view->value = (const char *)t->target + t->opt->offset;
    view->text = t->shown;
    view->source = t->source;
    view->origin = t->origin;
    view->component = d->component;
    view->plain = d->plain ? d->plain : d->opt->name;
}

int sb_opts_each(const struct sb_opts *o,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg)
{
    for (size_t i = 0; i < o->decls.len; i++) {
        struct sb_opt_view view;
        int rc;

        sb__opts_view(o->decls.item[i], &view);
        rc = visit(arg, &view);
        if (rc)
            return rc;
    }
    return 0;
}

bool sb_opts_find(
    const struct sb_opts *o, const char *name, struct sb_opt_view *view)
{
    const struct sb__opts_decl *d = sb__opts_lookup(o, name);

    if (d)
        sb__opts_view(d, view);
    return d != NULL;
}
