// SPDX-License-Identifier: GPL-2.0-or-later
//
// The driver connects to a host whose name takes long to look up.
#include "slow_connect.h"

#include "drivers/mongodb/mongodb_priv.h"

extern const struct sb_driver sb_driver;

static struct sbmo_opts values;
static union {
    struct sbmo_conn own;
    max_align_t align;
} room;

static void a_name(void)
{
    char url[64];

    snprintf(url, sizeof(url), "mongodb://%s:%u/test", SLOW_NAME, listen_tcp());
    begin_client(&sbmo_opt_table, &values, &room, sizeof(room));
    set("mongo-url", url);
    CHECK_INT(
        sb_driver.generic->env_init(&client.env, &values, &client.err), 0);
    connect_beside(after_lookup);
    CHECK_INT(client.rc, SB_ECONNECT);
    CHECK(!pthread_equal(looker, pthread_self()));
    finish();
}

int main(void)
{
    RUN(a_name);
    return check_done();
}
