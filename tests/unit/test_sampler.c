// SPDX-License-Identifier: GPL-2.0-or-later
//
// These tests wait for threads, but none of them depends on how fast they are.
#include "db/sampler_private.h"

#include <unistd.h>

#include "base/log.h"
#include "check_folder.h"
#include "fake_server.h"

#define INTERVAL UINT64_C(20000000)

static const char *item[2];
static struct sb_sampler_opts opts = { .stats = { item, 0 }, .pid = "" };
static struct sb_sampler *s;
static struct sb_server_value seen[8];
static char names[4000], servers[4000];

static void start(const char *items)
{
    struct sb_sampler_setup setup = {
        .drivers = &owner, .opts = &opts, .interval = INTERVAL
    };

    item[0] = items;
    opts.stats.count = 1;
    s = sb_sampler_start(&setup, NULL);
    CHECK(s != NULL);
}

static void see(void *arg, unsigned index, const struct sb_server_value *v)
{
    size_t n = strlen(names);

    if (index < 8)
        seen[index] = *v;
    snprintf(names + n, sizeof(names) - n, "%s ", v->name);
}

// Reads the values without using them, as an interval does. age: of the oldest
// value that counts.
static const char *values(uint64_t age)
{
    uint64_t now = sb_clock_monotonic();

    names[0] = '\0';
    memset(seen, 0, sizeof(seen));
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->table.n; i++) {
        struct sb_server_value v;

        sb__counters_get(&s->table, i, now > age ? now - age : 0, &v);
        see(NULL, (unsigned)i, &v);
    }
    pthread_mutex_unlock(&s->lock);
    return names;
}
#define ANY_AGE UINT64_C(600000000000)

static void note_server(void *arg, const struct sb_server_facts *f)
{
    size_t n = strlen(servers);

    snprintf(servers + n, sizeof(servers) - n, "%s|%s|%s|%s|%zu ", f->driver,
        f->client, f->server.name, f->server.address, f->nsettings);
}

static const char *all_servers(void)
{
    servers[0] = '\0';
    sb_sampler_servers(s, note_server, NULL);
    return servers;
}

// Waits for two more samples: the second one begins after this call.
static void two_samples(void)
{
    unsigned was = calls;

    while (calls < was + 2)
        nap();
}

static void samples_and_rates(void)
{
    struct sb__inst *i;

    begin();
    i = use(NULL);
    start("all");
    two_samples();
    CHECK_STR(values(ANY_AGE), "Total Level ");
    CHECK(seen[0].has_value);
    CHECK_NEAR(seen[0].value, 0, 0);
    CHECK_STR(seen[0].unit, "/s");
    CHECK_NEAR(seen[1].value, 5, 0);
    CHECK_STR(seen[1].unit, "bytes");
    sb_sampler_interval(s, sb_clock_monotonic() + ANY_AGE, NULL, NULL);
    total_now = 1e6;
    do
        values(ANY_AGE);
    while (!(seen[0].value > 0));
    CHECK_NEAR(
        seen[0].value * (double)(seen[0].to - seen[0].from) / 1e9, 1e6, 1e-3);
    CHECK_STR(all_servers(), "fake|libfake 1|Fake 2|10.0.0.0:1|2 ");
    CHECK(sb_sampler_stop(s));
    CHECK_STR(values(ANY_AGE), "Total Level "); // still there
    CHECK_INT(connects, 1);
    sb_sampler_free(s);
    sb__inst_put(i);
    CHECK_INT(i->refs, 0);
    end();
}

// A server that adds up its totals only from time to time. Rates begin when it
// has done so, and cover at least that time.
static void late_server(void)
{
    const uint64_t least = 270 * UINT64_C(1000000);
    uint64_t begun = sb_clock_monotonic();
    struct sb__inst *i;

    begin();
    fake_info.counters_delay = 300 * UINT64_C(1000000);
    i = use(NULL);
    start("total");
    two_samples();
    total_now = 1e6;
    do {
        nap();
        sb_sampler_interval(s, sb_clock_monotonic(), NULL, NULL);
        values(ANY_AGE);
    } while (!seen[0].has_value);
    CHECK(seen[0].from - begun >= least);
    CHECK(seen[0].to - seen[0].from >= least);
    sb_sampler_free(s);
    sb__inst_put(i);
    fake_info.counters_delay = 0;
    end();
}

static double growth_seen;
static unsigned growths;

