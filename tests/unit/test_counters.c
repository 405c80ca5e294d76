// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/counters.h"

#include "check.h"

#define SECOND UINT64_C(1000000000)

// Selection ------------------------------------------------------------------

static struct sb_opt_list items(const char *const *item)
{
    struct sb_opt_list l = { item, 0 };

    while (item[l.count])
        l.count++;
    return l;
}
#define ITEMS(...) items((const char *const[]){ __VA_ARGS__, NULL })

static int check_items(struct sb_opt_list l)
{
    return sb__picks_check(&l, NULL);
}

// What readers of files get must be UTF-8, and one line.
static void names_are_shown(void)
{
    struct sb__counters t = { 0 };
    struct sb_counter c = { "a\xff\xc3\xa9\nb", 1, SB_COUNTER_LEVEL, NULL };
    struct sb_server_value v;

    CHECK(sb__counters_put(&t, &c, "@h", SECOND, 0, 0));
    CHECK(sb__counters_put(&t, &c, "@h", 2 * SECOND, 0, 0));
    CHECK_INT(t.n, 1);
    sb__counters_get(&t, 0, 0, &v);
    CHECK_STR(v.name, "a\\xff\xc3\xa9 b@h");
    sb__counters_forget(&t, "@h");
    sb__counters_get(&t, 0, 0, &v);
    CHECK(!v.has_value);
    sb__counters_done(&t);
}

static void unknown_patterns(void)
{
    struct sb_opt_list l = ITEMS("default", "nosuch*", "com_*", "all", "other");
    bool found[5] = { false };
    char out[40], small[6];

    CHECK_INT(sb__picks_unknown(&l, found, out, sizeof(out)), 3);
    CHECK_STR(out, "'nosuch*', 'com_*', 'other'");
    CHECK_INT(sb__picks_unknown(&l, found, small, sizeof(small)), 3);
    CHECK_STR(small, "'nosu");
    sb__picks_found(&l, "Com_insert", found);
    sb__picks_found(&l, "Handler_write", found);
    CHECK_INT(sb__picks_unknown(&l, found, out, sizeof(out)), 2);
    CHECK_STR(out, "'nosuch*', 'other'");
    sb__picks_found(&l, "Other", found);
    sb__picks_found(&l, "nosuch", found);
    CHECK_INT(sb__picks_unknown(&l, found, out, sizeof(out)), 0);
    CHECK_STR(out, "");
}

static void checks_items(void)
{
    struct sb_opt_list none = { NULL, 0 }, mixed = ITEMS("Com_*", "off");
    struct sb_err err = { 0 };

    CHECK_INT(sb__picks_check(&none, &err), SB__PICK_NONE);
    CHECK_INT(check_items(ITEMS("off")), SB__PICK_NONE);
    CHECK_INT(check_items(ITEMS("auto")), SB__PICK_AUTO);
    CHECK_INT(check_items(ITEMS("default")), SB__PICK_SOME);
    CHECK_INT(check_items(ITEMS("all")), SB__PICK_SOME);
    CHECK_INT(check_items(ITEMS("a*", "default")), SB__PICK_SOME);
    CHECK_INT(sb__picks_check(&mixed, &err), SB_EUSAGE);
    CHECK_STR(
        err.msg, "--server-stats: 'off' cannot be combined with other items");
}

static bool picks(struct sb_opt_list l, const char *list, const char *name)
{
    return sb__picked(&l, list, name);
}

static void selects_by_pattern(void)
{
    CHECK(picks(ITEMS("innodb_ROW_*"), "", "Innodb_row_lock_waits"));
    CHECK(!picks(ITEMS("innodb_row"), "", "Innodb_row_lock_waits"));
    CHECK(picks(ITEMS("x", "*waits"), "", "Innodb_row_lock_waits"));
    CHECK(picks(ITEMS("all"), "", "anything"));
    CHECK(!picks(ITEMS("x"), "y", "y"));
    CHECK(picks(ITEMS("auto"), "x,Com_*,y", "com_insert"));
    CHECK(picks(ITEMS("default", "z"), "x,y", "Y"));
    CHECK(picks(ITEMS("default", "z"), "x,y", "z"));
    CHECK(!picks(ITEMS("default", "z"), "x,y", "x,y"));
    CHECK(!picks(ITEMS("default"), "", "x"));
    CHECK(picks(ITEMS("default"), NULL, "x"));
}

