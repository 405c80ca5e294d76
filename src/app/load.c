// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loads scripts with their options.
#include <string.h>

#include "app/app.h"

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
    };
}

int sb_app_load_script(struct sb_app *a, struct sb_script **out,
    const struct sb_script_env *env, const char *name, struct sb_err *err)
{
    // Some scripts require a command; "help" has no side effects.
    const char *command = a->command || !a->o.print_config ? a->command
                                                           : "help";
    int rc = sb_script_load(out, env, name, command, err);

    if (rc == 0)
        return sb_script_add_options(*out, err);
    if (rc == SB_ENOTFOUND) {
        size_t len = strlen(err->msg);

        sb_app_workload_hint(a, name, err->msg + len, sizeof(err->msg) - len);
    }
    return rc;
}