static void see_growth(void *arg, const char *name, double growth)
{
    CHECK_STR(name, "Total");
    growth_seen = growth;
    growths++;
}

static void check_growth(double want)
{
    CHECK(sb_sampler_stop(s));
    growths = 0;
    sb_sampler_totals(s, see_growth, NULL);
    CHECK_INT(growths, 1);
    CHECK_NEAR(growth_seen, want, 1e-9);
}

// What the server counts after the last interval is not lost.
static void last_sample(void)
{
    struct sb__inst *i;
    unsigned was;

    begin();
    fake_info.counters_delay = UINT64_C(1000000000);
    total_now = 1000;
    i = use(NULL);
    start("all");
    two_samples();
    total_now = 1500;
    was = calls;
    sb_sampler_last(s, ANY_AGE);
    CHECK(calls > was);
    check_growth(500);
    sb_sampler_free(s);
    sb__inst_put(i);
    fake_info.counters_delay = 0;
    end();
}

// Totals grow from the start of the measured part, now or in the future.
static void measured_part(void)
{
    for (int later = 0; later < 2; later++) {
        struct sb__inst *i;
        begin();
        total_now = 1000;
        i = use(NULL);
        start("all");
        two_samples();
        total_now = 1500; // the warm-up
        uint64_t at = sb_clock_monotonic() + (later ? 3 * INTERVAL : 0);
        sb_sampler_rebase(s, at);
        while (sb_clock_monotonic() < at)
            nap();
        two_samples();
        total_now = 1720;
        sb_sampler_last(s, ANY_AGE);
        check_growth(220);
        sb_sampler_free(s);
        sb__inst_put(i);
        end();
    }
}

