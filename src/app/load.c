// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loads scripts with their options.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/opts.h"

// The names that results of scripts cannot have.
static bool is_figure(const char *name)
{
    return sb_answer_is_name(name, strlen(name)) && !sb_assert_is_result(name);
}

void sb_app_script_env(struct sb_app *a, struct sb_script_env *env)
{
    *env = (struct sb_script_env){
        .opts = a->opts,
        .paths = &a->paths,
        .run = &a->run,
        .random = &a->random,
        .drivers = a->drivers,
        .percentiles = a->text.npct ? &a->text.classic_pct : NULL,
        .npercentiles = a->text.npct ? 1 : 0,
        .argc = a->argc,
        .argv = a->argv,
        .luajit_cmd = a->o.luajit_cmd,
        .text = a->setup.script,
        .text_len = a->setup.script_len,
        .answers = &a->answers,
        .is_figure = is_figure,
        .found = a->setup.argv && a->setup.role != SB_SETUP_OF_CHECK,
    };
}

int sb_app_load_script(struct sb_app *a, struct sb_script **out,
    const struct sb_script_env *env, const char *name, struct sb_err *err)
{
    // Some scripts require a command; "help" has no side effects.
    const char *command = a->command || !a->o.print_config ? a->command
                                                           : "help";
    // A process of a sweep has it already.
    if (env->text && name && strcmp(name, "/dev/stdin") == 0)
        name = "-";
    int rc = sb_script_load(out, env, name, command, err);

    if (rc == 0)
        return sb_script_add_options(*out, err);
    if (rc == SB_ENOTFOUND) {
        size_t len = strlen(err->msg);

        sb_app_workload_hint(a, name, err->msg + len, sizeof(err->msg) - len);
    }
    return rc;
}

// --mix: loads the workloads of a mix with their own options.

#define AT(field) offsetof(struct sb_app_opts, field)

static const char *const mix_by[] = { "events", "users", NULL };

static const struct sb_opt mix_options[] = {
    { .name = "mix",
        .type = SB_OPT_STRING,
        .offset = AT(mix),
        .flags = SB_OPT_COMMON | SB_OPT_YIELDS,
        .help = "run several workloads, with weights and names: "
                "oltp_read_write:8,report=my.lua:1. Their own options are "
                "--NAME.OPTION, such as --report.tables=2" },
    { .name = "mix-by",
        .type = SB_OPT_ENUM,
        .offset = AT(mix_by),
        .def = "events",
        .choices = mix_by,
        .flags = SB_OPT_YIELDS,
        .help = "with --mix: weights are shares of events, or of users" },
    { 0 },
};

const struct sb_opt_table sb_mix_opt_table = {
    .title = "Mix options",
    .section = "mix",
    .opts = mix_options,
};

struct component {
    struct sb_script *script;
    struct sb_random_shared random; // with its own distribution
    struct sb_db_own db;
    const char **names, **values; // of db
};

struct sb__app_mix {
    struct sb_mixed mixed;
    struct component part[SB_MIX_MAX];
};

int sb_app_mix_parse(struct sb_app *a, struct sb_err *err)
{
    // With the name of a test, the option is that of a script, or an error.
    if (!a->o.mix[0] || a->o.test[0] || sb_opts_positional(a->opts, 1))
        return 0;
    a->run.mix.by = a->o.mix_by;
    return sb_mix_parse(&a->run.mix, a->o.mix, err);
}

void sb_app_mix_done(struct sb_app *a)
{
    for (unsigned i = 0; a->mix && i < SB_MIX_MAX; i++) {
        sb_script_free(a->mix->part[i].script);
        free(a->mix->part[i].names);
        free(a->mix->part[i].values);
    }
    free(a->mix);
}

// Loading ---------------------------------------------------------------------

// Returns whether a component can have its own value of an option of the
// program: random distributions, the driver, and the options of drivers. All
// other options apply to the whole run.
static bool allowed(void *arg, const struct sb_opt_view *view)
{
    const struct sb_app *a = arg;

    if (view->table == &sb_dist_opt_table)
        return strcmp(view->opt->name, "rand-seed") != 0;
    return strcmp(view->opt->name, "db-driver") == 0 ||
           sb_drivers_of(a->drivers, view->table) != NULL;
}

// Finds the component's own value of an option of the program.
static bool find_own(const struct sb_app *a, unsigned i, const char *name,
    struct sb_opt_view *view)
{
    char full[SB_MIX_NAME + 128];

    snprintf(full, sizeof(full), "%s.%s", a->run.mix.part[i].name, name);
    return sb_opts_find(a->opts, full, view);
}

// In two steps, because --NAME.db-driver may add the options of a driver.
static int load_own(struct sb_app *a, unsigned i, struct sb_err *err)
{
    const char *title = sb_script_title(a->mix->part[i].script);
    const char *name = a->run.mix.part[i].name;
    struct sb_opt_view view;
    int rc = sb_opts_own(a->opts, title, name, allowed, a, err);

    if (rc == 0 && find_own(a, i, "db-driver", &view) && view.text[0])
        rc = sb_drivers_need(a->drivers, view.text, err);
    return rc ? rc : sb_opts_own(a->opts, title, name, allowed, a, err);
}

static void share_random(struct sb_app *a, struct component *c)
{
    c->random.dist = a->random.dist;
    c->random.seed = a->random.seed;
    c->random.counter = &a->random;
}