static bool may(struct sb_opt_list l, const char *list, const char *prefix)
{
    return sb__picked_prefix(&l, list, prefix);
}

static void selects_sources(void)
{
    CHECK(may(ITEMS("metric.lock*"), "", "metric."));
    CHECK(may(ITEMS("m*"), "", "metric."));
    CHECK(may(ITEMS("*locks"), "", "metric."));
    CHECK(may(ITEMS("[a-z]etric.x"), "", "metric."));
    CHECK(!may(ITEMS("Com_*"), "", "metric."));
    CHECK(!may(ITEMS("met"), "", "metric."));
    CHECK(may(ITEMS("Com_*"), "", ""));
    CHECK(may(ITEMS("default"), "a,METRIC.b", "metric."));
    CHECK(!may(ITEMS("default"), "a,b", "metric."));
    CHECK(may(ITEMS("Questions"), "", "Questions"));
    CHECK(!may(ITEMS("Quest"), "", "Questions"));
    CHECK(!may(ITEMS("Questions2"), "", "Question2"));
}

// Table ----------------------------------------------------------------------

static struct sb__counters t;
static struct sb_server_value v;

static void put(const char *name, int kind, double value, double seconds)
{
    struct sb_counter c = { name, value, kind, NULL };

    CHECK(sb__counters_put(&t, &c, "", (uint64_t)(seconds * 1e9), 0, 0));
}

// As the reader of an interval.
static const struct sb_server_value *get(size_t i, double oldest)
{
    sb__counters_get(&t, i, (uint64_t)(oldest * 1e9), &v);
    if (v.has_value)
        v.has_value = sb__counters_use(&t, i);
    return &v;
}

static void rates_of_totals(void)
{
    put("a", SB_COUNTER_TOTAL, 100, 10);
    CHECK(!get(0, 0)->has_value);
    put("a", SB_COUNTER_TOTAL, 150, 12);
    CHECK(get(0, 0)->has_value);
    CHECK_NEAR(v.value, 25, 1e-9);
    CHECK_STR(v.name, "a");
    CHECK_STR(v.unit, "/s");
    CHECK_INT(v.from, 10 * SECOND);
    CHECK_INT(v.to, 12 * SECOND);
    put("a", SB_COUNTER_TOTAL, 150, 13);
    CHECK(get(0, 0)->has_value);
    CHECK_NEAR(v.value, 0, 0);
    put("a", SB_COUNTER_TOTAL, 160, 13); // no time has passed
    CHECK(!get(0, 0)->has_value);
    sb__counters_done(&t);
}

// A value that no report used is part of the next one.
static void rates_add_up(void)
{
    put("a", SB_COUNTER_TOTAL, 100, 1);
    put("a", SB_COUNTER_TOTAL, 110, 2);
    sb__counters_get(&t, 0, 0, &v); // a reader that is not one of intervals
    CHECK_NEAR(v.value, 10, 1e-9);
    put("a", SB_COUNTER_TOTAL, 140, 4);
    CHECK_NEAR(get(0, 0)->value, 40. / 3, 1e-9);
    CHECK_INT(v.from, SECOND);
    put("a", SB_COUNTER_TOTAL, 141, 5);
    CHECK_NEAR(get(0, 0)->value, 1, 1e-9);
    // Too old for the report: not used.
    put("a", SB_COUNTER_TOTAL, 151, 6);
    CHECK(!get(0, 7)->has_value);
    put("a", SB_COUNTER_TOTAL, 161, 7);
    CHECK_NEAR(get(0, 7)->value, 10, 1e-9);
    CHECK_INT(v.from, 5 * SECOND);
    CHECK(!get(0, 7)->has_value); // not twice
    sb__counters_done(&t);
}

