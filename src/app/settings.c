// SPDX-License-Identifier: GPL-2.0-or-later
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "base/log.h"
#include "kit/clock.h"

// The options of the program itself.

#define AT(field) offsetof(struct sb_app_opts, field)

static const struct sb_opt app_options[] = {
    { .name = "test",
        .type = SB_OPT_STRING,
        .offset = AT(test),
        .flags = SB_OPT_HIDDEN | SB_OPT_DEPRECATED,
        .help = "the name of the script as the first argument" },
    { .name = "config-file",
        .type = SB_OPT_STRING,
        .offset = AT(config_file),
        .flags = SB_OPT_COMMON | SB_OPT_NOFILE | SB_OPT_FILENAME,
        .help = "read options from this file, one name=value per line; "
                "lines below [WORKLOAD] apply to that workload only" },
    { .name = "config-strict",
        .type = SB_OPT_BOOL,
        .offset = AT(config_strict),
        .flags = SB_OPT_YIELDS,
        .help = "treat unknown options in --config-file as errors; always "
                "on for files with [WORKLOAD] sections" },
    { .name = "print-config",
        .type = SB_OPT_BOOL,
        .offset = AT(print_config),
        .flags = SB_OPT_NOFILE | SB_OPT_YIELDS,
        .help = "print all options with their values and sources, and exit" },
    { .name = "list",
        .type = SB_OPT_BOOL,
        .offset = AT(list),
        .flags = SB_OPT_COMMON | SB_OPT_NOFILE | SB_OPT_YIELDS,
        .help = "print the workloads, drivers and built-in tests, and exit" },
    { .name = "new-workload",
        .type = SB_OPT_STRING,
        .offset = AT(new_workload),
        .flags = SB_OPT_COMMON | SB_OPT_NOFILE | SB_OPT_YIELDS,
        .help = "write a complete workload to copy and change to the new file "
                "NAME.lua, and exit" },
    { .name = "luajit-cmd",
        .type = SB_OPT_STRING,
        .offset = AT(luajit_cmd),
        .help = "LuaJIT command, same as luajit -j: on, off, v, p=..." },
    { .name = "help",
        .type = SB_OPT_STRING,
        .offset = AT(help),
        .def = "off",
        .flags = SB_OPT_COMMON | SB_OPT_NOFILE | SB_OPT_SWITCH,
        .help = "print the most common options and exit; --help=SECTION: the "
                "options of a section, --help=all: all options, WORKLOAD "
                "--help: the options of the workload" },
    { .name = "version",
        .type = SB_OPT_BOOL,
        .offset = AT(version),
        .flags = SB_OPT_COMMON | SB_OPT_NOFILE,
        .help = "print version and exit" },
    { 0 },
};

const struct sb_opt_table sb_app_opt_table = {
    .title = "Program options",
    .section = "program",
    .opts = app_options,
};

const struct sb_app_table sb_app_tables[] = {
    { &sb_run_opt_table, offsetof(struct sb_app, run), false },
    { &sb_rate_opt_table, offsetof(struct sb_app, run), false },
    { &sb_worker_opt_table, offsetof(struct sb_app, run), false },
    { &sb_dist_opt_table, offsetof(struct sb_app, dist), false },
    { &sb_text_opt_table, offsetof(struct sb_app, text_opts), false },
    { &sb_report_opt_table, offsetof(struct sb_app, report_opts), false },
    { &sb_mix_opt_table, offsetof(struct sb_app, o), true },
    { &sb_sweep_opt_table, offsetof(struct sb_app, sweep_opts), false },
    { &sb_ab_opt_table, offsetof(struct sb_app, ab_opts), false },
    { &sb_beside_opt_table, offsetof(struct sb_app, beside_opts), false },
    { &sb_rank_opt_table, offsetof(struct sb_app, rank_opts), false },
    { &sb_db_opt_table, offsetof(struct sb_app, db), false },
    { &sb_sampler_opt_table, offsetof(struct sb_app, sampler_opts), false },
    { &sb_settle_opt_table, offsetof(struct sb_app, settle_opts), false },
    { &sb_app_opt_table, offsetof(struct sb_app, o), true },
    { NULL, 0, false },
};

// What follows from options of the core, when they have their values.

// The names that limits of a run may contain.
struct limit_names {
    const char *stage[SB_STAGES_MAX], *part[SB_MIX_MAX];
    struct sb_assert_names names;
};

// Returns NULL for a command without a run. n keeps what it returns.
static const struct sb_assert_names *names_of_run(
    const struct sb_app *a, struct limit_names *n)
{
    const struct sb_stages *s = &a->run.stages;
    const struct sb_mix *m = &a->run.mix;

    if (!a->command || strcmp(a->command, "run") != 0)
        return NULL;
    for (unsigned i = 0; i < s->n; i++)
        n->stage[i] = s->stage[i].name;
    for (unsigned i = 0; i < m->n; i++)
        n->part[i] = m->part[i].name;
    n->names = (struct sb_assert_names){ .stage = n->stage,
        .nstages = s->n,
        .part = n->part,
        .nparts = m->n,
        .beside = *a->beside_opts.command != '\0',
        .alone = a->beside_opts.alone,
        .price = a->text_opts.price > 0 };
    return &n->names;
}

