// SPDX-License-Identifier: GPL-2.0-or-later
//
// What follows from options of the core, when they have their values.
#include <stdio.h>

#include "app/app.h"
#include "base/log.h"
#include "kit/clock.h"

static int init_text(struct sb_app *a, struct sb_err *err)
{
    int rc = sb_text_init(&a->text, &a->text_opts, stdout, err);

    a->text.debug = a->run.debug;
    a->text.db_debug = a->db.debug;
    if (rc == 0)
        rc = sb_reporters_init(&a->reporters, &a->report_opts, err);
    // Called again when the defaults of the script are known.
    sb_asserts_done(&a->asserts);
    if (rc == 0)
        rc = sb_asserts_init(&a->asserts, a->report_opts.limits, err);
    a->text.none = a->reporters.no_text;
    return rc;
}

int sb_app_prepare_options(struct sb_app *a, struct sb_err *err)
{
    int rc = sb_random_share(&a->random, &a->dist, sb_clock_wall(), err);

    if (rc == 0)
        rc = init_text(a, err);
    sb_log_set_level(a->run.debug ? SB_LOG_DEBUG : (int)a->text_opts.verbosity);
    // Rank 0 prints warnings about options.
    if (sb_app_job_follows(a) && sb_log_level() > SB_LOG_ALERT)
        sb_log_set_level(SB_LOG_ALERT);
    sb_opts_warn(a->opts);
    return rc;
}

int sb_app_finish_options(struct sb_app *a, struct sb_err *err)
{
    bool requests = sb_opts_given(a->opts, "max-requests", false);
    bool time = sb_opts_given(a->opts, "time", false) ||
                sb_opts_given(a->opts, "max-time", false);
    a->run.mix.by = a->o.mix_by; // a sweep changes it
    int rc = sb_app_ranks_threads(a, err);

    if (rc == 0)
        rc = sb_run_opts_finish(&a->run, time, requests, err);
    if (rc == 0)
        rc = sb_app_ranks_finish(a, err);
    if (rc == 0)
        rc = sb_app_rate_init(a, err);
    if (rc == 0)
        rc = sb_sampler_check(&a->sampler_opts, err);
    if (rc == 0)
        rc = sb_app_beside_check(a, err);
    if (rc == 0)
        rc = sb_dist_prepare(&a->random.dist, &a->dist, err);
    if (rc == 0 && a->dist.seed)
        a->random.seed = (uint64_t)a->dist.seed;
    else if (rc == 0 && sb_app_job_follows(a))
        a->random.seed = a->setup_seed;
    return rc ? rc : init_text(a, err);
}
