// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sections of config files: settings below [headers] are kept until the
// workload is known.

#include <assert.h>

#include "kit/buf.h"
#include "base/opts_private.h"

struct section {
    const char *name;   // text of the header without the brackets
    const char *origin; // "sysbench.cnf:12"
    enum sb_opts_section kind;
    struct sb__opts_list settings; // struct sb__opts_setting *
};

int sb__opts_section(
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

int sb__opts_add_to_section(
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

void sb__opts_sections_warn(
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
