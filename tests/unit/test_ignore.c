// SPDX-License-Identifier: GPL-2.0-or-later
//
// --db-ignore-errors: the entries of the list, and the errors that they match.
#include "check.h"
#include "db/internal.h"

static struct sb_err err;

static struct sb_opt_list list_of(const char *const *entry, size_t n)
{
    return (struct sb_opt_list){ .item = entry, .count = n };
}

static int check(const char *entry)
{
    const struct sb_opt_list l = list_of(&entry, 1);

    sb_err_clear(&err);
    return sb__ignore_check(&l, &err);
}

static void numbers_states_and_all(void)
{
    static const char *const good[] = { "1213", "0", "all", "ALL", "40001",
        "HY000", "40*", "4*", "hy00*" };
    static const char *const bad[] = { "", "-1", "12x", "4000x1", "HY00", "*",
        "40001*", "4*1", "4**", "alle", "HY 00", "40 *" };
    const struct sb_opt_list none = list_of(NULL, 0);

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        CHECK_INT(check(good[i]), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK_INT(check(bad[i]), SB_EUSAGE);
    CHECK_STR(err.msg, "--db-ignore-errors: '40 *' is neither an error number "
                       "nor an SQLSTATE of 5 characters nor 'all'");
    CHECK_INT(sb__ignore_check(&none, &err), 0);
}

static void the_first_bad_entry_is_named(void)
{
    static const char *const entry[] = { "1213", "x", "y" };
    const struct sb_opt_list l = list_of(entry, 3);

    CHECK_INT(sb__ignore_check(&l, &err), SB_EUSAGE);
    CHECK(strstr(err.msg, "'x' is neither") != NULL);
}

static bool ignored(const char *entry, int native, const char *state)
{
    const struct sb_opt_list l = list_of(&entry, 1);
    struct sb_err e;

    sb_err_native(&e, SB_EQUERY, native, state, "message");
    return sb__ignored(&l, &e);
}

static void numbers(void)
{
    CHECK(ignored("1213", 1213, "40001"));
    CHECK(!ignored("1213", 12130, ""));
    CHECK(!ignored("121", 1213, ""));
    // An error without a number has none that is 0.
    CHECK(!ignored("0", 0, ""));
    CHECK(ignored("all", 0, ""));
    CHECK(ignored("All", 5, "HY000"));
}

static void states(void)
{
    CHECK(ignored("40001", 0, "40001"));
    CHECK(ignored("hy000", 0, "HY000"));
    CHECK(!ignored("40001", 0, "40002"));
    CHECK(ignored("40001", 40001, "")); // a number as well
    CHECK(!ignored("40001", 0, ""));
    CHECK(ignored("40*", 0, "40P01"));
    CHECK(ignored("hy*", 0, "HY000"));
    CHECK(!ignored("40*", 0, "42000"));
    CHECK(!ignored("40*", 40, ""));
}

static void any_entry_is_enough(void)
{
    static const char *const entry[] = { "1", "2", "40001" };
    const struct sb_opt_list l = list_of(entry, 3);
    const struct sb_opt_list none = list_of(NULL, 0);
    struct sb_err e;

    sb_err_native(&e, SB_EQUERY, 3, "40001", "message");
    CHECK(sb__ignored(&l, &e));
    CHECK(!sb__ignored(&none, &e));
    sb_err_native(&e, SB_EQUERY, 3, "40002", "message");
    CHECK(!sb__ignored(&l, &e));
}

CHECK_FILE
{
    RUN(numbers_states_and_all);
    RUN(the_first_bad_entry_is_named);
    RUN(numbers);
    RUN(states);
    RUN(any_entry_is_enough);
    return check_done();
}
