// SPDX-License-Identifier: GPL-2.0-or-later
//
// --workers=auto: event loops, or a thread for each user, and why.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/host.h"

#include "app/app.h"

// Minimum number of users per processor for workers, for scripts of users. It
// is higher than the minimum of the drivers (loop_users), which was measured
// with installed workloads (bench/RESULTS.md): such a script may compute, or
// wait in a way that its text does not show, and threads are better then.
#define SCRIPT_USERS 64u
// Minimum number of users for which the output says why each has a thread; with
// fewer, it does so only if an installed workload would have workers.
#define MANY_USERS 64u

// Compares the number of users with a minimum for each processor.
static bool too_few(struct sb_app *a, uint32_t least, const char *of)
{
    uint64_t users = a->run.share.users;
    uint64_t enough = (uint64_t)sb_host_usable() * least;

    snprintf(a->why_workers, sizeof(a->why_workers),
        "%" PRIu64 " users, %s %" PRIu32 " per processor%s", users,
        users < enough ? "fewer than" : "at least", least, of);
    return users < enough;
}

static bool all_installed(const struct sb_app *a)
{
    if (!a->mix)
        return sb_script_is_installed(a->script);
    for (unsigned i = 0; i < a->run.mix.n; i++)
        if (!sb_script_is_installed(sb__app_mix_script(a, i)))
            return false;
    return true;
}

static bool blocks(struct sb_app *a, struct sb_script *s)
{
    char why[sizeof(a->why_workers)];

    if (!sb_script_blocks(s, why, sizeof(why)))
        return false;
    memcpy(a->why_workers, why, sizeof(why));
    return true;
}

static bool any_blocks(struct sb_app *a)
{
    if (!a->mix)
        return blocks(a, a->script);
    for (unsigned i = 0; i < a->run.mix.n; i++)
        if (blocks(a, sb__app_mix_script(a, i)))
            return true;
    return false;
}

// Sets why_workers, too.
static bool chooses_loops(struct sb_app *a)
{
    const char *driver;
    uint32_t least = sb_drivers_loop_users(a->drivers, &driver);
    char of[80];

    if (least == SB_LOOPS_NEVER) {
        snprintf(a->why_workers, sizeof(a->why_workers),
            "threads are the default with the %.60s driver", driver);
        return false;
    }
    a->workers_differ = driver && !too_few(a, least, "");
    if (least < SCRIPT_USERS && (!driver || !all_installed(a))) {
        least = SCRIPT_USERS;
        snprintf(of, sizeof(of), "%s",
            driver ? " for a script that is not installed"
                   : " without a driver");
    } else {
        snprintf(of, sizeof(of), " with the %.60s driver", driver);
    }
    return !too_few(a, least, of) && !any_blocks(a);
}

void sb__app_choose_workers(struct sb_app *a)
{
    a->why_workers[0] = '\0';
    a->workers_differ = false;
    a->run.auto_loops = !a->builtin && strcmp(a->run.workers, "auto") == 0 &&
                        chooses_loops(a);
    // A run may end before its loops are open.
    a->workers = (struct sb_run_workers){ .n = sb__app_workers(a) };
}

void sb__app_print_workers(const struct sb_app *a)
{
    unsigned n = sb__app_workers(a);

    if (n > 0 && a->why_workers[0])
        printf("Number of workers: %u (%s)\n", n, a->why_workers);
    else if (n > 0)
        printf("Number of workers: %u\n", n);
    else if (a->why_workers[0] &&
             (a->workers_differ || a->run.share.users >= MANY_USERS))
        printf("Number of workers: none, a thread per user (%s)\n",
            a->why_workers);
}

unsigned sb__app_workers(const struct sb_app *a)
{
    if (a->builtin)
        return 0;
    return sb_run_opts_workers(
        &a->run, (unsigned)a->run.share.users, sb_host_usable());
}
