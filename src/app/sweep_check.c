// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is checked before the first run of a sweep, in a process that has loaded
// the test: the swept options with all their values, and the commands.
#include <string.h>

#include "app/sweep_private.h"
#include "base/log.h"

void sb__sweep_check_begin(struct sb_app *a)
{
    const struct sb_sweep_plan *p = &a->sweep->plan;
    struct sb_fact fact[SB_SWEEP_OPTIONS_MAX];
    struct sb_opt_view view;
    struct sb_err err;

    if (a->sweep->plan_rc)
        return;
    sb_sweep_raw_values(p, 0, fact);
    // Errors are found again by sb_app_sweep_check(), which knows whether the
    // options are those of a sweep.
    for (unsigned i = 0; i < p->noptions; i++)
        if (sb_opts_find(a->opts, fact[i].name, &view))
            sb_opts_give(a->opts, fact[i].name, fact[i].value, &err);
}

static bool owned(const struct sb_app *a, const char *name)
{
    struct sb_opt_view view;

    return sb_opts_find(a->opts, name, &view) &&
           view.table != &sb_sweep_opt_table;
}

static int check_name(
    const struct sb_app *a, const char *name, struct sb_err *err)
{
    struct sb_opts_unknown u;
    struct sb_opt_view view;

    if (sb_opts_find(a->opts, name, &view))
        return 0;
    sb_opts_unknown(a->opts, name, true, &u);
    return sb_err_set(err, SB_EUSAGE, "--sweep: there is no option --%s%s%s%s",
        u.name, u.meant[0] ? " (did you mean --" : "", u.meant,
        u.meant[0] ? "?)" : "");
}

// Stages replace what the swept option sets: the runs would have other values
// than their names.
static int check_stages(
    const struct sb_app *a, const char *name, struct sb_err *err)
{
    const struct sb_stages *s = &a->run.stages;
    bool sets = (strcmp(name, "threads") == 0 && s->sets_users) ||
                (strcmp(name, "rate") == 0 && s->sets_rate);

    if (s->n == 0 || !sets)
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "--%s is swept, but --stages sets it, too, so the runs would not have "
        "the swept values: %s",
        name,
        strcmp(name, "rate") == 0
            ? "give the rates of --stages in percent of --rate (rate=50%)"
            : "set it in one of both");
}

// A script may have an option --mix, which can be swept.
static int check_mix(const struct sb_app *a, struct sb_err *err)
{
    const struct sb_sweep_plan *p = &a->sweep->plan;
    struct sb_opt_view view;

    if (!sb_opts_find(a->opts, "mix", &view) || view.table != &sb_mix_opt_table)
        return 0;
    for (unsigned i = 0; i < p->noptions; i++)
        if (p->option[i].name && strcmp(p->option[i].name, "mix") == 0)
            return sb_err_set(err, SB_EUSAGE, SB__SWEEP_MIX);
    return 0;
}

// Values may be wrong only together: --rate-limit without --rate=max.
static int check_point(struct sb_app *a, unsigned point, struct sb_err *err)
{
    const struct sb_sweep_plan *p = &a->sweep->plan;
    struct sb_fact fact[SB_SWEEP_OPTIONS_MAX];
    int rc = 0;

    sb_sweep_raw_values(p, point, fact);
    for (unsigned i = 0; rc == 0 && i < p->noptions; i++)
        rc = sb_opts_give(a->opts, fact[i].name, fact[i].value, err);
    // What is derived from the values of one point is not used for the next.
    const struct sb_run_opts given = a->run;

    if (rc == 0)
        rc = sb_app_finish_options(a, err);
    for (unsigned i = 0; rc == 0 && i < p->noptions; i++)
        rc = check_stages(a, fact[i].name, err);
    a->run = given;
    return rc;
}

static int check_commands(const struct sb_app *a, const char *option,
    const struct sb_opt_list *commands, struct sb_err *err)
{
    for (size_t i = 0; i < commands->count; i++)
        if (!sb_app_has_command(a, commands->item[i]))
            return sb_err_set(err, SB_EUSAGE,
                "--%s: '%s' test does not implement the '%s' command.", option,
                a->test, commands->item[i]);
    return 0;
}

static int check_all(struct sb_app *a, struct sb_err *err)
{
    struct sb_app_sweep *s = a->sweep;
    int rc = check_mix(a, err);

    if (rc == 0) {
        rc = s->plan_rc;
        *err = s->plan_err;
    }
    for (unsigned i = 0; rc == 0 && i < s->plan.noptions; i++)
        rc = check_name(a, s->plan.option[i].name, err);
    // The options of drivers, some of which are secret, are known now.
    if (rc == 0)
        rc = sb_sweep_plan_mask(&s->plan, a->opts, err);
    if (rc == 0)
        rc = check_commands(a, "sweep-before", &a->sweep_opts.before, err);
    if (rc == 0)
        rc = check_commands(a, "sweep-after", &a->sweep_opts.after, err);
    for (unsigned i = 0; rc == 0 && i < s->plan.npoints; i++)
        rc = check_point(a, i, err);
    return rc;
}

// The exit status of the process that has loaded the test.
int sb_app_sweep_check(struct sb_app *a)
{
    struct sb__sweep_owned *owns = a->sweep->owned;
    struct sb_err err = { 0 };

    owns->sweep = owned(a, "sweep");
    owns->repeat = owned(a, "repeat");
    if (owns->sweep ||
        (owns->repeat && !sb_opts_given(a->opts, "sweep", false)))
        return SB_EXIT_OK;
    if (check_all(a, &err)) {
        sb_log(SB_LOG_USAGE, "%s", err.msg);
        return SB_EXIT_FAILED;
    }
    return SB_EXIT_OK;
}

int sb_app_sweep_misused(const struct sb_app *a, struct sb_err *err)
{
    static const char *const names[] = { "sweep", "repeat", "sweep-resume" };
    struct sb_opt_view view;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (a->command && strcmp(a->command, "run") != 0 && !a->sweep &&
            !a->is_given && sb_opts_find(a->opts, names[i], &view) &&
            view.table == &sb_sweep_opt_table && view.source == SB_SRC_CMDLINE)
            return sb_err_set(err, SB_EUSAGE,
                "--%s only applies to the command run, not to %s", names[i],
                a->command);
    return 0;
}