// The sample at the start of the measured part does not wait for an interval.
static void measured_part_of_a_long_interval(void)
{
    struct sb__inst *i;

    begin();
    total_now = 1000;
    i = use(NULL);
    item[0] = "all";
    s = sb_sampler_start(
        &(struct sb_sampler_setup){
            .drivers = &owner, .opts = &opts, .interval = ANY_AGE },
        NULL);
    while (calls < 1)
        nap();
    total_now = 1500;
    sb_sampler_rebase(s, sb_clock_monotonic());
    while (calls < 2)
        nap();
    sb_sampler_last(s, ANY_AGE);
    check_growth(0);
    CHECK_INT(calls, 3);
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

// A server that hangs does not hold up the end of a run.
static void last_sample_of_a_server_that_hangs(void)
{
    struct sb__inst *i;

    begin();
    i = use(NULL);
    start("total");
    two_samples();
    mode = HANGS;
    while (waiting == 0)
        nap();
    sb_sampler_last(s, INTERVAL);
    CHECK(sb_sampler_stop(s));
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

static void unknown_pattern(void)
{
    char text[400] = "", path[] = "warning.txt";
    int saved = dup(STDERR_FILENO);
    struct sb__inst *i;
    FILE *f;

    begin();
    i = use(NULL);
    fflush(stderr);
    CHECK(freopen(path, "w", stderr) != NULL);
    sb_log_set_level(SB_LOG_WARNING);
    item[0] = "total";
    item[1] = "nosuch*";
    opts.stats.count = 2;
    s = sb_sampler_start(
        &(struct sb_sampler_setup){
            .drivers = &owner, .opts = &opts, .interval = INTERVAL },
        NULL);
    two_samples();
    two_samples();
    sb_sampler_free(s);
    sb_log_set_level(SB_LOG_FATAL);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    opts.stats.count = 1;
    f = fopen(path, "r");
    CHECK(f && fread(text, 1, sizeof(text) - 1, f) > 0);
    CHECK_STR(text, "WARNING: --server-stats: no counter matches 'nosuch*'\n");
    if (f)
        fclose(f);
    sb__inst_put(i);
    end();
}

static void short_list(void)
{
    struct sb__inst *i;

    begin();
    i = use(NULL);
    start("default");
    two_samples();
    CHECK_STR(values(ANY_AGE), "Total ");
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

static void facts_only(void)
{
    struct sb__inst *i;

    begin();
    i = use(NULL);
    start("off");
    i->used = false; // a short run: what it has used is known all the same
    while (!strstr(all_servers(), "Fake 2"))
        nap();
    CHECK(sb_sampler_stop(s));
    CHECK_STR(values(ANY_AGE), "");
    CHECK_INT(calls, 0);
    CHECK_INT(connects, 1);
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

static void several_servers(void)
{
    struct sb__inst *i;

    begin();
    places = 2;
    i = use(NULL);
    start("total");
    while (strcmp(values(ANY_AGE), "Total Total@10.0.0.1:1 ") != 0 &&
           strcmp(names, "Total@10.0.0.1:1 Total ") != 0)
        nap();
    CHECK_STR(all_servers(), "fake|libfake 1|Fake 2|10.0.0.0:1|2 "
                             "fake|libfake 1|Fake 2|10.0.0.1:1|2 ");
    CHECK(sb_sampler_stop(s));
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

// Only one server has plain names, also if an earlier one answers later.
static void first_server_is_late(void)
{
    struct sb__inst *i;

    begin();
    places = 2;
    mode = REFUSES_ONE;
    i = use(NULL);
    start("total");
    while (strcmp(values(ANY_AGE), "Total ") != 0)
        nap();
    mode = ANSWERS;
    while (strcmp(all_servers(), "fake|libfake 1|Fake 2|10.0.0.0:1|2 "
                                 "fake|libfake 1|Fake 2|10.0.0.1:1|2 ") != 0)
        nap();
    two_samples();
    two_samples();
    CHECK_STR(values(ANY_AGE), "Total Total@10.0.0.0:1 ");
    CHECK(sb_sampler_stop(s));
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

// What was counted before is in no value, however old its sample is.
static void values_begin_again(void)
{
    struct sb__inst *i;

    begin();
    i = use(NULL);
    start("all");
    two_samples();
    total_now = 1e6;
    two_samples();
    sb_sampler_rebase(s, sb_clock_monotonic());
    total_now = 3e6;
    do
        values(ANY_AGE);
    while (
        !(seen[0].value * (double)(seen[0].to - seen[0].from) / 1e9 > 1.5e6));
    CHECK_NEAR(
        seen[0].value * (double)(seen[0].to - seen[0].from) / 1e9, 2e6, 1e-2);
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

// Short intervals do not load the server.
static void samples_are_apart(void)
{
    struct sb_sampler_setup setup = {
        .drivers = &owner, .opts = &opts, .interval = 1000000
    };
    struct sb__inst *i;
    uint64_t begun;

    begin();
    i = use(NULL);
    item[0] = "total";
    opts.stats.count = 1;
    s = sb_sampler_start(&setup, NULL);
    CHECK(s != NULL);
    two_samples();
    begun = sb_clock_monotonic();
    for (unsigned was = calls; calls < was + 4;) {
        sb_sampler_interval(s, sb_clock_monotonic(), NULL, NULL);
        nap();
    }
    // Three whole periods, of which each sample may be late.
    CHECK(sb_clock_monotonic() - begun > UINT64_C(200000000));
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

// Two sets of options lead to the same server, which is sampled once.
static void same_server_twice(void)
{
    struct sb__inst *i, *k;

    begin();
    address = "socket";
    i = use(NULL);
    k = use("other");
    start("total");
    while (connects < 2)
        nap();
    two_samples();
    CHECK_STR(values(ANY_AGE), "Total ");
    CHECK_STR(all_servers(), "fake|libfake 1|Fake 2|socket|2 ");
    CHECK(sb_sampler_stop(s));
    sb_sampler_free(s);
    sb__inst_put(i);
    sb__inst_put(k);
    end();
}

static void server_used_later(void)
{
    struct sb__inst *i;

    begin();
    start("total");
    nap();
    CHECK_STR(all_servers(), "");
    i = use(NULL);
    two_samples();
    CHECK_STR(values(ANY_AGE), "Total ");
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

static void without_rights(void)
{
    struct sb__inst *i;

    begin();
    mode = NO_RIGHTS;
    i = use(NULL);
    start("all");
    two_samples();
    CHECK_STR(values(ANY_AGE), "Total ");
    CHECK_INT(connects, 1);
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

static void lost_and_found(void)
{
    struct sb__inst *i;

    begin();
    i = use(NULL);
    start("total");
    two_samples();
    mode = LOSES;
    while (disconnects == 0)
        nap();
    mode = REFUSES;
    while (connects < 3)
        nap();
    // The server is away: no value, whatever its age.
    values(ANY_AGE);
    CHECK(!seen[0].has_value);
    total_now = 1e9;
    mode = ANSWERS;
    two_samples();
    two_samples();
    // Between two samples of the new connection nothing was counted.
    values(ANY_AGE);
    CHECK(seen[0].has_value);
    CHECK_NEAR(seen[0].value, 0, 0);
    CHECK(sb_sampler_stop(s));
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

static void first_connect_fails(void)
{
    struct sb__inst *i;

    begin();
    mode = REFUSES;
    i = use(NULL);
    start("total");
    while (connects < 2)
        nap();
    CHECK_STR(all_servers(), "fake|libfake 1|||0 ");
    mode = ANSWERS;
    two_samples();
    CHECK_STR(all_servers(), "fake|libfake 1|Fake 2|10.0.0.0:1|2 ");
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

static void old_values_do_not_count(void)
{
    struct sb__inst *i;

    begin();
    i = use(NULL);
    start("level");
    two_samples();
    mode = HANGS;
    while (waiting == 0)
        nap();
    values(ANY_AGE);
    CHECK(seen[0].has_value);
    // A reader whose interval begins now.
    values(0);
    CHECK_STR(names, "Level ");
    CHECK(!seen[0].has_value);
    CHECK(sb_sampler_stop(s)); // by canceling
    sb_sampler_free(s);
    sb__inst_put(i);
    end();
}

// A sampler leaves what it uses to a thread that hangs. Kept here, it is no
// leak.
static void keep(void)
{
    static struct {
        struct sb_sampler *sampler;
        struct sb_opts *opts;
        struct sb_db db;
    } kept[2] __attribute__((used));
    static unsigned n;

    kept[n].sampler = s;
    kept[n].opts = owner.o;
    kept[n++].db = db;
}

static void hangs_forever(void)
{
    struct sb__inst *i;

    begin();
    mode = HANGS_ALONE;
    i = use(NULL);
    start("level");
    while (waiting == 0)
        nap();
    keep();
    CHECK(!sb_sampler_stop(s));
    CHECK(!sb_sampler_stop(s)); // and does not wait again
    CHECK_STR(values(ANY_AGE), "");
    sb_sampler_free(s);
    mode = ANSWERS;
    while (waiting > 0 || disconnects < connects)
        nap();
    sb__inst_put(i);
}

// What was seen before is shown.
static void hangs_while_it_looks_at_sessions(void)
{
    struct sb_server_waits *w;
    struct sb__inst *i;
    unsigned n;

    begin();
    mode = HANGS_ALONE;
    opts.waits = true;
    i = use(NULL);
    start("off");
    while (looks < 2)
        nap();
    keep();
    CHECK(!sb_sampler_stop(s));
    w = sb_sampler_waits(s, sb_clock_monotonic(), &n);
    CHECK_INT(n, 1);
    CHECK_INT(w->figures.samples, 1);
    CHECK_NEAR(w->figures.all.sessions, 2, 0);
    CHECK(!w->samples);
    sb_server_waits_done(w);
    free(w);
    sb_sampler_free(s);
    mode = ANSWERS;
    while (waiting > 0 || disconnects < connects)
        nap();
    opts.waits = false;
    sb__inst_put(i);
}

static void checks_options(void)
{
    struct sb_err err = { 0 };

    item[0] = "off";
    item[1] = "all";
    opts.stats.count = 2;
    CHECK_INT(sb_sampler_check(&opts, &err), SB_EUSAGE);
    item[0] = "auto";
    opts.stats.count = 1;
    CHECK_INT(sb_sampler_check(&opts, &err), 0);
    CHECK(sb_sampler_samples(&opts, true));
    CHECK(!sb_sampler_samples(&opts, false));
    item[0] = "x*";
    CHECK(sb_sampler_samples(&opts, false));
    item[0] = "off";
    CHECK(!sb_sampler_samples(&opts, true));
}

CHECK_FILE
{
    check_folder();
    sb_log_set_level(SB_LOG_FATAL);
    RUN(samples_and_rates);
    RUN(late_server);
    RUN(last_sample);
    RUN(measured_part);
    RUN(measured_part_of_a_long_interval);
    RUN(last_sample_of_a_server_that_hangs);
    RUN(unknown_pattern);
    RUN(short_list);
    RUN(facts_only);
    RUN(several_servers);
    RUN(first_server_is_late);
    RUN(values_begin_again);
    RUN(samples_are_apart);
    RUN(same_server_twice);
    RUN(server_used_later);
    RUN(without_rights);
    RUN(lost_and_found);
    RUN(first_connect_fails);
    RUN(old_values_do_not_count);
    RUN(checks_options);
    RUN(hangs_forever);
    RUN(hangs_while_it_looks_at_sessions);
    return check_done();
}
