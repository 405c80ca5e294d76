// SPDX-License-Identifier: GPL-2.0-or-later
//
// One server of the sampler. Its thread's function is called by the test
// itself, and ends when it has nothing more to do, or after as many samples as
// the fake server is told.
#include "check_log.h"
#include "db/sampler_private.h"
#include "fake_server.h"
#include "loop/waiter.h"

static struct sb_sampler s;
static struct sb__sampler_target target[2];
static const char *item[2];
static struct sb_sampler_opts opts = { .stats = { item, 1 }, .pid = "" };
static bool found[2];
static unsigned stop_after; // calls for counters, also those that fail
static unsigned lost_at;    // the call that loses the connection; 0: none
static unsigned warm_up;    // calls before the measured part
static unsigned asked;
static double answers[4]; // of these calls; the last one also of later ones

static void set_stop(void)
{
    pthread_mutex_lock(&s.lock);
    s.stop = true;
    pthread_mutex_unlock(&s.lock);
}

static void begin_measuring(void)
{
    pthread_mutex_lock(&s.lock);
    s.measured_at = 1;
    pthread_mutex_unlock(&s.lock);
}

// The function of the fake server, for a number of calls.
static int counters(
    struct sb_conn *conn, const struct sb_counter_sink *to, struct sb_err *err)
{
    int rc;

    total_now = answers[asked < 4 ? asked : 3];
    asked++;
    mode = asked == lost_at ? LOSES : mode == LOSES ? ANSWERS : mode;
    rc = fake_counters(conn, to, err);
    if (asked == warm_up)
        begin_measuring();
    if (asked >= stop_after)
        set_stop();
    return rc;
}

// A sampler without threads and with n servers.
static void prepare(bool samples, size_t n)
{
    begin();
    memset(&s, 0, sizeof(s));
    memset(target, 0, sizeof(target));
    memset(found, 0, sizeof(found));
    memset(answers, 0, sizeof(answers));
    CHECK_INT(sb_lock_init(&s.lock, &s.changed), 0);
    fake_info.counters = counters;
    asked = lost_at = warm_up = 0;
    stop_after = 1;
    places = n;
    s.inst[0] = use(NULL);
    s.ninsts = 1;
    item[0] = "all";
    opts.stats.count = 1;
    s.setup = (struct sb_sampler_setup){ .drivers = &owner, .opts = &opts };
    s.found = found;
    s.samples = samples;
    s.period = 8; // ns: the next sample is always due
    s.measured_at = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        target[i].s = &s;
        target[i].probe = sb__probe_new(s.inst[0], i, NULL);
        sb__probe_client(target[i].probe, &target[i].facts);
        s.target[s.ntargets++] = &target[i];
    }
}

static void run(struct sb__sampler_target *t)
{
    s.running++;
    CHECK(sb__sampler_target_main(t) == NULL);
    CHECK_INT(s.running, 0);
    CHECK(!sb__probe_connected(t->probe));
}

static void clean_up(void)
{
    for (size_t i = 0; i < s.ntargets; i++) {
        sb__probe_free(target[i].probe);
        sb_server_facts_done(&target[i].facts);
    }
    sb__counters_done(&s.table);
    sb__inst_put(s.inst[0]);
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.lock);
    fake_info.counters = fake_counters;
    end();
}

static void describes_its_server(void)
{
    prepare(false, 1);
    run(&target[0]);
    CHECK(target[0].tried && target[0].described);
    CHECK_STR(target[0].facts.driver, "fake");
    CHECK_STR(target[0].facts.client, "libfake 1");
    CHECK_STR(target[0].facts.server.name, "Fake 2");
    CHECK_INT(target[0].facts.nsettings, 2);
    CHECK_INT(connects, 1);
    CHECK_INT(asked, 0); // facts only
    clean_up();
}

static void ends_when_it_is_told_to(void)
{
    prepare(true, 1);
    set_stop();
    run(&target[0]);
    CHECK_INT(connects, 0);
    CHECK(!target[0].described);
    clean_up();
}

static void the_first_one_has_plain_names(void)
{
    prepare(false, 2);
    CHECK(sb__sampler_first(&s) == NULL);
    run(&target[0]);
    run(&target[1]);
    CHECK(sb__sampler_first(&s) == &target[0]);
    CHECK(s.plain == &target[0]);
    CHECK_STR(target[0].suffix, "");
    CHECK_STR(target[1].suffix, "@10.0.0.1:1");
    CHECK(!target[1].same);
    clean_up();
}

static void one_server_is_sampled_once(void)
{
    prepare(true, 2);
    address = "socket";
    target[0].tried = true; // it was described before
    target[0].facts.driver = "fake";
    snprintf(target[0].facts.server.address,
        sizeof(target[0].facts.server.address), "socket");
    run(&target[1]);
    CHECK(target[1].same);
    CHECK_INT(asked, 0);
    CHECK_INT(target[1].samples, 0);
    clean_up();
}