static void units_of_rates(void)
{
    struct sb_counter a = { "a", 1, SB_COUNTER_TOTAL, "bytes" };
    struct sb_counter b = { "b", 1, SB_COUNTER_TOTAL, "bananas" };

    CHECK(sb__counters_put(&t, &a, "", 1, 0, 0));
    CHECK(sb__counters_put(&t, &b, "", 1, 0, 0));
    CHECK_STR(get(0, 0)->unit, "bytes/s");
    CHECK_STR(get(1, 0)->unit, "/s");
    sb__counters_done(&t);
}

static void restarted_server(void)
{
    put("a", SB_COUNTER_TOTAL, 100, 1);
    put("a", SB_COUNTER_TOTAL, 110, 2);
    put("a", SB_COUNTER_TOTAL, 40, 3);
    CHECK(!get(0, 0)->has_value);
    put("a", SB_COUNTER_TOTAL, 45, 4);
    CHECK_NEAR(get(0, 0)->value, 5, 1e-9);
    // After a new connection even a greater value is of another count.
    put("a", SB_COUNTER_TOTAL, 46, 4.5);
    sb__counters_forget(&t, "@other");
    CHECK(get(0, 0)->has_value);
    sb__counters_forget(&t, "");
    CHECK(!get(0, 0)->has_value);
    put("a", SB_COUNTER_TOTAL, 1000, 5);
    CHECK(!get(0, 0)->has_value);
    put("a", SB_COUNTER_TOTAL, 1001, 6);
    CHECK_NEAR(get(0, 0)->value, 1, 1e-9);
    sb__counters_done(&t);
}

static void levels(void)
{
    struct sb_counter c = { "l", 5, SB_COUNTER_LEVEL, "bytes" };

    CHECK(sb__counters_put(&t, &c, "", SECOND, 0, 0));
    CHECK_NEAR(get(0, 0)->value, 5, 0);
    CHECK_STR(v.unit, "bytes");
    c.value = 2;
    CHECK(sb__counters_put(&t, &c, "", 2 * SECOND, 0, 0));
    CHECK_NEAR(get(0, 0)->value, 2, 0);
    CHECK_INT(v.from, 2 * SECOND);
    sb__counters_done(&t);
}

static void old_values(void)
{
    put("l", SB_COUNTER_LEVEL, 1, 10);
    CHECK(get(0, 10)->has_value);
    CHECK(!get(0, 10.001)->has_value);
    sb__counters_done(&t);
}

static void put_late(double value, double seconds, bool base)
{
    struct sb_counter c = { "a", value, SB_COUNTER_TOTAL, NULL };

    CHECK(
        sb__counters_put(&t, &c, "", (uint64_t)(seconds * 1e9), SECOND, base));
}

// The server adds up once per second: at first, and in a shorter time, nothing
// is known.
static void late_totals(void)
{
    put_late(0, 10, SB__BASE_RATE);
    put_late(0, 10.5, SB__BASE_RATE);
    CHECK(!get(0, 0)->has_value);
    put_late(70, 11, SB__BASE_RATE);
    CHECK(!get(0, 0)->has_value);
    put_late(70, 11.5, 0);
    CHECK(!get(0, 0)->has_value);
    put_late(170, 12, 0);
    CHECK_NEAR(get(0, 0)->value, 100, 1e-9);
    CHECK_INT(v.from, 11 * SECOND);
    put_late(170, 12.5, 0);
    CHECK(!get(0, 0)->has_value);
    put_late(320, 13.5, 0);
    CHECK_NEAR(get(0, 0)->value, 100, 1e-9);
    CHECK_INT(v.from, 12 * SECOND);
    sb__counters_done(&t);
}

