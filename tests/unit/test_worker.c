// SPDX-License-Identifier: GPL-2.0-or-later
//
// Users with a thread each.
#include "run/worker.h"

#define WORKERS "users"
#include "users_of_run.h"

static int start_users(struct sb_run *r, struct sb_err *err)
{
    return sb__worker_start_all(r, err);
}

static bool join_users(struct sb_run *r)
{
    return sb__worker_join_ended(r);
}

int main(void)
{
    run_tests_of_users();
    return check_done();
}
