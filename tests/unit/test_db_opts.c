// SPDX-License-Identifier: GPL-2.0-or-later
//
// The general database options: each reaches its field, within its bounds.
#include "check.h"
#include "db/db.h"

static struct sb_opts *o;
static struct sb_db_opts v;
static struct sb_err err;

static int set(const char *name, const char *value)
{
    sb_err_clear(&err);
    return sb_opts_set(o, name, value, SB_SRC_CMDLINE, &err);
}

static void begin(void)
{
    memset(&v, 0xee, sizeof(v));
    o = sb_opts_new();
    CHECK_INT(sb_opts_add(o, &sb_db_opt_table, &v, &err), 0);
}

static void have_defaults(void)
{
    begin();
    CHECK_STR(v.driver, "");
    CHECK_INT(v.ps_mode, SB_DB_PS_AUTO);
    CHECK(!v.debug && !v.reconnect);
    CHECK_INT(v.ignore_errors.count, 0);
    CHECK_INT(v.reconnect_timeout, 0);
    CHECK_INT(v.refresh_events, 0);
    CHECK_INT(v.refresh_ns, 0);
    CHECK_STR(v.init_sql, "");
    CHECK_INT(v.isolation, SB_DB_ISOLATION_DEFAULT);
    CHECK_INT(v.statement_cache, 0);
    CHECK_INT(v.connect_parallel, 0);
    sb_opts_free(o);
}

static void reach_their_fields(void)
{
    begin();
    CHECK_INT(set("db-driver", "x"), 0);
    CHECK_STR(v.driver, "x");
    CHECK_INT(set("db-debug", "on"), 0);
    CHECK(v.debug && !v.reconnect);
    CHECK_INT(set("db-reconnect", "on"), 0);
    CHECK(v.reconnect);
    CHECK_INT(set("db-ignore-errors", "1213,40*"), 0);
    CHECK_INT(v.ignore_errors.count, 2);
    CHECK_STR(v.ignore_errors.item[1], "40*");
    CHECK_INT(set("db-reconnect-timeout", "250ms"), 0);
    CHECK_INT(v.reconnect_timeout, 250000000);
    CHECK_INT(set("db-refresh-events", "7"), 0);
    CHECK_INT(v.refresh_events, 7);
    CHECK_INT(set("db-refresh-time", "2"), 0);
    CHECK_INT(v.refresh_ns, INT64_C(2000000000));
    CHECK_INT(set("db-init-sql", "SET x=1; SET y=2"), 0);
    CHECK_STR(v.init_sql, "SET x=1; SET y=2");
    CHECK_INT(set("db-statement-cache", "10"), 0);
    CHECK_INT(v.statement_cache, 10);
    CHECK_INT(set("connect-parallel", "11"), 0);
    CHECK_INT(v.connect_parallel, 11);
    sb_opts_free(o);
}

// The words are in the order of the enums.
static void words_mean_what_they_say(void)
{
    begin();
    CHECK_INT(set("db-ps-mode", "disable"), 0);
    CHECK_INT(v.ps_mode, SB_DB_PS_DISABLE);
    CHECK_INT(set("db-isolation", "read-uncommitted"), 0);
    CHECK_INT(v.isolation, SB_DB_READ_UNCOMMITTED);
    CHECK_INT(set("db-isolation", "read-committed"), 0);
    CHECK_INT(v.isolation, SB_DB_READ_COMMITTED);
    CHECK_INT(set("db-isolation", "repeatable-read"), 0);
    CHECK_INT(v.isolation, SB_DB_REPEATABLE_READ);
    CHECK_INT(set("db-isolation", "serializable"), 0);
    CHECK_INT(v.isolation, SB_DB_SERIALIZABLE);
    CHECK_INT(set("db-isolation", "snapshot"), SB_EUSAGE);
    CHECK_INT(set("db-ps-mode", "off"), SB_EUSAGE);
    sb_opts_free(o);
}

static void have_bounds(void)
{
    static const char *const numbers[] = { "db-statement-cache",
        "db-refresh-events", "db-refresh-time", "db-reconnect-timeout" };

    begin();
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        CHECK_INT(set(numbers[i], "-1"), SB_ERANGE);
        CHECK(strstr(err.msg, numbers[i]));
        CHECK_INT(set(numbers[i], "0"), 0);
        CHECK_INT(set(numbers[i], "2000000000000000"), SB_ERANGE);
    }
    // It is kept in 32 bits (struct sb__prepared).
    CHECK_INT(set("db-statement-cache", "1000000000"), 0);
    CHECK_INT(set("db-statement-cache", "1000000001"), SB_ERANGE);
    // A script may still declare this one, with other bounds.
    CHECK_INT(set("connect-parallel", "11"), 0);
    CHECK_INT(set("connect-parallel", "-1"), 0);
    CHECK_INT(set("connect-parallel", "1000000001"), 0);
    CHECK_INT(v.connect_parallel, 11);
    sb_opts_free(o);
}

static bool script_has(const char *name)
{
    struct sb_opt_view view;

    CHECK_INT(sb_opts_add_script(
                  o, "x.lua options", name, "help", SB_OPT_INT, "0", &err),
        0);
    CHECK(sb_opts_find(o, name, &view));
    return view.table != &sb_db_opt_table;
}

// Scripts of sysbench 1.0 may have an option with the name of a new one.
static void scripts_replace_new_names_only(void)
{
    begin();
    CHECK(script_has("connect-parallel"));
    CHECK(!script_has("db-debug"));
    CHECK(!script_has("db-statement-cache"));
    sb_opts_free(o);
}

CHECK_FILE
{
    RUN(have_defaults);
    RUN(reach_their_fields);
    RUN(words_mean_what_they_say);
    RUN(have_bounds);
    RUN(scripts_replace_new_names_only);
    return check_done();
}
