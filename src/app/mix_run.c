// SPDX-License-Identifier: GPL-2.0-or-later
//
// --mix: carries out a command for the workloads of a mix.
#include <string.h>

#include "app/private.h"
#include "base/log.h"

// Their figures are those of all events, which a script would print as its own.
static void warn_hooks(const struct sb_app *a)
{
    for (unsigned i = 0; i < a->run.mix.n; i++) {
        const struct sb_script *s = sb__app_mix_script(a, i);

        if (sb_script_has_report_hook(s, false) ||
            sb_script_has_report_hook(s, true))
            sb_log(SB_LOG_WARNING,
                "the report hooks of '%s' are not called in a mix",
                a->run.mix.part[i].name);
    }
}

static int run_mix(struct sb_app *a)
{
    struct sb_mixed *m = sb__app_mix_mixed(a);

    warn_hooks(a);
    m->mix = &a->run.mix;
    for (unsigned i = 0; i < a->run.mix.n; i++)
        m->part[i] = sb_script_workload(sb__app_mix_script(a, i));
    sb_mixed_init(m);
    return sb__app_run_workload(a, &m->workload);
}

int sb_app_mix_perform(struct sb_app *a)
{
    unsigned done = 0;
    int status = SB_EXIT_OK;

    if (!a->command) {
        sb_log(SB_LOG_USAGE,
            "--mix requires a command, such as prepare, run or cleanup");
        return SB_EXIT_FAILED;
    }
    if (strcmp(a->command, "run") == 0)
        return run_mix(a);
    for (unsigned i = 0; status == SB_EXIT_OK && i < a->run.mix.n; i++) {
        struct sb_script *s = sb__app_mix_script(a, i);

        if (sb_script_command(s, a->command) == SB_COMMAND_NONE)
            continue;
        if (!sb__app_quiet(a))
            printf("Workload %s:\n", a->run.mix.part[i].name);
        status = sb__app_command(a, s);
        if (!sb__app_quiet(a))
            printf("\n");
        done++;
    }
    if (status == SB_EXIT_FAILED && done > 1 &&
        strcmp(a->command, "prepare") == 0)
        sb_log(SB_LOG_NOTICE,
            "Workloads that use the same tables are prepared by one of them, "
            "without --mix.");
    if (done)
        return status;
    sb_log(SB_LOG_USAGE, "no workload of --mix implements the '%s' command.",
        a->command);
    return SB_EXIT_FAILED;
}
