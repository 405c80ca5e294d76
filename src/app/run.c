// SPDX-License-Identifier: GPL-2.0-or-later
//
// A run with all its reports.
#include "app/private.h"
#include "base/log.h"

int sb__app_exit_status(struct sb_app *a, const struct sb_run_result *res)
{
    a->leave = a->leave || res->unjoined;
    bool stopped = sb_app_job_follows(a) && res->err.code == SB_ECANCELED;

    if (res->err.code && res->end != SB_END_SIGNAL && !stopped && !res->told &&
        !sb_app_job_told(a, res->err.msg))
        sb_log(SB_LOG_FATAL, "%s", res->err.msg);
    return sb__app_status_of(res);
}

int sb__app_run_workload(struct sb_app *a, struct sb_workload *w)
{
    struct sb__listening t;
    struct sb_listener l;
    struct sb_run_result res;
    struct sb_err err = { 0 };

    sb__app_choose_workers(a);
    if (sb_app_job_follows(a)) {
        sb__app_follow(a, w, &res);
        return sb__app_exit_status(a, &res);
    }
    if (a->reporters.omitted)
        sb_log(SB_LOG_NOTICE,
            "The text report is omitted, because standard output has another "
            "one (--report=none,... hides this message, --report=text,... "
            "prints both)");
    sb__app_facts(a);
    sb__app_fill_streams();
    sb_app_sweep_mark(a);
    if (sb_reporters_open(&a->reporters, &a->facts, &err)) {
        sb_log(SB_LOG_FATAL, "%s", err.msg);
        return SB_EXIT_FAILED;
    }
    int begun = sb__app_beside_begin(a);

    if (begun) {
        sb_reporters_done(&a->reporters);
        return begun;
    }
    sb__app_listen(a, w, &t, &l);
    t.res = &res;
    sb_run(w, &a->run, &a->random, &l, &res);
    sb_app_server_stop(a);
    sb__app_context(&t);
    int status = sb__app_exit_status(a, &res);

    status = sb__app_beside_end(a, t.printed, status ? status : t.status);
    return sb__app_finish_reports(&t, &res, status);
}