static void growth(void)
{
    const char *name;
    double sum;

    put("a", SB_COUNTER_TOTAL, 100, 10);
    put("b", SB_COUNTER_LEVEL, 100, 10);
    CHECK(!sb__counters_growth(&t, 0, &name, &sum));
    put("a", SB_COUNTER_TOTAL, 150, 12);
    put("b", SB_COUNTER_LEVEL, 150, 12);
    CHECK(!sb__counters_growth(&t, 1, &name, &sum));
    CHECK(sb__counters_growth(&t, 0, &name, &sum));
    CHECK_STR(name, "a");
    CHECK_NEAR(sum, 50, 0);
    // The server was away, and restarted the second time.
    sb__counters_forget(&t, "");
    put("a", SB_COUNTER_TOTAL, 160, 14);
    CHECK(sb__counters_growth(&t, 0, &name, &sum));
    CHECK_NEAR(sum, 60, 0);
    put("a", SB_COUNTER_TOTAL, 7, 15);
    CHECK(sb__counters_growth(&t, 0, &name, &sum));
    CHECK_NEAR(sum, 67, 0);
    // The measured part begins; the rate does not begin again.
    struct sb_counter c = { "a", 27, SB_COUNTER_TOTAL, NULL };
    CHECK(sb__counters_put(&t, &c, "", 16 * SECOND, 0, SB__BASE_GROWTH));
    CHECK_NEAR(get(0, 0)->value, 20, 1e-9);
    CHECK(!sb__counters_growth(&t, 0, &name, &sum));
    put("a", SB_COUNTER_TOTAL, 30, 17);
    CHECK(sb__counters_growth(&t, 0, &name, &sum));
    CHECK_NEAR(sum, 3, 0);
    sb__counters_done(&t);
}

static void servers_have_suffixes(void)
{
    struct sb_counter c = { "a", 5, SB_COUNTER_LEVEL, NULL };

    CHECK(sb__counters_put(&t, &c, "", SECOND, 0, 0));
    c.value = 7;
    CHECK(sb__counters_put(&t, &c, "@h:1", SECOND, 0, 0));
    CHECK_INT(t.n, 2);
    CHECK_STR(get(1, 0)->name, "a@h:1");
    CHECK_NEAR(v.value, 7, 0);
    CHECK_NEAR(get(0, 0)->value, 5, 0);
    CHECK(sb__counters_put(&t, &c, "", 2 * SECOND, 0, 0));
    CHECK(sb__counters_put(&t, &c, "@h:1", 2 * SECOND, 0, 0));
    sb__counters_forget(&t, "@h:1");
    CHECK(!get(1, 0)->has_value);
    CHECK(get(0, 0)->has_value);
    sb__counters_done(&t);
}

static void many_counters(void)
{
    char name[20];

    for (unsigned i = 0; i < SB__COUNTERS_MAX; i++) {
        snprintf(name, sizeof(name), "c%u", i);
        put(name, SB_COUNTER_LEVEL, i, 1);
    }
    for (unsigned i = 0; i < SB__COUNTERS_MAX; i++) {
        snprintf(name, sizeof(name), "c%u", i);
        put(name, SB_COUNTER_LEVEL, i, 2);
        CHECK_NEAR(get(i, 0)->value, i, 0);
    }
    CHECK_INT(t.n, SB__COUNTERS_MAX);
    CHECK(!t.full);
    CHECK(!sb__counters_put(&t,
        &(struct sb_counter){ "more", 1, SB_COUNTER_LEVEL, NULL }, "", 1, 0,
        0));
    CHECK(t.full);
    CHECK_INT(t.n, SB__COUNTERS_MAX);
    sb__counters_done(&t);
}

CHECK_FILE
{
    RUN(names_are_shown);
    RUN(unknown_patterns);
    RUN(checks_items);
    RUN(selects_by_pattern);
    RUN(selects_sources);
    RUN(rates_of_totals);
    RUN(rates_add_up);
    RUN(units_of_rates);
    RUN(restarted_server);
    RUN(levels);
    RUN(old_values);
    RUN(late_totals);
    RUN(growth);
    RUN(servers_have_suffixes);
    RUN(many_counters);
    return check_done();
}
