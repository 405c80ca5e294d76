// SPDX-License-Identifier: GPL-2.0-or-later
//
// Suggestions for mistyped workloads and commands, and for options of the
// other workload that is called oltp.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "kit/buf.h"
#include "base/log.h"
#include "base/near.h"

// Workloads -------------------------------------------------------------------

struct guess {
    struct sb_near near;
    char best[256]; // a copy: the caller frees the names
};

static void try_name(struct guess *g, const char *name)
{
    sb_near_try(&g->near, name);
    if (g->near.best != name)
        return;
    snprintf(g->best, sizeof(g->best), "%s", name);
    g->near.best = g->best;
}

static void try_workload(void *arg, const char *name, const char *path)
{
    (void)path;
    try_name(arg, name);
}

static bool is_command(const char *name)
{
    static const char *const names[] = { "prepare", "warmup", "prewarm", "run",
        "check", "cleanup", "help" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

void sb_app_workload_hint(
    const struct sb_app *a, const char *name, char *out, size_t size)
{
    const char *dot = strrchr(name, '.');
    bool lua = dot && strcmp(dot, ".lua") == 0;
    char bare[256];
    struct guess g;

    if (is_command(name)) {
        snprintf(out, size,
            " (a workload is missing, as in 'sysbench oltp_read_write %s'; "
            "'sysbench --list' shows all)",
            name);
        return;
    }
    snprintf(bare, sizeof(bare), "%.*s", (int)(lua ? dot - name : 255), name);
    sb_near_init(&g.near, bare);
    for (size_t i = 0; i < sb_builtin_count; i++)
        try_name(&g, sb_builtins[i]->name);
    sb_app_each_installed(a, try_workload, &g);
    sb_app_each_workload(".", "", try_workload, &g);
    out[0] = '\0';
    if (g.near.best)
        snprintf(out, size, " (did you mean %s%s?)", g.near.best,
            lua && !sb_builtin_find(g.near.best) ? ".lua" : "");
    else
        snprintf(out, size,
            " (searched: the current folder, the Lua path, %.160s)",
            a->paths.workloads);
}

// Commands --------------------------------------------------------------------

void sb_app_unknown_command(const struct sb_app *a, const char *const *known)
{
    const char *command = a->command;
    struct sb_err err;
    struct sb_near near;
    struct sb_buf text;

    if (sb_opts_unshown(a->opts, command, &err)) {
        sb_log(SB_LOG_USAGE, "%s", err.msg);
        return;
    }
    sb_near_init(&near, command);
    for (size_t i = 0; known[i]; i++)
        sb_near_try(&near, known[i]);
    sb_buf_init(&text, 0);
    sb_buf_addf(&text, "Unknown command: %s", SB_SHOWN(command));
    if (near.best)
        sb_buf_addf(&text, " (did you mean %s?)", near.best);
    for (size_t i = 0; known[i]; i++)
        sb_buf_addf(
            &text, "%s%s", i ? ", " : ". Supported commands: ", known[i]);
    sb_log(SB_LOG_USAGE, "%s", text.failed ? "Unknown command" : text.data);
    sb_buf_done(&text);
}

// The two workloads called oltp -----------------------------------------------

static const struct {
    const char *script, *other; // names without .lua
    const char *text;
} oltp_pairs[] = {
    { "oltp_0_4", "oltp",
        "an option of oltp.lua, the 0.5 workload; 'sysbench oltp' runs the 0.4 "
        "test" },
    { "oltp", "oltp_0_4",
        "an option of 'sysbench oltp', the 0.4 test; oltp.lua is the 0.5 "
        "workload" },
};

static bool declares(struct sb_app *a, const char *script, const char *option)
{
    const struct sb_script_env env = { .paths = &a->paths,
        .run = &a->run,
        .random = &a->random,
        .drivers = a->drivers,
        .luajit_cmd = "" };
    struct sb_opts *opts = sb_script_options_of(&env, script);
    struct sb_opt_view view;
    bool yes = opts && sb_opts_find(opts, option, &view);

    sb_opts_free(opts);
    return yes;
}

static int first_typed(void *arg, const char *name, const char *value,
    enum sb_opt_source source, const char *origin)
{
    (void)value;
    (void)origin;
    if (source != SB_SRC_CMDLINE)
        return 0;
    *(const char **)arg = name;
    return 1;
}

void sb_app_option_hint(struct sb_app *a, struct sb_err *err)
{
    const char *name = NULL;

    sb_opts_unclaimed(a->opts, first_typed, &name);
    if (!a->script || !name)
        return;
    for (size_t i = 0; i < sizeof(oltp_pairs) / sizeof(oltp_pairs[0]); i++)
        if (strcmp(sb_script_name(a->script), oltp_pairs[i].script) == 0 &&
            declares(a, oltp_pairs[i].other, name)) {
            sb_err_set(err, err->code, "invalid option: --%s (%s)", name,
                oltp_pairs[i].text);
            return;
        }
}