// names: NULL if they are not known yet.
static int init_text(
    struct sb_app *a, const struct sb_assert_names *names, struct sb_err *err)
{
    int rc = sb_text_init(&a->text, &a->text_opts, stdout, err);

    a->text.debug = a->run.debug;
    a->text.db_debug = a->db.debug;
    if (rc == 0)
        rc = sb_reporters_init(&a->reporters, &a->report_opts, err);
    // Called again when the defaults of the script and all names are known.
    sb_asserts_done(&a->asserts);
    if (rc == 0)
        rc = sb_asserts_init(&a->asserts, a->report_opts.limits, names, err);
    sb_asserts_done(&a->headline_of);
    if (rc == 0)
        rc = sb_asserts_init_headline(
            &a->headline_of, a->report_opts.headline, names, err);
    if (rc == 0)
        rc = sb_until_init(&a->until, a->report_opts.until, err);
    a->text.none = a->reporters.no_text;
    return rc;
}

int sb_app_prepare_options(struct sb_app *a, struct sb_err *err)
{
    int rc = sb_random_share(&a->random, &a->dist, sb_clock_wall(), err);

    if (rc == 0)
        rc = init_text(a, NULL, err);
    sb_log_set_level(a->run.debug ? SB_LOG_DEBUG : (int)a->text_opts.verbosity);
    // Rank 0 prints warnings about options.
    if (sb_app_job_follows(a) && sb_log_level() > SB_LOG_ALERT)
        sb_log_set_level(SB_LOG_ALERT);
    sb_opts_warn(a->opts);
    return rc;
}

// parses --rate-limit. SB_EUSAGE.
static int rate_init(
    struct sb_app *a, const struct sb_assert_names *names, struct sb_err *err)
{
    sb_asserts_done(&a->rate_limits);
    if (!a->run.rate_search)
        return 0;
    return sb_asserts_init_search(
        &a->rate_limits, a->run.rate_limit, names, err);
}

// --until needs a maximum, and one load.
static int check_until(const struct sb_app *a, struct sb_err *err)
{
    if (a->until.n == 0)
        return 0;
    if (a->run.time == 0 && a->run.events == 0)
        return sb_err_set(err, SB_EUSAGE,
            "--until: --time or --events, the maximum, is required");
    if (a->run.stages.n > 0 || sb_run_opts_finds_rate(&a->run))
        return sb_err_set(err, SB_EUSAGE,
            "--until cannot be used with %s, which changes the load",
            a->run.stages.n > 0 ? "--stages" : "--rate=max");
    return 0;
}

// What the side that was measured before has left to do would be measured with
// the other side.
static int settle_pairs(struct sb_app *a, struct sb_err *err)
{
    struct sb_opt_view view;

    if (!a->ab || a->builtin || !sb_opts_find(a->opts, "settle", &view) ||
        view.table != &sb_settle_opt_table || view.source != SB_SRC_DEFAULT)
        return 0;
    return sb_opts_set(a->opts, "settle", "30s", SB_SRC_DEFAULT, err);
}

int sb_app_finish_options(struct sb_app *a, struct sb_err *err)
{
    bool requests = sb_opts_given(a->opts, "max-requests", false);
    bool time = sb_opts_given(a->opts, "time", false) ||
                sb_opts_given(a->opts, "max-time", false);
    const struct sb_assert_names *names = NULL;
    struct limit_names room;
    uint64_t limit;
    a->run.mix.by = a->o.mix_by; // a sweep changes it
    int rc = sb_app_ranks_threads(a, err);

    if (rc == 0)
        rc = sb_run_opts_finish(&a->run, time, requests, err);
    if (rc == 0)
        rc = sb_app_ranks_finish(a, err);
    if (rc == 0)
        names = names_of_run(a, &room);
    if (rc == 0)
        rc = rate_init(a, names, err);
    if (rc == 0)
        rc = sb_sampler_check(&a->sampler_opts, err);
    if (rc == 0)
        rc = settle_pairs(a, err);
    if (rc == 0)
        rc = sb_settle_limit(&a->settle_opts, &limit, err);
    if (rc == 0)
        rc = sb_app_beside_check(a, err);
    if (rc == 0)
        rc = sb_dist_prepare(&a->random.dist, &a->dist, err);
    if (rc == 0 && a->dist.seed)
        a->random.seed = (uint64_t)a->dist.seed;
    else if (rc == 0 && sb_app_job_follows(a))
        a->random.seed = a->setup.seed;
    if (rc == 0)
        rc = init_text(a, names, err);
    return rc ? rc : check_until(a, err);
}

// Decides which sections of the config file apply to the selected workload.

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