static struct sb_server_facts server(const char *driver, const char *where)
{
    struct sb_server_facts f = { .driver = driver };

    snprintf(f.server.address, sizeof(f.server.address), "%s", where);
    return f;
}

static void servers_are_compared_by_address(void)
{
    struct sb_server_facts a = server("x", "h:1"), b = server("x", "h:1"),
                           c = server("y", "h:1"), d = server("x", "h:2"),
                           e = server("x", "");

    CHECK(sb__sampler_same(&a, &b));
    CHECK(!sb__sampler_same(&a, &c));
    CHECK(!sb__sampler_same(&a, &d));
    CHECK(!sb__sampler_same(&e, &e)); // unknown
}

static void chosen_counters_are_kept(void)
{
    struct sb_server_value v;

    prepare(true, 1);
    item[0] = "tot*";
    stop_after = 3;
    run(&target[0]);
    CHECK_INT(asked, 3);
    CHECK_INT(target[0].samples, 3);
    CHECK_INT(s.table.n, 1);
    sb__counters_get(&s.table, 0, 0, &v);
    CHECK_STR(v.name, "Total");
    CHECK(v.has_value && found[0]);
    clean_up();
}

// What was counted while the server was away is in no rate, but in the growth.
static void rates_begin_again_after_a_loss(void)
{
    const char *name;
    double growth = 0;
    struct sb_server_value v;

    prepare(true, 1);
    answers[0] = 1000;
    answers[1] = answers[2] = answers[3] = 5000;
    lost_at = 2;
    stop_after = 3;
    run(&target[0]);
    CHECK_INT(connects, 2);
    CHECK_INT(target[0].samples, 2);
    sb__counters_get(&s.table, 0, 0, &v);
    CHECK_STR(v.name, "Total");
    CHECK(!v.has_value);
    CHECK(sb__counters_growth(&s.table, 0, &name, &growth));
    CHECK_NEAR(growth, 4000, 0);
    clean_up();
}

static void the_measured_part_has_a_base(void)
{
    const char *name;
    double growth = 0;

    prepare(true, 1);
    answers[0] = 1000;
    answers[1] = 1300;
    answers[2] = answers[3] = 1700;
    stop_after = 3;
    warm_up = 1;
    run(&target[0]);
    CHECK(target[0].rebased.done);
    CHECK(sb__counters_growth(&s.table, 0, &name, &growth));
    CHECK_NEAR(growth, 400, 0);
    clean_up();
}

static void the_last_sample_is_noted(void)
{
    prepare(true, 1);
    s.last = true;
    run(&target[0]);
    CHECK(target[0].last);
    CHECK_INT(asked, 1);
    clean_up();
}

static void missing_rights_are_reported_once(void)
{
    prepare(true, 1);
    mode = NO_RIGHTS;
    stop_after = 3;
    sb_log_set_level(SB_LOG_WARNING);
    capture();
    run(&target[0]);
    CHECK_STR(captured(),
        "WARNING: --server-stats: the counters of secrets cannot be read from "
        "10.0.0.0:1: not allowed\n");
    CHECK_INT(target[0].nmissing, 1);
    CHECK_INT(asked, 3);
    sb_log_set_level(SB_LOG_FATAL);
    clean_up();
}

// Some counters appear with their first use.
static void patterns_without_counters_are_reported_once(void)
{
    prepare(true, 1);
    item[0] = "x*";
    item[1] = "y*";
    opts.stats.count = 2;
    found[1] = true;
    sb_log_set_level(SB_LOG_WARNING);
    capture();
    target[0].samples = 1;
    sb__sampler_check_found(&s, 2);
    CHECK_STR(captured(), "");
    capture();
    target[0].samples = 2;
    sb__sampler_check_found(&s, 2);
    item[0] = "z*"; // would be another message
    sb__sampler_check_found(&s, 2);
    CHECK_STR(captured(), "WARNING: --server-stats: no counter matches 'x*'\n");
    sb_log_set_level(SB_LOG_FATAL);
    clean_up();
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL);
    RUN(describes_its_server);
    RUN(ends_when_it_is_told_to);
    RUN(the_first_one_has_plain_names);
    RUN(one_server_is_sampled_once);
    RUN(servers_are_compared_by_address);
    RUN(chosen_counters_are_kept);
    RUN(rates_begin_again_after_a_loss);
    RUN(the_measured_part_has_a_base);
    RUN(the_last_sample_is_noted);
    RUN(missing_rights_are_reported_once);
    RUN(patterns_without_counters_are_reported_once);
    return check_done();
}
