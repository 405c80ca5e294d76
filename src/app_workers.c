// SPDX-License-Identifier: GPL-2.0-or-later
//
// --workers=auto: event loops, or a thread for each user.
#include "base/host.h"

#include "app_private.h"

// From so many users for each processor on, loops had more throughput; with
// half of them there was no difference (bench/RESULTS.md).
#define FEW_USERS 8

// Scripts of others may block their worker, with functions that are not ours.
static bool all_installed(const struct sb_app *a)
{
    if (!a->mix)
        return a->script && sb_script_is_installed(a->script);
    for (unsigned i = 0; i < a->run.mix.n; i++)
        if (!sb_script_is_installed(sb__app_mix_script(a, i)))
            return false;
    return true;
}

void sb__app_choose_workers(struct sb_app *a)
{
    a->run.auto_loops = a->run.share.users >=
                            (uint64_t)sb_host_usable() * FEW_USERS &&
                        all_installed(a) && sb_drivers_prefer_loops(a->drivers);
    // A run may end before its loops are open.
    a->workers = (struct sb_run_workers){ .n = sb__app_workers(a) };
}

unsigned sb__app_workers(const struct sb_app *a)
{
    if (a->builtin)
        return 0;
    return sb_run_opts_workers(
        &a->run, (unsigned)a->run.share.users, sb_host_usable());
}
