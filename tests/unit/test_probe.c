// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/probe.h"

#include "fake_server.h"

static struct sb_err err;

static void asks_with_short_timeouts(void)
{
    struct sb_server_facts f, copy;
    struct sb__probe *p;

    begin();
    fake_info.counters_delay = 5;
    base_opts.connect_timeout = INT64_C(60000000000);
    p = sb__probe_new(use(NULL), 7, &err);
    CHECK_INT(sb__probe_connect(p, &err), 0);
    CHECK_INT(timeout_seen, INT64_C(5000000000));
    CHECK_INT(base_opts.connect_timeout, INT64_C(60000000000));
    sb__probe_client(p, &f);
    CHECK_STR(f.client, "libfake 1");
    CHECK_STR(f.server.name, "");
    CHECK(!f.documents);
    CHECK_INT(f.totals_late_ns, 5);
    fake_info.counters_delay = 0;
    CHECK_INT(sb__probe_describe(p, &f, &err), 0);
    CHECK_INT(sb__probe_describe(p, &f, &err), 0); // the second replaces it
    CHECK(sb_server_facts_copy(&f, &copy));
    sb_server_facts_done(&f);
    CHECK_STR(copy.driver, "fake");
    CHECK_STR(copy.server.name, "Fake 2");
    CHECK_STR(copy.server.address, "10.0.0.7:1");
    CHECK_INT(copy.nsettings, 2);
    CHECK_STR(copy.setting[1].name, "b");
    CHECK_STR(copy.setting[1].value, "2");
    sb_server_facts_done(&copy);
    sb__probe_free(p);
    end();
}

static void keeps_shorter_timeouts(void)
{
    struct sb__probe *p;

    begin();
    base_opts.connect_timeout = 1000000;
    p = sb__probe_new(use(NULL), 0, &err);
    CHECK_INT(sb__probe_connect(p, &err), 0);
    CHECK_INT(timeout_seen, 1000000);
    sb__probe_free(p);
    base_opts.connect_timeout = 0;
    p = sb__probe_new_patient(use(NULL), 0, &err);
    CHECK_INT(sb__probe_connect(p, &err), 0);
    CHECK_INT(timeout_seen, INT64_C(5000000000));
    sb__probe_free(p);
    end();
}

static void connects_again(void)
{
    struct sb__probe *p;

    begin();
    p = sb__probe_new(use(NULL), 0, &err);
    mode = REFUSES;
    CHECK_INT(sb__probe_connect(p, &err), SB_ECONNECT);
    CHECK(!sb__probe_connected(p));
    sb__probe_cancel(p); // not connected: nothing to cancel
    mode = ANSWERS;
    CHECK_INT(sb__probe_connect(p, &err), 0);
    CHECK(sb__probe_connected(p));
    sb__probe_disconnect(p);
    sb__probe_disconnect(p);
    CHECK(!sb__probe_connected(p));
    sb__probe_free(p);
    sb__probe_free(NULL);
    end();
}

static void finds_used_instances(void)
{
    struct sb__inst *found[4] = { NULL }, *base, *other;

    begin();
    CHECK_INT(sb__insts_used(&owner, found, 0, 4), 0);
    base = use(NULL);
    CHECK_INT(sb__insts_used(&owner, found, 0, 4), 1);
    CHECK(found[0] == base);
    other = use("other");
    CHECK_INT(sb__insts_used(&owner, found, 1, 1), 0);
    CHECK_INT(sb__insts_used(&owner, found, 1, 4), 1);
    CHECK(found[1] == other);
    CHECK_INT(sb__insts_used(&owner, found, 2, 4), 0);
    sb__inst_put(other); // the user; the instance is kept by the reference
    CHECK_INT(other->refs, 1);
    sb__inst_put(found[1]);
    CHECK(!db.more);
    sb__inst_put(base);
    sb__inst_put(found[0]);
    end();
}

CHECK_FILE
{
    RUN(asks_with_short_timeouts);
    RUN(keeps_shorter_timeouts);
    RUN(connects_again);
    RUN(finds_used_instances);
    return check_done();
}