static int load_one(struct sb_app *a, unsigned i, struct sb_err *err)
{
    const struct sb_mix_part *part = &a->run.mix.part[i];
    struct component *c = &a->mix->part[i];
    struct sb_script_env env;
    int rc;

    if (sb_builtin_find(part->workload))
        return sb_err_set(err, SB_EUSAGE,
            "--mix: '%s' is a built-in test; only scripts can be mixed",
            part->workload);
    share_random(a, c);
    c->db.prefix = part->prefix;
    sb_app_script_env(a, &env);
    env.random = &c->random;
    env.component = part->name;
    env.slot = i;
    env.db = &c->db;
    rc = sb_app_load_script(a, &c->script, &env, part->workload, err);
    return rc ? rc : load_own(a, i, err);
}

int sb_app_mix_load(struct sb_app *a, struct sb_err *err)
{
    int rc = sb_app_mix_parse(a, err); // a sweep may have changed --mix-by

    if (rc)
        return rc;
    assert(!a->mix && a->run.mix.n > 0);
    a->mix = calloc(1, sizeof(*a->mix));
    if (!a->mix)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    for (unsigned i = 0; rc == 0 && i < a->run.mix.n; i++)
        rc = load_one(a, i, err);
    return rc;
}

// Values ----------------------------------------------------------------------

struct collect {
    struct sb_app *a;
    unsigned part;
    const char *driver; // a driver whose options are given, or NULL
    bool several;       // options of several drivers are given
    struct sb_dist_opts dist;
    bool own_dist;
};

// The whole value, also that of a secret.
static const char *text_of(const struct sb_opt_view *view)
{
    return view->opt->type == SB_OPT_STRING ? *(const char *const *)view->value
                                            : view->text;
}

static int add_db(struct component *c, const struct sb_opt_view *view)
{
    size_t size = (c->db.n + 1) * sizeof(const char *);
    const char **names = realloc(c->names, size);

    if (names)
        c->names = names;
    const char **values = realloc(c->values, size);
    if (values)
        c->values = values;
    if (!names || !values)
        return SB_ENOMEM;
    names[c->db.n] = view->plain;
    values[c->db.n++] = text_of(view);
    c->db.names = names;
    c->db.values = values;
    return 0;
}

static int collect_one(void *arg, const struct sb_opt_view *view)
{
    struct collect *k = arg;
    struct component *c = &k->a->mix->part[k->part];
    struct sb_opt_view of;

    if (!view->component ||
        strcmp(view->component, k->a->run.mix.part[k->part].name) != 0 ||
        !sb_opts_find(k->a->opts, view->plain, &of))
        return 0;
    if (of.table == &sb_dist_opt_table) {
        sb_opts_copy_own(view, of.opt, &k->dist);
        k->own_dist = true;
    } else if (strcmp(view->plain, "db-driver") == 0) {
        c->db.driver = text_of(view);
    } else if (allowed(k->a, &of)) {
        const char *driver = sb_drivers_of(k->a->drivers, of.table);

        k->several = k->several || (k->driver && k->driver != driver);
        k->driver = driver;
        return driver ? add_db(c, view) : 0;
    }
    return 0;
}

static int ready_one(struct sb_app *a, unsigned i, struct sb_err *err)
{
    struct component *c = &a->mix->part[i];
    struct collect k = { .a = a, .part = i, .dist = a->dist };
    int rc;

    if (sb_opts_each(a->opts, collect_one, &k))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    // As without a mix, the options of a driver choose it.
    if (!c->db.driver && !k.several)
        c->db.driver = k.driver;
    share_random(a, c);
    rc = k.own_dist ? sb_dist_prepare(&c->random.dist, &k.dist, err) : 0;
    if (rc == 0)
        rc = sb_script_ready(c->script, err);
    if (rc == 0 && a->run.mix.by == SB_MIX_EVENTS &&
        sb_script_own_loop(c->script))
        rc = sb_err_set(err, SB_EUSAGE,
            "--mix: '%s' has an event loop of its own, thread_run(): use "
            "--mix-by=users",
            a->run.mix.part[i].name);
    return rc;
}

int sb_app_mix_ready(struct sb_app *a, struct sb_err *err)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < a->run.mix.n; i++)
        rc = ready_one(a, i, err);
    return rc;
}

// Scripts ---------------------------------------------------------------------

struct sb_script *sb__app_mix_script(const struct sb_app *a, unsigned i)
{
    assert(a->mix && i < a->run.mix.n);
    return a->mix->part[i].script;
}

struct sb_mixed *sb__app_mix_mixed(struct sb_app *a)
{
    return &a->mix->mixed;
}

void sb_app_each_file(const void *app,
    void (*visit)(void *arg, const char *path, const char *sha256), void *arg)
{
    const struct sb_app *a = app;

    if (a->script)
        sb_script_each_file(a->script, visit, arg);
    for (unsigned i = 0; a->mix && i < a->run.mix.n; i++)
        sb_script_each_file(a->mix->part[i].script, visit, arg);
}

bool sb_app_mix_ends(const struct sb_app *a)
{
    for (unsigned i = 0; i < a->run.mix.n; i++)
        if (!sb_script_ends(a->mix->part[i].script))
            return false;
    return true;
}

bool sb_app_mix_has_command(const struct sb_app *a, const char *command)
{
    for (unsigned i = 0; i < a->run.mix.n; i++)
        if (sb_script_command(a->mix->part[i].script, command) !=
            SB_COMMAND_NONE)
            return true;
    return false;
}

void sb_app_mix_lines(const struct sb_app *a,
    void (*print)(void *arg, struct sb_script *s), void *arg)
{
    for (unsigned i = 0; a->mix && i < a->run.mix.n; i++)
        print(arg, a->mix->part[i].script);
}
