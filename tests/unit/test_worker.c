// SPDX-License-Identifier: GPL-2.0-or-later
//
// Users with a thread each.
#include "run/worker.h"

#define WORKERS "users"
#include "users_of_run.h"

CHECK_FILE
{
    run_tests_of_users(sb__worker_start_all, sb__worker_join_ended);
    return check_done();
}
