// SPDX-License-Identifier: GPL-2.0-or-later
//
// Decides which sections of the config file apply to the selected workload.
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"

#define NAME_SIZE 256

// Converts a workload name to the one that --list prints: "a/oltp_insert.lua"
// -> "oltp_insert", "mongodb/oltp" unchanged, and "oltp" -> "oltp_0_4",
// because that is the script that "oltp" selects.
static void list_name(const char *given, char *out)
{
    const char *base = sb_app_workload_name(given);
    size_t len = strlen(base);

    if (len > 4 && strcmp(base + len - 4, ".lua") == 0)
        len -= 4;
    else if (sb_script_is_old_oltp(given))
        base = "oltp_0_4", len = strlen(base);
    snprintf(out, NAME_SIZE, "%.*s", (int)len, base);
}

struct search {
    const char *pattern; // a name or a shell pattern
    const char *mine;    // the selected workload, "" if none
    enum sb_opts_section kind;
};

static void try_workload(void *arg, const char *name, const char *path)
{
    struct search *s = arg;

    (void)path;
    if (fnmatch(s->pattern, name, 0) == 0 && s->kind == SB_SECTION_UNKNOWN)
        s->kind = SB_SECTION_OTHER;
}

static void try_all(const struct sb_app *a, struct search *s)
{
    if (s->mine[0] && fnmatch(s->pattern, s->mine, 0) == 0) {
        s->kind = SB_SECTION_MINE;
        return;
    }
    for (size_t i = 0; i < sb_builtin_count; i++)
        try_workload(s, sb_builtins[i]->name, NULL);
    sb_app_each_installed(a, try_workload, s);
    sb_app_each_workload(".", "", try_workload, s);
}

// Returns whether a section names a component of a mix, or its workload.
static bool names_part(const struct sb_mix_part *part, const char *names)
{
    static const char between[] = ", \t";
    char mine[NAME_SIZE], pattern[NAME_SIZE], given[NAME_SIZE];

    list_name(part->workload, mine);
    for (const char *p = names + strspn(names, between); *p;) {
        size_t len = strcspn(p, between);

        snprintf(given, sizeof(given), "%.*s", (int)len, p);
        list_name(given, pattern);
        if (strcmp(given, part->name) == 0 || fnmatch(pattern, mine, 0) == 0)
            return true;
        p += len + strspn(p + len, between);
    }
    return false;
}

// The n-th component that a section is for.
static const char *component_of(void *arg, const char *names, unsigned n)
{
    const struct sb_mix *m = &((const struct sb_app *)arg)->run.mix;

    for (unsigned i = 0; i < m->n; i++)
        if (names_part(&m->part[i], names) && n-- == 0)
            return m->part[i].name;
    return NULL;
}

// A section may name several workloads: [oltp_read_only, oltp_insert].
static enum sb_opts_section kind_of(void *arg, const char *names)
{
    static const char between[] = ", \t";
    const struct sb_app *a = arg;
    const char *test = a->o.test[0] ? a->o.test
                                    : sb_opts_positional(a->opts, 0);
    char mine[NAME_SIZE] = "", pattern[NAME_SIZE], given[NAME_SIZE];
    struct search s = { .pattern = pattern, .mine = mine };

    if (component_of(arg, names, 0))
        return SB_SECTION_MINE;
    if (a->run.mix.n)
        test = NULL; // it is the command
    if (test)
        list_name(test, mine);
    for (const char *p = names + strspn(names, between); *p;) {
        size_t len = strcspn(p, between);

        snprintf(given, sizeof(given), "%.*s", (int)len, p);
        list_name(given, pattern);
        // A section can also give the path of a script in any folder.
        if (strchr(given, '/') && access(given, F_OK) == 0 &&
            s.kind == SB_SECTION_UNKNOWN)
            s.kind = SB_SECTION_OTHER;
        try_all(a, &s);
        p += len + strspn(p + len, between);
    }
    return s.kind;
}

int sb_app_read_config(struct sb_app *a, struct sb_err *err)
{
    int rc = sb_opts_file(a->opts, a->o.config_file, err);

    // The file itself may have --mix.
    if (rc == 0)
        rc = sb_app_mix_parse(a, err);
    if (rc)
        return rc;
    if (a->run.mix.n)
        sb_opts_sections_as(a->opts, component_of, a);
    return sb_opts_sections(a->opts, a->o.config_strict, kind_of, a, err);
}
